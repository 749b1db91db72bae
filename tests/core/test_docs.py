"""What the documentation names exists (pictures, links, commands, files), and its examples run."""

from __future__ import annotations

import doctest
import importlib.util
import pkgutil
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple

import pytest
from PIL import Image

import calib_core
from app_server import ROOT
from calib_core.__main__ import VERBS
from calib_core.api import load
from calib_core.methods import METHODS
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.runs import AnswerRun
from core.cli_calls import Call, Readings, keep_readings
from pages.widgets.pages import PAGES

TREE, _, PLACES = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").partition("## Data flow")
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS: Final = ROOT / "docs"
MATHEMATICS: Final = (DOCS / "mathematics.md").read_text(encoding="utf-8")
PASSED_OVER: Final = frozenset({".venv", "build", "node_modules", "fixtures", "generated"})
"""Folders whose Markdown is not ours to check."""

WRITTEN: Final = sorted(
    path
    for path in ROOT.rglob("*.md")
    if not any(part in PASSED_OVER or part.endswith("_cache") for part in path.relative_to(ROOT).parts)
)
"""Every Markdown file of the repository."""

PAGES_WITH_EXAMPLES: Final = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))


class Block(NamedTuple):
    """A fenced block: its language, its lines as one text, and the file it stands for, if any."""

    language: str
    text: str
    file: str


