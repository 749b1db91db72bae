"""One run by one method is called the same on every page."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

import screens
from calib_core.inference.verdict import DEFAULT_TOLERANCE, VERDICT_WORDS, VerdictKind, marked_verdict
from core.cli_calls import Call, keep_readings, make_caller
from predictions import write_csv
from report_html import read as read_report
from screens import PageLink, Visit, page_text, table
from token_files import positions, write_npz

Block = tuple[float, int, int]

RUNS: dict[VerdictKind, tuple[Block, ...]] = {
    "over": ((0.9, 200, 140), (0.6, 200, 110)),
    "under": ((0.5, 200, 150), (0.7, 200, 170)),
    "extreme": ((0.95, 200, 150), (0.05, 200, 50)),
    "timid": ((0.7, 200, 190), (0.3, 200, 10)),
    "none": ((0.8, 200, 160), (0.4, 200, 81)),
    "uneven": ((0.6, 300, 158), (0.8, 300, 276), (0.95, 300, 271)),
    "unclear": ((0.4, 500, 172), (0.6, 500, 298)),
    "tolerable": ((0.7, 40_000, 28_400),),
    "few": ((0.9, 20, 3),),
}
"""Verdict → (confidence, rows, right ones) of a run that has it."""


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_caller(capsys)


@pytest.fixture
def runs(data: Path) -> None:
    for kind, blocks in RUNS.items():
        rows = [
            {"id": f"{said}-{at}", "confidence": said, "correct": int(at < right)}
            for said, n, right in blocks
            for at in range(n)
        ]
        write_csv(data / f"{kind}.csv", rows)


@pytest.mark.usefixtures("runs")
def test_every_page_says_the_same_of_a_run(visit: Visit) -> None:
    overview = table(visit("start"), "run", "verdict").set_index("run")
    assert dict(overview["verdict"]) == {kind: marked_verdict(VERDICT_WORDS[kind]) for kind in RUNS}
    for kind in RUNS:
        words = VERDICT_WORDS[kind]
        reliability = screens.plain(visit("reliability", run=kind).header[0].value)
        if kind == "few":  # said with the number of rows
            assert "20 rows are too few for a verdict" in reliability
        else:
            assert reliability.startswith(words[0].upper() + words[1:])
        others = [VERDICT_WORDS[other] for other in RUNS if other not in (kind, "over", "under")]
        assert not [word for word in others if word in reliability.lower()]
    for kind in RUNS:
        words = VERDICT_WORDS[kind]
        robustness = page_text(visit("robustness", run=kind))
        named = re.findall(r"The run (?:is|shows|has) ([^.:,]+)", robustness)
        assert set(named) == (set() if kind == "few" else {words})
        assert "no more than chance" not in robustness
        assert ("Not judged: 20 rows, fewer than 30." in robustness) == (kind == "few")
        assert ("perfectly calibrated model would score" in robustness) == (kind == "none")
    for kind in ("over", "extreme", "none"):
        assert VERDICT_WORDS[kind] in page_text(visit("tour", run=kind, step="3")).lower()


def test_groups_say_of_each_group_what_reliability_says_of_its_rows_alone(data: Path, visit: Visit) -> None:
    """One file holds a group of each verdict; each of its groups is also a file of its own."""
    together: list[dict[str, object]] = []
    for kind, blocks in RUNS.items():
        rows = [
            {"id": f"{kind}-{said}-{at}", "confidence": said, "correct": int(at < right), "subject": kind}
            for said, n, right in blocks
            for at in range(n)
        ]
        write_csv(data / f"{kind}.csv", [{**row, "model": kind, "dataset": "alone"} for row in rows])
        together += rows
    write_csv(data / "together.csv", [{**row, "model": "together", "dataset": "all"} for row in together])
    at = visit("groups", dataset="all")
    shown = table(at, "Group", "Verdict", "ECE")
    assert dict(zip(shown["Group"], shown["Verdict"], strict=True)) == {
        kind: marked_verdict(VERDICT_WORDS[kind]) for kind in RUNS
    }
    for kind in RUNS:
        headline = screens.plain(visit("reliability", run=f"{kind}-alone").header[0].value)
        words = VERDICT_WORDS[kind] if kind != "few" else "too few for a verdict"
        assert words in headline.lower()


PAGES_OF_FILES = [page for page in screens.SCRIPTS if page not in ("files", "report")]
LEGENDS = (
    "above zero: over-confident",
    "same sign (over-confident everywhere)",
    "not judged: ",
    ": not judged. ",
)
"""What figures say of their axes, how a reason begins, and what is said of maps; not verdicts."""


def alone(folder: Path, kind: VerdictKind) -> Path:
    """A run with this verdict, whose rows are in two subjects that each have it, too."""
    rows = [
        {"id": f"{said}-{at}", "confidence": said, "correct": int(at < right), "subject": "ab"[at % 2]}
        for said, n, right in RUNS[kind]
        for at in range(n)
    ]
    return write_csv(folder / "run.csv", rows)


def repeated(folder: Path) -> Path:
    """100 questions asked five times, always with the same outcome: as if independent, p would be .004."""
    rows = [
        {"id": f"{at}-{trial}", "trial_of": f"q{at}", "confidence": 0.8, "correct": int(at < 74)}
        for at in range(100)
        for trial in range(5)
    ]
    return write_csv(folder / "run.csv", rows)


def repeated_few(folder: Path) -> Path:
    """40 questions asked five times, too few to judge, whatever their 200 rows say."""
    rows = [
        {"id": f"{at}-{trial}", "trial_of": f"q{at}", "confidence": 0.9, "correct": int(at < 20)}
        for at in range(40)
        for trial in range(5)
    ]
    return write_csv(folder / "run.csv", rows)


def checkpoints(folder: Path, *, texts_known: bool = True) -> Path:
    """Positions of texts, far too sure."""
    rows, info = positions(seed=2, sharp=2.5), {"model": "gpt", "dataset": "plays", "checkpoint": "step100"}
    return write_npz(folder / "run.npz", rows, texts_known=texts_known, **info)


@pytest.mark.parametrize(
    ("kind", "write", "tolerance"),
    [
        ("over", partial(alone, kind="over"), None),
        ("under", partial(alone, kind="under"), None),
        ("extreme", partial(alone, kind="extreme"), None),
        ("none", partial(alone, kind="none"), None),
        ("none", repeated, None),
        ("few", repeated_few, None),
        ("few", partial(alone, kind="few"), None),
        ("over", checkpoints, None),
        ("tolerable", partial(alone, kind="over"), "0.4"),
        ("tolerable", checkpoints, "0.9"),
        ("dependent", partial(checkpoints, texts_known=False), None),
        ("under", partial(alone, kind="tolerable"), "0.005"),
    ],
    ids=[
        *("over", "under", "extreme", "none", "repeated", "few questions", "few rows", "token level"),
        *("tolerated", "token level tolerated", "token level of unknown texts", "not tolerated"),
    ],
)
def test_no_page_report_or_command_says_something_else(
    kind: VerdictKind,
    write: Callable[[Path], Path],
    tolerance: str | None,
    data: Path,
    visit: Visit,
    call: Call,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One run alone: every verdict that is worded anywhere is its own."""
    path = write(data)
    keep_readings({}, monkeypatch)
    visit = visit if tolerance is None else partial(visit, tolerance=tolerance)
    chosen = () if tolerance is None else ("--tolerance", tolerance)
    pages = {page: visit(page) for page in PAGES_OF_FILES}
    texts = {page: page_text(at) for page, at in pages.items()}
    texts["tour"] += page_text(visit("tour", step="3"))
    assert call("report", path, "--page", "all", *chosen, "-o", tmp_path / "report.html").code == 0
    report = read_report((tmp_path / "report.html").read_text("utf-8"))
    sections = {node.attributes["id"]: node.text for node in report.all("section")}
    texts |= {f"report: {id_}": text for id_, text in sections.items() if id_ != "terms"}
    verbs = (("score", "--metric", "verdict", *chosen), *([("sweep",), ("compare",)] if not chosen else []))
    for verb in verbs:
        texts[f"command: {verb[0]}"] = call(verb[0], path, *verb[1:]).out
    assert call("score", path, "--metric", "verdict", *chosen, "--json").element["value"] == kind
    others = {word for other, word in VERDICT_WORDS.items() if other not in (kind, "over", "under")}
    if kind in ("none", "few", "dependent", "under", "tolerable"):
        others.add(VERDICT_WORDS["over"])
    if kind in ("none", "few", "dependent", "over", "tolerable"):
        others.add(VERDICT_WORDS["under"])
    texts = {where: text.lower() for where, text in texts.items()}  # a headline begins with a capital
    for legend in LEGENDS:
        texts = {where: text.replace(legend, "") for where, text in texts.items()}
    said_otherwise = {where: sorted(word for word in others if word in text) for where, text in texts.items()}
    assert {where: words for where, words in said_otherwise.items() if words} == {}
    wording = {where for where, text in texts.items() if VERDICT_WORDS[kind] in text}
    expected = {"start", "command: score"}
    if kind == "dependent":  # other pages give the reason alone
        expected |= {"reliability", "report: reliability"}
    elif kind != "few":  # elsewhere worded with the number of rows or questions
        expected |= {"reliability", "robustness", "tour", "report: reliability"}
    if kind != "few" and pages["groups"].dataframe:
        expected.add("groups")
    assert wording >= expected


