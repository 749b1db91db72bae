"""The published numbers equal those in the papers, and their findings are judged by the runs' statistics."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl
import pytest

from calib_core.edges import Scheme
from calib_core.inference.null import NullDistribution
from calib_core.inference.paired_test import PairedTest
from calib_core.results.best import PairDifference, PairedComparison
from calib_core.results.evidence import AnswerEvidence
from calib_core.results.methods_table import MethodsCell, MethodsTable
from calib_core.results.published import (
    Finding,
    compare_mmlu,
    compare_published_methods,
    compare_rsd,
    compare_training,
    published_methods,
    published_rsd,
)
from calib_core.results.robustness import PAPER_BINS, Sweep, SweepCurve
from calib_core.results.training import training_curves
from calib_core.views.published_table import published_view
from core.results.test_training import checkpoint
from core.run_builders import given_evidence


def test_table_one_of_the_full_ece_paper() -> None:
    assert published_rsd().rows() == [
        ("cw_ece", "2B", 0.4093),
        ("cw_ece", "7B", 0.4490),
        ("full_ece", "2B", 0.0756),
        ("full_ece", "7B", 0.0836),
    ]


def test_table_one_of_the_self_consistency_paper_is_whole() -> None:
    table = published_methods()
    assert table.height == 2 * 6 * 4
    assert table["dataset"].unique(maintain_order=True).to_list() == ["GSM8K", "MathQA"]
    assert table.select("model", "temperature").unique(maintain_order=True).rows() == [
        ("Mistral-7B", 0.6),
        ("Mistral-7B-Inst", 1.0),
        ("Mixtral-8x7B", 0.6),
        ("Mixtral-8x7B-Inst", 1.0),
    ]
    assert set(table.select("dataset", "questions").iter_rows()) == {("GSM8K", 1319), ("MathQA", 2985)}


def test_its_corners_and_its_sums() -> None:
    table = published_methods()

    def pair(dataset: str, method: str, model: str) -> tuple[float, float]:
        return table.filter(dataset=dataset, method=method, model=model).select("ece", "brier").row(0)

    assert pair("GSM8K", "logit_path", "Mistral-7B") == (0.394, 0.399)
    assert pair("GSM8K", "p_true", "Mixtral-8x7B") == (0.070, 0.201)
    assert pair("GSM8K", "pairwise", "Mixtral-8x7B-Inst") == (0.110, 0.096)
    assert pair("MathQA", "cluster_size", "Mixtral-8x7B-Inst") == (0.035, 0.171)
    assert pair("MathQA", "cluster_number", "Mistral-7B-Inst") == (0.374, 0.359)
    # Column sums over both data sets, added up from the printed table.
    sums = table.group_by("model", maintain_order=True).agg(pl.col("ece", "brier").sum())
    assert [round(value, 3) for value in sums["ece"]] == [3.194, 3.482, 2.295, 2.008]
    assert [round(value, 3) for value in sums["brier"]] == [3.705, 3.818, 2.837, 2.448]


# --- The findings, judged on one's own runs -------------------------------------------------------


def sweep(
    full: float | None,
    classwise: float | None,
    *,
    p: float = 0.005,
    n: int = 2000,
    band: float = 0.02,
    noise: float = 0.01,
) -> Sweep:
    """A sweep over the paper's M with these RSDs, whose draws' RSDs have bands `band` wide."""

    def curve(metric: str, rsd: float | None) -> SweepCurve:
        null = NullDistribution(
            199, 0, *((noise,) * 7,) * 3, p=(p,) * 7, rsd_median=0.5, rsd_low=0.5, rsd_high=0.5 + band
        )
        return SweepCurve(metric, PAPER_BINS, (0.1,) * 7, {}, {}, rsd, 0, None, null, metric)

    curves = (curve("full_ece", full), *([] if classwise is None else [curve("cw_ece", classwise)]))
    reasons = {"cw_ece": "Sums by class were not kept."}
    return Sweep("a", "tokens", PAPER_BINS, 0, curves, reasons, n, n, "")


@pytest.mark.parametrize(
    ("made", "kind", "detail"),
    [
        (sweep(0.05, 0.4), "holds", "RSD 5.0 % against 40.0 %"),
        (sweep(0.4, 0.05), "fails", "RSD 40.0 % against 5.0 %"),
        (sweep(0.05, 0.4, p=0.3), "unknown", "its RSD is noise"),
        (
            sweep(0.4, 0.05, noise=0.06),
            "unknown",
            "more than half of Full-ECE at M = 500 is chance",
        ),
        (sweep(0.05, 0.4, noise=0.06), "holds", "RSD 5.0 % against 40.0 %"),
        (sweep(0.4, 0.41), "unknown", "the difference is within noise (1.4 %)"),
        (sweep(0.05, 0.4, n=29), "unknown", "below 30 rows"),
        (sweep(0.05, None), "unknown", "no cw-ECE: sums by class were not kept"),
        (sweep(None, 0.4), "unknown", "not every M has one value"),
        (replace(sweep(0.05, 0.4), bins=(5, 10)), "unknown", "the paper's RSD is over M in {5, 10, 20, 50"),
        (replace(sweep(0.05, 0.4), ddof=1), "unknown", "with ddof 0"),
    ],
)
def test_the_rsd_is_judged_where_it_is_more_than_noise(made: Sweep, kind: str, detail: str) -> None:
    (finding,) = compare_rsd({"gpt": made}).findings
    assert finding.kind == kind
    assert detail in finding.details
    assert finding.sentence.startswith("Published: Full-ECE depends less on M than cw-ECE: RSD 7.56 %")


def test_own_rsd_stands_beside_the_paper_s_which_is_of_other_data() -> None:
    result = compare_rsd({"gpt": sweep(0.05, 0.4), "other M": replace(sweep(0.05, 0.4), ddof=1)})
    (table,) = result.tables
    assert list(table.own_columns.values()) == ["gpt"]
    assert published_view(result).tables[0].texts().rows(named=True)[:2] == [
        {"Number": "RSD of cw-ECE", "2B (paper)": "40.93 %", "7B (paper)": "44.90 %", "gpt": "40.00 %"},
        {"Number": "RSD of Full-ECE", "2B (paper)": "7.56 %", "7B (paper)": "8.36 %", "gpt": "5.00 %"},
    ]
    (only,) = result.remarks
    assert "left out" in only
    own = table.to_frame().filter(~pl.col("published"))
    assert own.select("column", "value", "difference").rows() == [("gpt", 0.4, None), ("gpt", 0.05, None)]
    assert table.to_frame().filter("published").height == 4


def test_runs_of_different_judgements_are_counted() -> None:
    (finding,) = compare_rsd({"a": sweep(0.05, 0.4), "b": sweep(0.4, 0.05), "c": sweep(0.05, None)}).findings
    assert finding.verdict == "holds on 1 of 3 runs, does not hold on 1, inconclusive on 1"
    assert finding.details.startswith("holds for a (RSD 5.0 % against 40.0 %); does not hold for b (")
    (many,) = compare_rsd({name: sweep(0.05, 0.4) for name in "abcd"}).findings
    assert (many.kind, many.verdict) == ("holds", "holds here")
    assert many.details.endswith("b (RSD 5.0 % against 40.0 %) and 2 more")


EVIDENCE = given_evidence([0.5], [1])


def methods_table(
    briers: dict[str, dict[str, float]], p: float = 1e-6, dataset: str | None = None
) -> MethodsTable:
    """Runs whose methods have these Brier scores; every pair of them differs with this p (Holm)."""
    cells = {
        (run, method): MethodsCell(
            run, method, 0.1, brier, 0.7, 0.8, 100, 100, "majority answer", None, "", EVIDENCE, Scheme()
        )
        for run, of_run in briers.items()
        for method, brier in of_run.items()
    }
    paired = {
        run: PairedComparison(
            {"brier": of_run, "brier_skill": {}},
            dict.fromkeys(of_run),
            {
                "brier": tuple(
                    PairDifference(
                        "brier",
                        first,
                        second,
                        PairedTest(of_run[first] - of_run[second], -1, 1, p, 100, 100),
                        p,
                    )
                    for first, second in combinations(of_run, 2)
                )
            },
            {"brier": 1},
            {},
        )
        for run, of_run in briers.items()
    }
    methods = tuple(dict.fromkeys(method for of_run in briers.values() for method in of_run))
    datasets = dict.fromkeys(briers, dataset)
    return MethodsTable(
        Scheme(), "common", "missing", tuple(briers), methods, cells, {}, "own", paired, "", datasets
    )


def judged(table: MethodsTable, *, choices: bool = False) -> list[str]:
    """The kinds of the three findings on these runs."""
    titles = {run: run for run in table.runs}
    findings = compare_published_methods(table, titles, dict.fromkeys(table.runs, choices)).findings
    return [finding.kind for finding in findings]


BEST = {"cluster_number": 0.2, "cluster_size": 0.1, "pairwise": 0.15, "p_true": 0.25}


def test_self_consistency_is_judged_against_every_other_method() -> None:
    assert judged(methods_table({"a": BEST}))[0] == "holds"
    assert judged(methods_table({"a": BEST | {"p_true": 0.05}}))[0] == "fails"
    assert judged(methods_table({"a": BEST}, p=0.2))[0] == "unknown"
    assert judged(methods_table({"a": {name: BEST[name] for name in list(BEST)[:3]}}))[0] == "unknown"
    assert judged(methods_table({"a": {"p_true": 0.1, "verbal": 0.2}}))[0] == "unknown"


def test_the_p_of_a_run_is_corrected_for_the_number_of_runs() -> None:
    assert judged(methods_table({"a": BEST}, p=0.04))[0] == "holds"
    assert judged(methods_table({"a": BEST, "b": BEST}, p=0.04))[0] == "unknown"


def test_f_cn_is_judged_on_multiple_choice_and_f_pc_on_open_answers() -> None:
    weak = {"cluster_number": 0.3, "cluster_size": 0.1, "pairwise": 0.15}
    assert judged(methods_table({"a": weak}), choices=True)[1:] == ["holds", "unknown"]
    strong = {"cluster_number": 0.05, "cluster_size": 0.1, "pairwise": 0.15}
    assert judged(methods_table({"a": strong}), choices=True)[1:] == ["fails", "unknown"]
    assert judged(methods_table({"a": strong}))[1:] == ["unknown", "holds"]
    assert judged(methods_table({"a": weak}))[1:] == ["unknown", "fails"]


def test_what_the_paper_s_own_table_says_is_what_is_judged() -> None:
    """The three findings, checked on the published numbers themselves."""
    table = published_methods()
    own = ("cluster_number", "cluster_size", "pairwise")
    for (dataset, _), part in table.group_by("dataset", "model"):
        brier = dict(part.select("method", "brier").iter_rows())
        assert min(brier, key=brier.__getitem__) in own
        if dataset == "MathQA":
            assert brier["cluster_number"] > max(brier["cluster_size"], brier["pairwise"])
        else:
            assert brier["pairwise"] > max(brier["cluster_size"], brier["cluster_number"])


def test_own_methods_stand_beside_the_paper_s_numbers_on_the_same_data_set() -> None:
    own = methods_table({"a": BEST | {"verbal": 0.3}}, dataset="math_qa")
    table = replace(own, runs=("a", "b"), datasets={"a": "math_qa", "b": "quiz"})
    titles, choices = {"a": "mine", "b": "other"}, {"a": True, "b": True}
    result = compare_published_methods(table, titles, choices, "Mixtral-8x7B")
    (shown,) = published_view(result).tables
    rows = {row["Number"]: row for row in shown.texts().iter_rows(named=True)}
    row = rows["Brier, F_CS"]
    assert shown.title == "MathQA, 2,985 questions"
    assert (row["Mixtral-8x7B (paper)"], row["mine"], row["mine − paper"]) == ("0.190", "0.100", "−0.090")
    assert rows["Brier, stated confidence"]["mine − paper"] == "–"
    assert "other" not in row
    (only,) = result.remarks
    assert only == "The paper has no numbers for quiz, only for GSM8K and MathQA: no difference."


def test_runs_of_both_data_sets_are_compared_each_with_its_own() -> None:
    own = methods_table({"a": {"p_true": 0.3}, "b": {"p_true": 0.3}})
    table = replace(own, datasets={"a": "openai/gsm8k", "b": "MathQA"})
    result = compare_published_methods(table, {"a": "A", "b": "B"}, {"a": False, "b": True})
    gsm, math = result.tables
    assert gsm.difference("brier p_true", "a") == pytest.approx(0.3 - 0.267)
    assert math.difference("brier p_true", "b") == pytest.approx(0.3 - 0.309)
    assert (list(gsm.own_columns), list(math.own_columns)) == (["a"], ["b"])
    assert result.remarks == ()


def test_other_data_have_no_table() -> None:
    table = methods_table({"a": BEST}, dataset="gsm8k-hard")
    assert compare_published_methods(table, {"a": "A"}, {"a": False}).tables == ()


def test_training_is_judged_by_the_paired_difference() -> None:
    def finding(first: int, last: int) -> Finding:
        ends = {"a": checkpoint(1, (0.9, 200, first)), "b": checkpoint(2, (0.9, 200, last))}
        return compare_training(training_curves(ends, "ece")).findings[0]

    assert finding(100, 180).kind == "holds"
    assert finding(180, 100).kind == "fails"
    assert finding(176, 178).kind == "unknown"
    assert "no clear change" in finding(176, 178).details
    nothing = compare_training(training_curves({"a": checkpoint(1, (0.9, 200, 9))}, "full_ece"))
    assert nothing.findings[0].kind == "unknown"
    assert "gives one number per question, not a whole distribution" in nothing.findings[0].details


def of_size(billions: float, right: int, **info: Any) -> AnswerEvidence:
    return checkpoint(1, (0.9, 200, right), params_b=billions, model=f"llama-{billions:g}b", **info)


def test_the_replication_is_judged_by_pairs_that_differ_in_size_alone() -> None:
    size, shots, tuning, subject = compare_mmlu({"a": of_size(7, 100), "b": of_size(13, 180)}).findings
    assert size.kind == "holds"
    assert "ECE of 13B less 7B" in size.details
    assert (shots.kind, tuning.kind, subject.kind) == ("none",) * 3
    assert compare_mmlu({"a": of_size(7, 180), "b": of_size(13, 100)}).findings[0].kind == "fails"
    assert compare_mmlu({"a": of_size(7, 178), "b": of_size(13, 180)}).findings[0].kind == "unknown"
    assert compare_mmlu({"a": of_size(7, 178)}).findings[0].details.startswith("no two runs here differ in")
    shot = {"a": of_size(7, 100, shots=0), "b": of_size(7, 180, shots=5)}
    assert "5-shot less 0-shot" in compare_mmlu(shot).findings[1].published
