"""A run of probabilities of an event is shown in its own words: on pages, in a report, and in print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import report_html
import screens
from core.cli_calls import Call, make_caller
from predictions import quiz, write_csv
from screens import ShowFolder, Visit
from seen_words import figure_words, seen_words

OF_ANSWERS: Final = re.compile(
    r"accurac|accurate|over-?confiden|under-?confiden|mean conf|right answer|wrong answer|right or wrong"
    r"|(?<!95 % )(?<!stated )(?<!logit, )\bconfidences?\b",
    re.IGNORECASE,
)
"""Words of answers and their confidence; an interval has 95 % confidence, whatever it is of."""

OF_THE_PROGRAM: Final = re.compile(
    r"Confidence methods?"
    r"|right answers, corrections, format|source of right answers"
    r"|a confidence that the model wrote is needed"
    r"|no column confidence"
    r"|: no column .* is needed|: a run of answers, .* is needed|stated confidence|confidence in the file",
    re.IGNORECASE,
)
"""Questions of pages, what other methods would need, and the names of these: not said of the run."""

ADDRESSES: Final = (
    *((page, {}) for page in screens.SCRIPTS),
    *(("tour", {"step": step}) for step in "2345"),
    ("reliability", {"bin": "10"}),
    ("reliability", {"view": "isotonic"}),
    ("reliability", {"view": "smooth"}),
    ("reliability", {"m": "200"}),
    ("reliability", {"with": "judge-b:event"}),
    ("reliability", {"metric": "accuracy"}),
    ("start", {"every": "1"}),
    ("abstention", {"threshold": "0.6"}),
    ("abstention", {"wanted": "1"}),
    ("groups", {"metric": "accuracy"}),
)


def events(n: int, seed: int, shift: float, **group: object) -> list[dict[str, Any]]:
    """Rows whose probabilities are too high by the shift; every tenth has none, and yes is rarer there."""
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for at in range(n):
        p = rng.random()
        stated = "" if at % 10 == 0 else round(min(1.0, max(0.0, p + shift)), 3)
        event = int(rng.random() < (p / 4 if at % 10 == 0 else p))
        rows.append({"id": f"q{at}", "event_prob": stated, "event": event, "subject": "ab"[at % 2], **group})
    return rows


@pytest.fixture(scope="module")
def event_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two judges of the same 300 rows, one of which expects yes too often and one too rarely."""
    made = tmp_path_factory.mktemp("events")
    rows = [*events(300, 1, 0.2, model="judge-a"), *events(300, 1, -0.2, model="judge-b")]
    write_csv(made / "events.csv", rows)
    return made


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return make_caller(capsys)


def said_of_answers(texts: Any) -> list[str]:
    """The texts that speak of answers and their confidence, each once."""
    return [text for text in dict.fromkeys(texts) if OF_ANSWERS.search(OF_THE_PROGRAM.sub("", text))]


@pytest.mark.parametrize(
    ("page", "params"), ADDRESSES, ids=["-".join((page, *params.values())) for page, params in ADDRESSES]
)
def test_no_page_speaks_of_answers(
    page: str, params: dict[str, str], show_folder: ShowFolder, event_runs: Path, visit: Visit
) -> None:
    show_folder(event_runs)
    at = visit(page, method="event", **params)
    found = said_of_answers(seen_words(at))
    assert found == []


def test_words_of_answers_are_found(data: Path, visit: Visit) -> None:
    write_csv(data / "quiz.csv", quiz(100))
    found = said_of_answers(seen_words(visit("reliability")))
    assert "Accuracy (share right)" in found
    assert "over-confident gap" in found
    assert any("mean confidence" in text for text in found)


def test_pages_say_it_of_yes(show_folder: ShowFolder, event_runs: Path, visit: Visit) -> None:
    show_folder(event_runs)
    words = set(seen_words(visit("reliability")))
    assert {"Probability of yes", "Share of yes", "yes too often gap", "share of yes, 95 % Wilson"} <= words
    at = visit("reliability", bin="10")
    shown = screens.table(at, "id", "confidence", "right")
    assert set(shown["right"]) == {"yes", "no"}
    assert not {"answer", "gold"} & set(shown.columns)
    overview = screens.table(visit("start"), "run", "verdict").set_index("run")["verdict"]
    assert dict(overview) == {"judge-a": "▲ yes too often", "judge-b": "▼ yes too rarely"}


def test_start_counts_runs_of_both_kinds_each_in_its_own_words(
    data: Path, event_runs: Path, visit: Visit
) -> None:
    write_csv(data / "events.csv", events(300, 1, 0.2, model="judge"))
    rows = [{"confidence": 0.9, "correct": int(at < 140), "model": "solver"} for at in range(200)]
    write_csv(data / "quiz.csv", rows)
    at = visit("start")
    verdicts = screens.table(at, "run", "verdict").set_index("run")["verdict"]
    assert dict(verdicts) == {"judge": "▲ yes too often", "solver": "▲ over-confident"}
    words = set(seen_words(at))
    assert {"Share right or yes", "Mean prob."} <= words
    assert event_runs.is_dir()


def test_no_section_of_a_report_speaks_of_answers(event_runs: Path, call: Call, tmp_path: Path) -> None:
    for pages in ("all", None):
        chosen = ("--page", pages) if pages else ()
        written = tmp_path / "report.html"
        assert call("report", event_runs / "events.csv", *chosen, "-o", written).code == 0
        document = report_html.read(written.read_text("utf-8"))
        sections = {node.attributes["id"]: node for node in document.all("section")}
        found = {
            id_: said_of_answers(re.split(r"(?<=[.:]) |\n", section.text))
            for id_, section in sections.items()
        }
        assert found
        assert not {id_: texts for id_, texts in found.items() if texts}


VERBS: Final = (
    ("score", "--metric", "ece", "--metric", "brier", "--metric", "brier_skill", "--metric", "auroc"),
    ("score", "--metric", "verdict"),
    ("bins",),
    ("sweep",),
    ("recalibrate",),
    ("check",),
    ("threshold", "--cost-wrong", "10", "--cost-handed-on", "1"),
    ("threshold", "--accuracy", "0.55"),
    ("compare",),
    ("compare", "--pairs"),
    ("gate", "--max", "ece=0.5"),
)


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: "-".join(verb[::2]))
def test_no_verb_prints_words_of_answers(verb: tuple[str, ...], event_runs: Path, call: Call) -> None:
    answer = call(verb[0], event_runs / "events.csv", *verb[1:])
    assert answer.code == 0
    assert said_of_answers(answer.out.splitlines()) == []


def test_words_of_figures_are_those_that_are_read() -> None:
    figure = {
        "data": [{"name": "one", "hovertext": ["two"], "x": ["not"], "marker": {"color": "no"}}],
        "layout": {"xaxis": {"title": {"text": "three"}}, "font": {"family": "none"}},
    }
    assert list(figure_words(figure)) == ["one", "two", "three"]
