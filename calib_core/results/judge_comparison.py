"""Which of two judges, or versions of one, agrees better with people on the same rows?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.errors import Unavailable
from calib_core.inference.agreement import (
    Measure,
    clusters_within,
    cohen_kappa,
    kappa_weights,
    share_of,
    share_within,
)
from calib_core.inference.paired_test import MIN_COMMON_QUESTIONS, PairedTest, paired_test
from calib_core.inference.pairing import common_questions
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.judge_agreement import MEASURE_TITLES, MeasureId
from calib_core.results.judge_labels import (
    JudgeLabels,
    judge_labels,
    label_form,
    refuse_weighted_labels,
)
from calib_core.runs import AnswerRun
from calib_core.wording import format_percent, p_value_phrase, plural

JUDGE_COMPARISON_COLUMNS: Final = (
    Column("metric"),
    Column("measure", "Measure"),
    Column("first", "First judge", "number", digits=3),
    Column("second", "Second judge", "number", digits=3),
    Column("difference", "Second − first", "signed", digits=3),
    Column("low", "95 %", "signed", upper="high", digits=3),
    Column("high", kind="signed"),
    Column("p", "p", "p"),
    Column("n", "Rows", "count", "Rows that people and both judges labelled."),
    Column("recipe"),
)
"""The columns of two judges side by side."""


@dataclass(frozen=True, slots=True)
class JudgeDifference:
    """One measure of two judges on the same rows.

    Attributes
    ----------
    metric : MeasureId
    first, second : float
    test : PairedTest or None
        Second minus first; None with fewer than 30 questions.
    """

    metric: MeasureId
    first: float
    second: float
    test: PairedTest | None


@dataclass(frozen=True, eq=False)
class JudgeComparison(Displayable):
    """Two judges on the rows that people and both of them labelled.

    Attributes
    ----------
    first, second : str
        Their runs, or files where both runs are called the same.
    differences : tuple of JudgeDifference
    n, n_questions : int
        Common labelled rows, and independent questions among them.
    only_first, only_second : int
        Rows on which only one of them agrees with people.
    corrections : str
        What tables of corrections changed; "" without one.
    """

    first: str
    second: str
    differences: tuple[JudgeDifference, ...]
    n: int
    n_questions: int
    only_first: int
    only_second: int
    corrections: str = ""

    @property
    def recipe(self) -> str:
        """How the judges were compared."""
        corrected = f", {self.corrections}" if self.corrections else ""
        return f"paired t over questions, one question that speaks for both added, n={self.n}{corrected}"

    @property
    def headline(self) -> str:
        """Which of the two agrees better, in a sentence."""
        agreement = self.differences[0]
        rows = (
            f"on {plural(self.n, 'row')} that people and both labelled: {format_percent(agreement.second)} "
            f"against {format_percent(agreement.first)}"
        )
        if agreement.test is None:
            return f"{MIN_COMMON_QUESTIONS} common questions are needed to compare two judges ({rows})."
        p = p_value_phrase(agreement.test.p, None)
        if agreement.test.p > SIGNIFICANCE_LEVEL:
            return f"Neither judge clearly agrees better with people {rows} ({p})."
        better = self.second if agreement.test.difference > 0 else self.first
        return f"{better} agrees better with people {rows} ({p})."

    def to_frame(self) -> pl.DataFrame:
        """One row for each measure, with `JUDGE_COMPARISON_COLUMNS`."""
        return frame_of(
            JUDGE_COMPARISON_COLUMNS,
            (
                {
                    "metric": one.metric,
                    "measure": MEASURE_TITLES[one.metric],
                    "first": one.first,
                    "second": one.second,
                    "difference": one.second - one.first,
                    "low": one.test and one.test.low,
                    "high": one.test and one.test.high,
                    "p": one.test and one.test.p,
                    "n": self.n,
                    "recipe": self.recipe,
                }
                for one in self.differences
            ),
        )


def compare_judges(first: AnswerRun, second: AnswerRun, passing: tuple[str, ...] = ()) -> JudgeComparison:
    """Compare two judges by the same labels of people.

    Parameters
    ----------
    first, second : AnswerRun
        People's labels are taken from both; rows on which these differ are left out.
    passing
        As in `judge_labels`.

    Raises
    ------
    Unavailable
        If the runs cannot be paired, or fewer than two rows are labelled by people and both judges.
    """
    for run in (first, second):
        refuse_weighted_labels(run)
    labels = judge_labels(first, passing), judge_labels(second, passing)
    rows = common_questions(first, second)[:2]
    places = tuple(_places(one, at) for one, at in zip(labels, rows, strict=True))
    judged = (places[0] >= 0) & (places[1] >= 0)
    of_first, of_second = places[0][judged], places[1][judged]
    number = {form: at for at, form in enumerate(dict.fromkeys(_forms(labels[0]) + _forms(labels[1])))}
    to_first, to_second = (np.array([number[form] for form in _forms(one)], np.intp) for one in labels)

    def numbered(codes: NDArray[np.intp], new: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.where(codes < 0, -1, new[codes])

    humans = numbered(labels[0].human[of_first], to_first), numbered(labels[1].human[of_second], to_second)
    human = np.where(humans[0] >= 0, humans[0], humans[1])
    known = (human >= 0) & ((humans[0] < 0) | (humans[1] < 0) | (humans[0] == humans[1]))
    if np.count_nonzero(known) < 2:
        raise Unavailable(f"{first.label} and {second.label} have fewer than two labelled rows in common.")
    human = human[known]
    judges = (
        to_first[labels[0].judge[of_first]][known],
        to_second[labels[1].judge[of_second]][known],
    )
    cluster = None if labels[0].cluster is None else labels[0].cluster[of_first][known]
    cluster = clusters_within(cluster, np.ones(human.size, bool))
    passes = _passes(labels, number)
    n_questions = human.size if cluster is None else int(cluster.max()) + 1
    measured = [_measures(judge, human, passes, cluster, len(number)) for judge in judges]
    scales = _scale_of_one_more(judges, human, passes, len(number))
    differences = tuple(
        JudgeDifference(
            metric,
            one.value,
            measured[1][metric].value,
            None
            if n_questions < MIN_COMMON_QUESTIONS
            else paired_test(
                measured[1][metric].value - one.value,
                measured[1][metric].influence - one.influence,
                cluster,
                one_more=scales[metric],
            ),
        )
        for metric, one in measured[0].items()
        if metric in measured[1]
    )
    hits = judges[0] == human, judges[1] == human
    titles = (first.label, second.label) if first.label != second.label else (first.file, second.file)
    return JudgeComparison(
        *titles,
        differences,
        human.size,
        n_questions,
        int(np.count_nonzero(hits[0] & ~hits[1])),
        int(np.count_nonzero(hits[1] & ~hits[0])),
        "; ".join(dict.fromkeys(one.corrections for one in labels if one.corrections)),
    )


def _places(labels: JudgeLabels, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """Where rows of the run are among its judged rows, −1 where not."""
    place = np.full(int(max(rows.max(initial=-1), labels.row.max(initial=-1))) + 1, -1, np.intp)
    place[labels.row] = np.arange(labels.n)
    return place[rows]


def _forms(labels: JudgeLabels) -> list[str]:
    return [label_form(name) for name in labels.names]


def _passes(labels: tuple[JudgeLabels, JudgeLabels], number: dict[str, int]) -> NDArray[np.bool_] | None:
    """Which of the common labels pass; None unless both judges say so alike."""
    known: dict[str, bool] = {}
    for one in labels:
        if one.passes is None:
            return None
        for form, ok in zip(_forms(one), one.passes.tolist(), strict=True):
            if known.setdefault(form, ok) != ok:
                return None
    return np.array([known[form] for form in number])


def _measures(
    judge: NDArray[np.intp],
    human: NDArray[np.intp],
    passes: NDArray[np.bool_] | None,
    cluster: NDArray[np.intp] | None,
    n_labels: int,
) -> dict[MeasureId, Measure]:
    """What two judges are compared by, as far as it is defined."""
    weights = kappa_weights(np.arange(n_labels, dtype=np.float64), "none")
    found: dict[MeasureId, Measure | None] = {
        "agreement": share_of(judge == human, cluster),
        "kappa": cohen_kappa(judge, human, weights, cluster),
    }
    if passes is not None:
        says, is_ = passes[judge], passes[human]
        found["sensitivity"] = share_within(says, is_, cluster) if is_.any() else None
        found["specificity"] = share_within(~says, ~is_, cluster) if not is_.all() else None
    return {id_: measure for id_, measure in found.items() if measure is not None}


def _scale_of_one_more(
    judges: tuple[NDArray[np.intp], NDArray[np.intp]],
    human: NDArray[np.intp],
    passes: NDArray[np.bool_] | None,
    n_labels: int,
) -> dict[MeasureId, float]:
    """How much a row on which only one judge agrees moves a difference, times the number of rows."""
    share = np.bincount(human, minlength=n_labels) / human.size
    expected = 1 - np.mean([share @ np.bincount(judge, minlength=n_labels) for judge in judges]) / human.size
    scales: dict[MeasureId, float] = {"agreement": 1.0, "kappa": 1 / max(float(expected), 1 / human.size)}
    if passes is not None:
        rate = float(passes[human].mean())
        scales |= {"sensitivity": 1 / max(rate, 1e-9), "specificity": 1 / max(1 - rate, 1e-9)}
    return scales
