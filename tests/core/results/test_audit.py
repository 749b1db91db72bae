"""Which conventions apply to a run, and which of them give a published figure?"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import calib_core
from calib_core.errors import Unavailable
from calib_core.figures.audit import audit_figure, describe_audit
from calib_core.figures.palette import THEMES
from calib_core.metrics.conventions import CONVENTIONS
from calib_core.results.audit import ConventionAudit, PublishedFigure, audit_conventions
from calib_core.results.evidence import gather_evidence
from core.cli_calls import GOOD, Call, write
from core.token_run_builders import random_rows

DEMO = Path(__file__).parents[3] / "data" / "3-commonsenseqa.answers.parquet"


@pytest.fixture(scope="module")
def base() -> ConventionAudit:
    """Answers stated as .9, .95 and 1: what the side of an edge is worth."""
    return audit_conventions(gather_evidence(calib_core.load(DEMO)[0], "given"))


def values(audit: ConventionAudit) -> dict[str, float]:
    return {each.convention.id: each.value for each in audit.values}


def test_the_headline_names_both_ends(base: ConventionAudit) -> None:
    assert base.headline == "ECE ranges from 0.0037 to 0.0255, depending on the convention."
    assert base.default.value == pytest.approx(0.0252, abs=5e-5)
    assert "netcal" not in base.range_note.partition("Highest")[2]
    assert set(values(base)) == set(CONVENTIONS)
    assert not base.not_applicable


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("0.0252", {"width-10-right-l1", "width-15-left-l1", "torchmetrics-l1", "scikit-learn-quantile"}),
        ("2.52 %", {"width-10-right-l1", "width-15-left-l1", "torchmetrics-l1", "scikit-learn-quantile"}),
        ("3.38", {"hle-all-bins"}),
        ("0.9", set[str]()),
    ],
)
def test_a_published_figure_finds_its_conventions(
    base: ConventionAudit, typed: str, expected: set[str]
) -> None:
    published = PublishedFigure.parse(typed)
    assert published is not None
    assert {each.convention.id for each in base.matching(published)} == expected
    sentence = base.published_sentence(typed)
    assert sentence.startswith(
        f"{len(expected)} of 35 conventions" if expected else "No convention gives 0.9."
    )


@pytest.mark.parametrize("text", ["", ".", "abc", "1e-3", "-0.1", "101", "0.1.2", "٣", "<b>", "9" * 400])
def test_what_is_no_figure_is_told(base: ConventionAudit, text: str) -> None:
    assert PublishedFigure.parse(text) is None
    assert base.published_sentence(text).startswith("Type the ECE as it was published")


def test_every_rounding_of_a_value_finds_it(base: ConventionAudit) -> None:
    found: list[int] = []
    for digits in (1, 2, 3, 6):
        published = PublishedFigure.parse(f"{base.default.value:.{digits}f}")
        assert published is not None
        assert base.default in base.matching(published)
        found.append(len(base.matching(published)))
    assert found[-1] < found[0]


def test_sums_serve_only_what_needs_no_rows(tmp_path: Path) -> None:
    probs, target = random_rows(50, 6, seed=4)
    np.savez(tmp_path / "text.npz", probs=probs, target=target)
    audit = audit_conventions(gather_evidence(calib_core.load(tmp_path / "text.npz")[0], "tokens"))
    assert set(values(audit)) == {f"width-{m}-right-{norm}" for m in (10, 15) for norm in ("l1", "l2", "max")}
    assert "a token-level run keeps sums only" in audit.not_applicable_note


def test_variants_of_choices_and_samples(tmp_path: Path) -> None:
    rows = "".join(
        f'{{"gold": "{gold}", "choices": ["0", "1", "2"], "choice_logprobs": [-1, -1, -1], '
        '"choice_token_counts": [1, 1, 1]}\n'
        for gold in (0, 2, 2)
    )
    run = calib_core.load(write(tmp_path, "choices.jsonl", rows))[0]
    by_softmax = values(audit_conventions(gather_evidence(run, "choice_softmax")))
    # Of three equal choices the first is right once in three rows, as stated, and the last twice.
    assert by_softmax["width-10-right-l1"] == pytest.approx(0)
    assert by_softmax["ties-last"] == pytest.approx(1 / 3)
    assert "not-renormalised" not in by_softmax
    by_length = values(audit_conventions(gather_evidence(run, "choice_length_normalised")))
    assert by_length["not-renormalised"] == pytest.approx(np.exp(-1) - 1 / 3)
    samples = write(
        tmp_path,
        "samples.jsonl",
        '{"gold": "4", "samples": ["4", "4", "??", "!!"]}\n{"gold": "5", "samples": ["5", "4", "4", "4"]}\n',
    )
    run = calib_core.load(samples)[0]
    by_size = values(audit_conventions(gather_evidence(run, "cluster_size")))
    assert {"unparseable-one", "unparseable-drop"} <= set(by_size)


def test_only_ece_has_conventions(base: ConventionAudit) -> None:
    del base
    with pytest.raises(Unavailable, match="Conventions are known for ece only"):
        audit_conventions(gather_evidence(calib_core.load(DEMO)[0], "given"), "brier")


def test_frame_and_figure_show_every_value(base: ConventionAudit) -> None:
    frame = base.to_frame()
    assert dict(zip(frame["convention"], frame["value"], strict=True)) == values(base)
    figure = audit_figure(base, THEMES["light"], PublishedFigure.parse("0.0252"))
    drawn = sorted(x for trace in figure["data"] for x in trace["x"])
    expected = sorted(round(each.value, 7) for norm in ("l1", "l2") for each in base.of_norm(norm))  # type: ignore[arg-type]
    assert drawn == expected
    (band,) = figure["layout"]["shapes"]
    assert (band["x0"], band["x1"]) == (pytest.approx(0.02515), pytest.approx(0.02525))
    assert "0.0252" in describe_audit(base)


def test_the_verbs_elements(call: Call, tmp_path: Path) -> None:
    path = write(tmp_path, "quiz.csv", GOOD)
    answer = call("audit", path, "--json")
    assert (answer.code, answer.err) == (0, "")
    first = answer.elements[0]
    assert {
        "run",
        "method",
        "convention",
        "tool",
        "bins",
        "binning",
        "closed",
        "norm",
        "value",
        "default",
    } <= set(first)
    defaults = [element for element in answer.elements if element["default"]]
    score = calib_core.score(calib_core.load(path)[0], method="given", metric="ece")
    assert [element["value"] for element in defaults] == [score.value]
    printed = call("audit", path)
    assert (
        "Humanity's Last Exam, calib_err (last bin dropped) needs 200 rows, and there are 4." in printed.out
    )
    assert "Calib's own, default" in printed.out
    refused = call("audit", path, "--metric", "brier", "--json")
    assert (refused.code, refused.elements) == (2, [])
    assert "Conventions are known for ece only" in refused.err
