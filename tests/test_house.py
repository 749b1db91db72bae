"""Do the files keep the house rules that a machine can check?"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from serving import ROOT

OURS = ("calib_core", "pages", "app.py", "demo", "benchmarks", "tests")
ELSEWHERE = {".git", ".venv", ".hypothesis", "build", "node_modules", "__pycache__"}
FILE_LINES, PAGE_LINES, FUNCTION_LINES = 250, 60, 40


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
        for path in (Path(folder) / name for name in names):
            content = path.read_bytes()
            if b"\0" not in content and path.suffix != ".pyc":
                yield path.relative_to(ROOT), content.decode("utf-8", errors="replace")


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


@pytest.mark.parametrize("path", python_files("calib_core", "pages", "app.py", "demo", "benchmarks"), ids=str)
def test_module_opens_with_its_question(path: Path) -> None:
    opening = " ".join((ast.get_docstring(syntax(path)) or "").splitlines()[:2])
    assert "?" in opening, "the first two lines of the docstring ask no question"


@pytest.mark.parametrize("path", python_files(*OURS), ids=str)
def test_file_is_short(path: Path) -> None:
    limit = PAGE_LINES if path.parent == Path("pages") else FILE_LINES
    assert len((ROOT / path).read_text(encoding="utf-8").splitlines()) <= limit


@pytest.mark.parametrize("path", python_files("calib_core", "pages", "app.py"), ids=str)
def test_functions_are_short(path: Path) -> None:
    functions = [node for node in ast.walk(syntax(path)) if isinstance(node, ast.FunctionDef)]
    lengths = {node.name: (node.end_lineno or 0) - node.lineno + 1 for node in functions}
    assert {name: lines for name, lines in lengths.items() if lines > FUNCTION_LINES} == {}


@pytest.mark.parametrize("path", python_files("pages", "app.py"), ids=str)
def test_a_page_asks_the_core_and_its_parts_alone(path: Path) -> None:
    allowed = {"streamlit", "calib_core", "pages"} | set(sys.stdlib_module_names)
    if path.parts[:2] == ("pages", "parts") or path == Path("app.py"):
        allowed |= {"polars", "starlette"}  # tables to show; what the server sends
    names = imported(path)
    assert {name for name in names if name.partition(".")[0] not in allowed} == set()
    assert {n for n in names if n.startswith("pages.") and not n.startswith("pages.parts")} == set()


def test_core_loads_no_streamlit() -> None:
    program = (
        "import importlib, pkgutil, sys, calib_core\n"
        "for module in pkgutil.walk_packages(calib_core.__path__, 'calib_core.'):\n"
        "    module.name.endswith('__main__') or importlib.import_module(module.name)\n"
        "print(sorted({'streamlit', 'starlette', 'torch', 'scipy'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr


@pytest.mark.parametrize("name", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_requirements_are_pinned(name: str) -> None:
    assert {found for found, version in pins(name).items() if not re.fullmatch(r"[\w.+]+", version)} == set()


def test_what_running_imports_is_required() -> None:
    ours = {"calib_core", "pages"} | set(sys.stdlib_module_names)
    used = {
        name.partition(".")[0]
        for path in python_files("calib_core", "pages", "app.py")
        for name in imported(path)
    }
    assert used - ours - set(pins("requirements.txt")) == set()


def test_no_path_of_a_machine() -> None:
    machine = re.compile(r"(?<![\w.~}])/(?:work|tmp|home|root|Users)/")
    found = [f"{path}: {hit.group()}" for path, text in text_files() for hit in machine.finditer(text)]
    assert found == []


def test_ci_runs_what_a_person_runs() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "exec make test"


SEEDS = [
    ("floors: import downward only", "calib_core/bins.py", "import calib_core.results"),
    ("the core knows nothing of Streamlit", "calib_core/metrics/metric.py", "import streamlit"),
    ("no page computes or draws", "pages/parts/seeded.py", "import numpy"),
]


@pytest.mark.parametrize(("contract", "file", "line"), SEEDS, ids=[seed[0] for seed in SEEDS])
def test_import_contract_turns_red(contract: str, file: str, line: str, tmp_path: Path) -> None:
    for name in ("calib_core", "pages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    assert verdict(contract, tmp_path) == "KEPT"
    with (tmp_path / file).open("a", encoding="utf-8") as seeded:
        seeded.write(f"\n{line}\n")
    assert verdict(contract, tmp_path) == "BROKEN"


def verdict(contract: str, folder: Path) -> str:
    """What import-linter says of one contract for the tree in `folder`: KEPT or BROKEN."""
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    command = [sys.executable, "-c", program, "--no-cache", "--no-logo"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said = re.search(re.escape(contract) + r" (KEPT|BROKEN)", done.stdout)
    assert said is not None, done.stdout + done.stderr
    return said.group(1)


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
