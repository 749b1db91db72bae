# Run, test and rebuild Calib. `make help` lists the targets.

# Set these on the command line (make run PORT=8600); variables of the shell have no effect.
PORT := 8501
# A folder of prediction files; empty: the demo data.
DATA :=
# Number of test processes: one more than two cores, because browser tests often wait; without these, one a core.
# A module's tests share one.
WORKERS := 3
check-fast: WORKERS := 2
# One recipe of the demo data, r1, r2 or r3; empty: all.
RECIPE :=
# How many corrupted files `make fuzz` and `make fuzz-types` read, and the seed of the first.
N := 20000
SEED := 0
# Most pairs that `make bench-peers` compares, up to 100000000; empty: ten million.
LARGEST :=
# Prefixes of the names of the pictures that `make screens` takes; empty: all.
ONLY :=
# Passed on to pytest, e.g. make check-fast PYTEST_ARGS="-k brier -x"
PYTEST_ARGS :=
# The Python that makes the virtual environment; empty: the first of these that is 3.11 or newer.
PYTHON :=
PYTHONS := python3.11 python3.12 python3.13 python3.14 python3 python

PY := .venv/bin/python
PROCESSES = -n $(WORKERS) --dist loadscope --no-loadscope-reorder
export DATA
# If the shell sets it, each of the many processes of a run compiles every module again.
unexport PYTHONDONTWRITEBYTECODE

# The steps of `make test` run in order, even under `make -j`.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help run test check-fast lint ruff types imports docs schemas glossary bench bench-peers demo-data demo-check fixtures fuzz fuzz-types pictures walk screens clean

help: ## list the targets
	@echo "make TARGET, where TARGET is"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 16

run: .venv/.run-ready ## open the app on the demo data (DATA=folder: on yours; PORT=8501)
	@exec $(PY) -m streamlit run app.py --server.port="$(PORT)" -- $${DATA:+--data "$$DATA"}

test: .venv/.test-ready ## run everything: lint, types, import contracts, all tests
	@CHROMIUM="$$($(PY) tests/chromium.py --install)" || exit 1; \
	export CHROMIUM; \
	$(MAKE) --no-print-directory ruff imports || exit 1; \
	echo "== pytest (browser: $$CHROMIUM)"; \
	$(call beside_types,$(PY) -m pytest $(PROCESSES) $(PYTEST_ARGS))

check-fast: ruff imports ## the same without the browser tests
	@echo "== pytest, without the browser tests"
	@$(call beside_types,$(PY) -m pytest $(PROCESSES) -m "not browser" $(PYTEST_ARGS))

lint: ruff types imports ## run ruff, pyright and the import contracts

ruff: .venv/.test-ready
	@echo "== ruff"
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .

types: .venv/.test-ready
	@echo "== pyright"
	@$(PY) -m pyright --pythonpath $(PY)

imports: .venv/.test-ready
	@echo "== import contracts"
	@$(PY) .venv/bin/lint-imports --no-logo

docs: build/docs-venv/.ready ## build the documentation: build/docs/index.html (needs no network to read)
	@rm -rf build/docs docs/api/generated
	@build/docs-venv/bin/python -m sphinx -b html -W --keep-going --quiet -d build/docs-cache docs build/docs
	@echo "build/docs/index.html"

schemas: .venv/.test-ready ## write docs/json.md and the JSON Schemas of docs/schema again
	@PYTHONPATH=. $(PY) docs/schemas.py

glossary: .venv/.test-ready ## write docs/glossary.md again
	@PYTHONPATH=. $(PY) docs/glossary.py

bench: .venv/.test-ready ## run every benchmark of benchmarks/ in turn
	@set -e; for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; PYTHONPATH=".:tests" $(PY) "$$script"; done

bench-peers: build/peers-venv/.ready ## compare ECE and its speed with other libraries, and keep their values for the tests (PyTorch; LARGEST=100000000)
	@PYTHONPATH=. build/peers-venv/bin/python benchmarks/peers/compare.py $(if $(LARGEST),--largest "$(LARGEST)")
	@build/peers-venv/bin/python benchmarks/peers/conventions.py
	@build/peers-venv/bin/python benchmarks/peers/judge.py

demo-data: build/demo-venv/.ready ## make the demo data again (PyTorch; RECIPE=r1: tokens, r2: answers, r3: multiple choice)
	@build/demo-venv/bin/python -m demo $(RECIPE)

demo-check: build/demo-venv/.check-ready ## make a small recipe again and compare with data/ (PyTorch, minutes)
	@build/demo-venv/bin/python -m pytest --noconftest -m slow tests/core/test_demo_reproduction.py $(PYTEST_ARGS)