def blocks(path: Path) -> list[Block]:
    """The fenced blocks of a page in their order; those that hold directives of Sphinx are left out.

    A block stands for a file where the line before it ends in the file's name and a colon: `quiz.csv`:
    """
    fenced = re.compile(r"(?:`([^`\s]+\.\w+)`:\n\n)?^```([\w]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    return [Block(language, body, file) for file, language, body in fenced.findall(path.read_text("utf-8"))]


def commands(text: str) -> list[list[str]]:
    """The words of each `calib` line of a block of commands."""
    lines = (line.split(" #")[0].strip() for line in text.splitlines())
    return [shlex.split(line)[1:] for line in lines if line.startswith("calib ")]


def script(name: str) -> ModuleType:
    """Import a script of docs/, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def walk() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs")  # as a script finds the modules beside it
        yield script("walk")


def test_the_walk_is_short_and_small(walk: ModuleType) -> None:
    path: Path = walk.WALK
    film = sys.modules["film"]
    assert path.parent == ROOT / "docs"
    assert path.stat().st_size < 3_000_000
    milliseconds = 0
    with Image.open(path) as picture:
        assert picture.size == (walk.WIDTH, walk.HEIGHT + film.LINE)
        frames = getattr(picture, "n_frames", 1)
        for at in range(frames):
            picture.seek(at)
            milliseconds += picture.info["duration"]
    assert frames > 5
    assert 15_000 <= milliseconds <= 30_000


def test_the_walk_visits_pages_that_exist(walk: ModuleType) -> None:
    assert set(walk.VISITED) <= set(PAGES)
    assert [walk.asks(page) for page in walk.VISITED] == [
        f"{PAGES[page].title}: {PAGES[page].question}" for page in walk.VISITED
    ]


def test_the_first_thing_shown_is_the_picture_then_the_commands_then_the_walk() -> None:
    parts = "(docs/reliability.png)", "make run ", "make test ", "(docs/walk.gif)"
    places = [README.index(part) for part in parts]
    assert places == sorted(places)


def test_every_file_that_the_readme_names_is_there() -> None:
    named = re.findall(r"requirements[\w-]*\.txt|\b[A-Z]{5,}\.md\b", README)
    assert len(named) > 3
    assert [name for name in set(named) if not (ROOT / name).is_file()] == []


def test_the_example_of_open_answers_comes_to_what_it_says(tmp_path: Path) -> None:
    words = (ROOT / "docs" / "open-answers.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```csv\n(.*?)^```", words, re.MULTILINE | re.DOTALL)
    (tmp_path / "answers.csv").write_text(example, encoding="utf-8")
    (run,) = load(tmp_path / "answers.csv")
    assert isinstance(run, AnswerRun)
    told = [line.strip("|").split(" | ")[2:] for line in words.splitlines() if re.match(r"\| q\d ", line)]
    for place, method in enumerate(("cluster_number", "cluster_size", "pairwise")):
        pairs = METHODS[method].confidences(run, MethodOptions()).pairs
        assert [f"{value:.3f}" for value in pairs.confidence] == [row[place] for row in told]
        assert ["right" if right else "wrong" for right in pairs.correct] == [row[3].strip() for row in told]
    dropped = METHODS["pairwise"].confidences(run, MethodOptions(unparseable="drop")).pairs.confidence[2]
    assert f"q3 is then 0.333, 0.667, {dropped:.3f}" in words


def test_every_make_target_that_is_named_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    named = {
        (path.name, target)
        for path in WRITTEN
        for target in re.findall(r"(?:^|`)make ([a-z-]+)", path.read_text("utf-8"), re.MULTILINE)
    }
    assert {("README.md", "run"), ("README.md", "test"), ("README.md", "docs")} <= named
    assert {place for place in named if place[1] not in targets} == set()


def test_the_command_line_page_shows_every_verb() -> None:
    typed = [words for block in blocks(DOCS / "command-line.md") for words in commands(block.text)]
    assert {words[0] for words in typed} == set(VERBS)


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


def with_includes(path: Path) -> str:
    """A page with the pages that it includes in their places."""
    include = re.compile(r"^```\{include\} (\S+)\n.*?^```$", re.MULTILINE | re.DOTALL)
    return include.sub(lambda found: with_includes(path.parent / found[1]), path.read_text("utf-8"))


def anchors(path: Path) -> set[str]:
    """The anchors of a page; a heading that occurs again has a number."""
    text = re.sub(r"^```.*?^```$", "", with_includes(path), flags=re.MULTILINE | re.DOTALL)
    found: dict[str, int] = {}
    names: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        name = slug(heading)
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def broken_links(path: Path) -> list[str]:
    """The links of one Markdown file that lead to no file of the repository, or to no heading of it."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    broken: list[str] = []
    for link in re.findall(r"\]\(<?([^)\s>]+)>?\)", text):
        target, _, anchor = link.partition("#")
        there = path.parent / target if target else path
        if re.match(r"https?:|mailto:", link):
            continue
        if not there.exists() or (anchor and anchor not in anchors(there)):
            broken.append(link)
    return broken


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One, two\n\n[a](#one-two) [b](#three) [c](page.md) ![d](none.png) `[e](x)` [f](https://x)\n"
    )
    assert broken_links(page) == ["#three", "none.png"]


def test_every_link_leads_somewhere() -> None:
    assert len(WRITTEN) > 40
    assert {str(path.relative_to(ROOT)): found for path in WRITTEN if (found := broken_links(path))} == {}


def run_python(text: str, names: dict[str, Any], page: str) -> None:
    """Run a block of Python, or compare its output where it shows a session."""
    if ">>>" in text:
        test = doctest.DocTestParser().get_doctest(text, names, page, page, 0)
        assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
        names.update(test.globs)
    else:
        exec(compile(text, page, "exec"), names)  # noqa: S102 - our own documentation


@pytest.fixture(scope="module")
def readings() -> Readings:
    return {}


@pytest.mark.parametrize("page", PAGES_WITH_EXAMPLES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, readings: Readings, monkeypatch: pytest.MonkeyPatch, call: Call
) -> None:
    """Every file, `calib` line and Python block of a page, in its order, beside the demo data."""
    keep_readings(readings, monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").symlink_to(ROOT / "data")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = ""
    for block in blocks(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block.text, names, page.name)
        elif block.language == "text":
            shown = [" ".join(line.split()) for line in block.text.splitlines()]
            assert [line for line in shown if line not in printed] == []
        elif block.language in {"", "sh"}:
            answers = [(words, call(*words)) for words in commands(block.text) if words[0] != "app"]
            assert [(words, answer.err) for words, answer in answers if answer.code] == []
            printed = " ".join(" ".join(answer.out for _, answer in answers).split())


def test_every_page_of_the_app_is_shown_with_its_question_and_picture() -> None:
    words = (DOCS / "dashboard.md").read_text(encoding="utf-8")
    shown = re.findall(r"^## (.+)\n\n\*(.+)\*\n\n!\[.+\]\(pictures/(.+)\.png\)$", words, re.MULTILINE)
    assert {id_: (title, question) for title, question, id_ in shown} == {
        id_: (page.title, page.question) for id_, page in PAGES.items()
    }
    for page in PAGES.values():
        assert f"| {page.title} | {page.question} |" in README


def test_the_pictures_are_those_of_the_pages_and_small() -> None:
    picture = script("picture")
    pictures = sorted(picture.PICTURES.glob("*"))
    assert {path.stem for path in pictures} == set(PAGES)
    assert sum(path.stat().st_size for path in pictures) < 2_500_000
    for path in pictures:
        with Image.open(path) as image:
            assert (image.format, image.size) == ("PNG", (picture.WIDTH, picture.HEIGHT))


def test_the_mathematics_has_every_metric_and_method() -> None:
    assert [id_ for id_ in (*METRICS, *METHODS) if f"`{id_}`" not in MATHEMATICS] == []


def test_what_computes_is_named_in_the_mathematics_and_exists() -> None:
    names = set(re.findall(r"`(calib_core[\w.]*)`", MATHEMATICS))
    assert len(names) > 50
    for name in names:
        pkgutil.resolve_name(name)
    tests = {path.stem for path in (ROOT / "calib_core" / "inference").glob("[a-z]*.py")}
    assert sorted(name for name in tests if f"`calib_core.inference.{name}." not in MATHEMATICS) == []


def test_every_source_in_the_mathematics_is_a_reference_with_a_link() -> None:
    words, _, listed = MATHEMATICS.partition("\n## References\n")
    references = re.findall(
        r"^- (\w[\w’'-]*).*?\((\d{4})\)(.*?)(?=\n- |\Z)", listed, re.MULTILINE | re.DOTALL
    )
    sources = " ".join(re.findall(r"\*From\*(.+?)(?=\*Computed|\n\n)", words, re.DOTALL)).replace("\n", " ")
    cited = re.findall(r"([A-ZÀ-Ž][\w’'-]*)(?:, [A-ZÀ-Ž][\w-]*(?: [A-Z]\w+)?)*(?: et al\.)? (\d{4})", sources)
    assert len(cited) > 50
    assert sorted(set(cited) - {(author, year) for author, year, _ in references}) == []
    # Some books, chapters and papers have neither DOI nor arXiv number.
    unlinked = [(author, year) for author, year, rest in references if "](http" not in rest]
    assert [author for author, _ in unlinked] == ["Bell", "Elkan", "Kish", "Platt", "Zadrozny"]


@pytest.mark.parametrize(
    ("page", "folder"), [("decisions.md", "decisions"), ("measurements.md", "benchmarks")]
)
def test_a_page_of_the_documentation_includes_the_whole_folder(page: str, folder: str) -> None:
    words = (DOCS / page).read_text(encoding="utf-8")
    included = re.findall(rf"^```\{{include\}} \.\./{folder}/(.+)$", words, re.MULTILINE)
    assert sorted(included) == sorted(path.name for path in (ROOT / folder).glob("*.md"))


def test_every_page_of_the_documentation_is_in_a_table_of_contents() -> None:
    listed = (DOCS / "index.md").read_text("utf-8") + (DOCS / "recipes" / "index.md").read_text("utf-8")
    names = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    assert sorted(name for name in names if not re.search(rf"^(?:\.\./)?{name}$", listed, re.MULTILINE)) == []


def test_every_place_that_the_architecture_names_is_there() -> None:
    named = re.findall(r"`((?:calib_core|pages|tests|benchmarks|data|docs|demo)/[\w./-]*)`", PLACES)
    assert len(named) > 50
    assert sorted({name for name in named if not (ROOT / name).exists()}) == []


def test_every_page_and_every_part_of_pages_is_in_the_tree() -> None:
    parts = {path.name for path in (ROOT / "pages").rglob("*.py")} - {"__init__.py"}
    assert len(parts) > 30
    assert sorted(name for name in parts if not re.search(rf"(?<![\w/]){name}", TREE)) == []


def test_the_reference_has_every_name_of_the_interface() -> None:
    text = (ROOT / "docs" / "api" / "index.rst").read_text(encoding="utf-8")
    named = set(
        re.findall(r"^\.\. (?:autofunction|autoclass|data):: (?:calib_core\.)?(\w+)$", text, re.MULTILINE)
    )
    modules = {"bins", "errors", "methods", "metrics"}
    assert named == set(calib_core.__all__) - modules - {"__version__"}
    assert all(f"``calib_core.{name}``" in text for name in modules)