@pytest.mark.usefixtures("runs")
def test_a_typed_tolerance_goes_into_the_address_and_along_with_every_link(visit: Visit) -> None:
    at = visit("start")
    assert screens.control(at, "tolerance_typed").value == DEFAULT_TOLERANCE
    at = screens.choose(at, "tolerance_typed", 0.5)
    assert screens.address(at)["tolerance"] == "0.5"
    shown = table(at, "run", "verdict").set_index("run")["verdict"]["over"]
    assert shown == marked_verdict(VERDICT_WORDS["tolerable"])
    links = [node.proto.query_string for node in screens.walk(at.main) if isinstance(node, PageLink)]
    assert links
    assert all("tolerance=0.5" in query for query in links)
    at = screens.go(screens.go(at, "comparison"), "reliability")  # kept where it has no control, too
    assert "within tolerance" in page_text(at)
    back = screens.choose(at, "tolerance_typed", DEFAULT_TOLERANCE)
    assert "tolerance" not in screens.address(back)
    assert "within tolerance" not in page_text(back)


@pytest.mark.usefixtures("runs")
def test_a_link_with_a_tolerance_that_is_none_says_so(visit: Visit) -> None:
    for wrong in ("-1", "1.5", "nan", "much"):
        at = visit("start", tolerance=wrong)
        assert screens.unmet_link_warnings(at, "tolerance", wrong)
        assert screens.control(at, "tolerance_typed").value == DEFAULT_TOLERANCE