fixtures: build/fixtures-venv/.ready build/fixtures-older-venv/.ready ## make tests/fixtures again with lm-eval and Inspect (PyTorch, minutes)
	@build/fixtures-venv/bin/python tests/fixtures/make/build.py tests/fixtures --older build/fixtures-older-venv/bin/python

fuzz: .venv/.test-ready ## corrupt good files of every format and read them (N=20000 SEED=0)
	@PYTHONPATH=.:tests $(PY) tests/hostile/fuzz.py --number "$(N)" --seed "$(SEED)"

fuzz-types: .venv/.test-ready ## give values of good JSON files another type and read them (N=20000 SEED=0)
	@PYTHONPATH=.:tests $(PY) tests/hostile/fuzz.py --types --number "$(N)" --seed "$(SEED)"

pictures: .venv/.test-ready ## take the pictures of the README and of the documentation again
	@PYTHONPATH=".:tests" $(PY) docs/picture.py

walk: .venv/.test-ready ## record the README's walk through the app again
	@PYTHONPATH=".:tests" $(PY) docs/walk.py

screens: .venv/.test-ready ## take pictures of every page at four widths, light and dark (ONLY=start,groups)
	@PYTHONPATH=".:tests" ONLY="$(ONLY)" $(PY) docs/contact_sheet.py

clean: ## remove the virtual environments and every cache
	rm -rf .venv build docs/api/generated .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp file in each environment records what is installed; it is deleted with the environment.
.venv/.run-ready: requirements.txt | $(PY)
	@echo "Installing the dependencies for running (once, about a minute) ..."
	@$(PY) -m pip install --quiet --requirement requirements.txt
	@touch $@

.venv/.test-ready: requirements-dev.txt requirements-export.txt .venv/.run-ready
	@echo "Installing the dependencies for testing (once, about a minute) ..."
	@$(PY) -m pip install --quiet --requirement requirements-dev.txt
	@touch $@

build/docs-venv/.ready: requirements-docs.txt requirements.txt
	@echo "Installing the dependencies for the documentation (once, about a minute) ..."
	@$(call make_environment,build/docs-venv)
	@build/docs-venv/bin/python -m pip install --quiet --requirement requirements-docs.txt
	@touch $@

build/demo-venv/.ready: requirements-demo.txt requirements.txt
	@echo "Installing the dependencies for training (once, several minutes) ..."
	@$(call make_environment,build/demo-venv)
	@build/demo-venv/bin/python -m pip install --quiet --requirement requirements.txt \
		--requirement requirements-demo.txt
	@touch $@

# The slow test needs only pytest, at its pinned version.
build/demo-venv/.check-ready: requirements-dev.txt build/demo-venv/.ready
	@build/demo-venv/bin/python -m pip install --quiet $$(sed -n '/^pytest==/p' requirements-dev.txt)
	@touch $@

build/peers-venv/.ready: benchmarks/peers/requirements.txt requirements.txt
	@echo "Installing the other libraries (once, several minutes) ..."
	@$(call make_environment,build/peers-venv)
	@build/peers-venv/bin/python -m pip install --quiet --requirement requirements.txt \
		--requirement benchmarks/peers/requirements.txt
	@touch $@

build/fixtures-venv/.ready: tests/fixtures/make/requirements.txt
	@echo "Installing the tools that write the fixtures (once, several minutes) ..."
	@$(call make_environment,build/fixtures-venv)
	@build/fixtures-venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

build/fixtures-older-venv/.ready: tests/fixtures/make/requirements-older.txt
	@$(call make_environment,build/fixtures-older-venv)
	@build/fixtures-older-venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

$(PY):
	@$(call make_environment,.venv)

# $(1): a command. pyright runs beside it, as it takes one core for half a minute; its output comes last.
define beside_types
output=$$(mktemp) || exit 1; \
$(MAKE) --no-print-directory types >"$$output" 2>&1 & types=$$!; \
trap 'kill $$types 2>/dev/null; rm -f "$$output"' INT TERM; \
$(1); tested=$$?; \
wait $$types; checked=$$?; \
cat "$$output"; rm -f "$$output"; exit $$((tested || checked))
endef

# $(1): the folder. Takes the first Python that is new enough and can create an environment. A Python on PATH
# may not run (a version manager's shim) or may lack pip (Debian without python3-venv).
define make_environment
found=; for python in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
	found="$$python"; \
	"$$python" -c 'import ensurepip, venv' 2>/dev/null || continue; \
	echo "Making $(1) with $$("$$python" --version)"; \
	exec "$$python" -m venv --clear $(1); \
done; \
if [ -n "$$found" ]; then \
	echo "$$found cannot make a virtual environment. On Debian or Ubuntu: sudo apt-get install python3-venv" >&2; \
else \
	echo "Python 3.11 or newer is needed, and none was found. Name one: make PYTHON=/path/to/python" >&2; \
fi; exit 1
endef
