"""Does the tree keep the rules that a machine can check?

Eleven things that a newcomer looks for, each of which should be found at the first guess, from names alone:

1. where the RSD is computed
2. the Wilson interval
3. the colours of runs and methods
4. what ends the uploads of a session
5. the bootstrap's R and seed
6. the exit codes of the command line
7. the hatching of over- and under-confident bars
8. the rule for samples that do not parse
9. the words of a verdict
10. the law by which the Brier score decomposes
11. the Brier skill score
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

from app_server import ROOT

OURS = ("calib_core", "pages", "app.py", "demo", "benchmarks", "tests")
ELSEWHERE = {".git", ".venv", ".hypothesis", "build", "node_modules", "__pycache__"}


def python_files(*places: str) -> list[Path]:
    """The Python files under these places of the checkout, sorted, as paths from its root."""
    found: set[Path] = set()
    for place in (ROOT / name for name in places):
        found.update(place.rglob("*.py") if place.is_dir() else [place] if place.is_file() else [])
    return sorted(path.relative_to(ROOT) for path in found)


def text_files() -> Iterator[tuple[Path, str]]:
    """Every text file of the checkout, with its text; what tools leave behind is passed over."""
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in ELSEWHERE and not name.endswith("_cache")]
        for path in (Path(folder) / name for name in names if name not in ELSEWHERE):
            content = path.read_bytes()
            if b"\0" not in content and path.suffix != ".pyc":
                yield path.relative_to(ROOT), content.decode("utf-8", errors="replace")


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), filename=str(path))


def imported(path: Path) -> set[str]:
    """The modules a file names in its imports, as they stand there; `from a.b import c` counts as a.b."""
    names: set[str] = set()
    for node in ast.walk(syntax(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module or "")
    return names


def pins(name: str) -> dict[str, str]:
    """The version of each distribution in one requirements file; a line without `==` has the version ""."""
    lines = (line.partition("#")[0].strip() for line in (ROOT / name).read_text().splitlines())
    pairs = (line.partition("==")[::2] for line in lines if line and not line.startswith("-"))
    return {re.sub(r"\[.*\]", "", distribution).lower(): version for distribution, version in pairs}


def test_a_page_imports_no_other_page() -> None:
    """Importing one would draw nothing, but two pages would share what neither owns."""
    pages = python_files("app.py", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py")))
    taken = {
        f"{path}: {name}" for path in pages for name in imported(path) if re.match(r"app$|pages\.\w+$", name)
    }
    assert {line for line in taken if not line.endswith((": pages.state", ": pages.widgets"))} == set()


def test_no_modules_import_one_another_in_a_circle() -> None:
    graph = grimp.build_graph("calib_core", "pages")
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert len(imports) > 200
    TopologicalSorter(imports).prepare()  # raises CycleError, naming the circle


def test_no_two_classes_share_a_name() -> None:
    files = python_files("calib_core", "pages", "app.py")
    names = Counter(
        node.name for path in files for node in syntax(path).body if isinstance(node, ast.ClassDef)
    )
    assert {name for name, times in names.items() if times > 1 and not name.startswith("_")} == set()


ROOMS = ("helm", "inspect", "lm_eval", "sandbox", "servers", "token")
"""Rooms of `calib_core.readers` that know nothing of one another."""


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_of_readers_imports_no_other_room(room: str) -> None:
    others = tuple(f"calib_core.readers.{other}" for other in ROOMS if other != room)
    files = python_files(f"calib_core/readers/{room}")
    assert files
    assert [f"{path}: {name}" for path in files for name in imported(path) if name.startswith(others)] == []


def test_core_loads_no_streamlit() -> None:
    """Nor what is slow to import; what Numba compiles is imported where it is wanted."""
    program = (
        "import importlib, pkgutil, sys, calib_core\n"
        "for module in pkgutil.walk_packages(calib_core.__path__, 'calib_core.'):\n"
        "    if not module.name.endswith('__main__') and '.compiled_' not in module.name:\n"
        "        importlib.import_module(module.name)\n"
        "print(sorted({'streamlit', 'starlette', 'torch', 'scipy', 'numba'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_requirements_are_pinned(name: str) -> None:
    assert {found for found, version in pins(name).items() if not re.fullmatch(r"[\w.+]+", version)} == set()


def test_what_running_imports_is_required() -> None:
    """Numba is imported only where it is installed (the extra `fast`)."""
    ours = {"calib_core", "pages"} | set(sys.stdlib_module_names)
    used = {
        name.partition(".")[0]
        for path in python_files("calib_core", "pages", "app.py")
        for name in imported(path)
    }
    assert used - ours - set(pins("requirements.txt")) == {"numba"}


def test_no_path_of_a_machine() -> None:
    machine = re.compile(r"(?<![\w.~}])/(?:work|tmp|home|root|Users)/")
    found = [f"{path}: {hit.group()}" for path, text in text_files() for hit in machine.finditer(text)]
    assert found == []


def test_ci_runs_what_a_person_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "exec make test"


CONTRACTS = {
    "widgets import state, never the other way": ("pages/state/url.py", "import pages.widgets.shell"),
    "floors: import downward only": ("calib_core/bins.py", "import calib_core.results"),
    "the core knows nothing of Streamlit": ("calib_core/metrics/metric.py", "import streamlit"),
    "no page computes or draws": ("pages/widgets/seeded.py", "import numpy"),
}
"""Contract → a file, and the import in it that breaks this contract and no other."""


def test_import_contracts_turn_red(tmp_path: Path) -> None:
    for name in ("calib_core", "pages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert verdicts(tmp_path) == dict.fromkeys(CONTRACTS, "KEPT")
    for file, line in CONTRACTS.values():
        with (tmp_path / file).open("a", encoding="utf-8") as seeded:
            seeded.write(f"\n{line}\n")
    assert verdicts(tmp_path) == dict.fromkeys(CONTRACTS, "BROKEN")


def verdicts(folder: Path) -> dict[str, str]:
    """What import-linter says of each contract for the tree in `folder`: KEPT or BROKEN."""
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    found = dict(re.findall(r"^(.+) (KEPT|BROKEN)$", done.stdout, re.MULTILINE))
    assert found, done.stdout + done.stderr
    return found


def test_streamlit_knows_every_option_set() -> None:
    command = [sys.executable, "-m", "streamlit", "config", "show"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "not a valid config option" not in done.stdout + done.stderr
    assert 'address = "127.0.0.1"' in done.stdout


def luminance(color: tuple[float, ...]) -> float:
    """Relative luminance of an sRGB colour with channels 0..255 (WCAG 2.2, "relative luminance")."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(text: tuple[float, ...], page: tuple[float, ...]) -> float:
    """Contrast ratio of two colours, 1..21 (WCAG 2.2)."""
    low, high = sorted((luminance(text), luminance(page)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_theme_can_be_read(mode: str) -> None:
    theme = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())["theme"][mode]

    def rgb(color: str) -> tuple[float, ...]:
        return tuple(bytes.fromhex(color.removeprefix("#")))

    surfaces = [
        rgb(part[key])
        for part in (theme, theme["sidebar"])
        for key in ("backgroundColor", "secondaryBackgroundColor")
    ]
    for page in surfaces:
        # Streamlit draws captions and labels of the uploader with the text colour at 60 %.
        faded = tuple(0.6 * t + 0.4 * p for t, p in zip(rgb(theme["textColor"]), page, strict=True))
        assert contrast(faded, page) >= 4.5
        assert contrast(rgb(theme["linkColor"]), page) >= 4.5
        assert contrast(rgb(theme["primaryColor"]), page) >= 4.5
