# How is it run, and how is it known to be good?   `make help` lists the answers.

# Set on the command line (make run PORT=8600); a variable of the same name in the shell is not meant.
PORT := 8501
# A folder of prediction files; empty: the demo data.
DATA :=
# Test processes: one more than cores, as browser tests wait a lot. A module's tests stay together in one of them.
WORKERS := 3
# One recipe of the demo data, r1, r2 or r3; empty: all.
RECIPE :=
# How many spoilt files `make fuzz` reads, and the seed of the first.
N := 20000
SEED := 0
# Pages whose pictures `make screens` takes, by the beginnings of their names; empty: all.
ONLY :=
# Passed on to pytest, e.g. make check-fast PYTEST_ARGS="-k brier -x"
PYTEST_ARGS :=
# The Python that makes the virtual environment; empty: the first of these that is 3.11 or newer.
PYTHON :=
PYTHONS := python3.11 python3.12 python3.13 python3.14 python3 python

PY := .venv/bin/python
export DATA
# Where the shell has set it, each of the many processes of a run would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

# The steps of `make test` are to come in their order, also under `make -j`.
.NOTPARALLEL:
.DEFAULT_GOAL := help
.PHONY: help run test check-fast lint ruff types imports bench bench-peers demo-data demo-check fixtures fuzz picture walk screens clean

help: ## this list
	@echo "make TARGET, where TARGET is"
	@sed -n 's/^\([a-z-]*\):.*## /  \1\t/p' Makefile | expand -t 16

run: .venv/.run-ready ## open the app on the demo data (DATA=folder: on yours; PORT=8501)
	@exec $(PY) -m streamlit run app.py --server.port="$(PORT)" -- $${DATA:+--data "$$DATA"}

test: .venv/.test-ready ## everything: lint, types, import contracts, all tests
	@CHROMIUM="$$($(PY) tests/chromium.py --install)" || exit 1; \
	export CHROMIUM; \
	$(MAKE) --no-print-directory lint && \
	echo "== pytest (browser: $$CHROMIUM)" && \
	$(PY) -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder $(PYTEST_ARGS)

check-fast: lint ## the same without the browser
	@echo "== pytest, without the browser tests"
	@$(PY) -m pytest -n $(WORKERS) --dist loadscope --no-loadscope-reorder -m "not browser" $(PYTEST_ARGS)

lint: ruff types imports ## ruff, pyright and the import contracts

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

bench: .venv/.test-ready ## measure: every script of benchmarks/, in turn
	@set -e; for script in benchmarks/[a-z]*.py; do \
		echo "== $$script"; PYTHONPATH=".:tests" $(PY) "$$script"; done

bench-peers: build/peers-venv/.ready ## the same numbers from other libraries, side by side (PyTorch)
	@PYTHONPATH=. build/peers-venv/bin/python benchmarks/peers/compare.py

demo-data: build/demo-venv/.ready ## train the demo's models and predict again (PyTorch; RECIPE=r1: tokens, r2: answers, r3: multiple choice)
	@build/demo-venv/bin/python -m demo $(RECIPE)

demo-check: build/demo-venv/.check-ready ## make a small recipe again and compare with data/ (PyTorch, minutes)
	@build/demo-venv/bin/python -m pytest --noconftest -m slow tests/core/test_demo_again.py $(PYTEST_ARGS)

fixtures: build/fixtures-venv/.ready build/fixtures-older-venv/.ready ## run lm-eval and Inspect and write tests/fixtures again (PyTorch, minutes)
	@build/fixtures-venv/bin/python tests/fixtures/make/build.py tests/fixtures --older build/fixtures-older-venv/bin/python

fuzz: .venv/.test-ready ## spoil good files of every format and read them (N=20000 SEED=0)
	@$(PY) tests/hostile/fuzz.py --number "$(N)" --seed "$(SEED)"

picture: .venv/.test-ready ## take the README's picture again
	@PYTHONPATH=".:tests" $(PY) docs/picture.py

walk: .venv/.test-ready ## record the README's walk through the app again
	@PYTHONPATH=".:tests" $(PY) docs/walk.py

screens: .venv/.test-ready ## take pictures of every page at four widths, light and dark (ONLY=start,groups)
	@PYTHONPATH=".:tests" ONLY="$(ONLY)" $(PY) docs/screens.py

clean: ## remove the virtual environments and every cache
	rm -rf .venv build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A file in the environment says what was installed into it. The environment goes, the file goes.
.venv/.run-ready: requirements.txt | $(PY)
	@echo "Installing what running needs (once, about a minute) ..."
	@$(PY) -m pip install --quiet --requirement requirements.txt
	@touch $@

.venv/.test-ready: requirements-dev.txt requirements-export.txt .venv/.run-ready
	@echo "Installing what testing needs (once, about a minute) ..."
	@$(PY) -m pip install --quiet --requirement requirements-dev.txt
	@touch $@

build/demo-venv/.ready: requirements-demo.txt requirements.txt
	@echo "Installing what training needs (once, several minutes) ..."
	@$(call make_environment,build/demo-venv)
	@build/demo-venv/bin/python -m pip install --quiet --requirement requirements.txt \
		--requirement requirements-demo.txt
	@touch $@

# Of what testing needs, what the slow test does: pytest, at its pinned version.
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
	@echo "Installing the tools whose logs the fixtures are (once, several minutes) ..."
	@$(call make_environment,build/fixtures-venv)
	@build/fixtures-venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

build/fixtures-older-venv/.ready: tests/fixtures/make/requirements-older.txt
	@$(call make_environment,build/fixtures-older-venv)
	@build/fixtures-older-venv/bin/python -m pip install --quiet --requirement $<
	@touch $@

$(PY):
	@$(call make_environment,.venv)

# $(1): the folder. Takes the first Python that is new enough and can make an environment: one may be on
# PATH and yet not run (a version manager's stand-in) or lack its pip (Debian without python3-venv).
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
