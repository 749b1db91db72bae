"""Which of several runs and methods are best, as far as the questions they share can tell?

Each pair is compared on the questions that both answered, by accuracy on all that have an outcome, and by
other metrics on those that have a confidence, too, and the p-values are corrected for all pairs
(Holm 1979). Best are all those that none of the others is clearly better than.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.clusters import repeated_question_keys
from calib_core.inference.directional import (
    MAX_DIRECTIONAL_BINS,
    directional_contrasts,
    joint_bin_means,
)
from calib_core.inference.multiplicity import holm
from calib_core.inference.paired_test import (
    MIN_COMMON_QUESTIONS,
    MIN_QUESTIONS_OVER_BINS,
    PairedTest,
    paired_test,
)
from calib_core.inference.pairing import (
    QuestionNumbers,
    identifies_questions,
    number_questions,
    row_number_advice,
)
from calib_core.inference.verdict import MIN_ROWS, SIGNIFICANCE_LEVEL
from calib_core.metrics import METRICS
from calib_core.pairs import Pairs
from calib_core.results.evidence import AnswerEvidence, Evidence, refuse_weights, weights_refusal
from calib_core.results.uncertainty import influence_of_one_more, metric_gaps, side_of_one_more
from calib_core.runs import AnswerRun
from calib_core.terms import ProbabilityOf
from calib_core.wording import ROUNDING_TOLERANCE, as_clause, join_names, plural

SKILL: Final = "brier_skill"

RANKED_METRICS: Final = (SKILL, "accuracy", "brier")
"""The metrics by which runs and methods are ranked, the leading one first."""

RANKED_FOR: Final[Mapping[ProbabilityOf, Sequence[str]]] = {"answer": RANKED_METRICS, "event": (SKILL,)}
"""What probabilities are of → the metrics that rank them.

A share of yes is no merit, and the Brier score depends on it: always stating a rare event's scores low.
"""

RANKED_NAMES: Final[Mapping[str, str]] = {SKILL: "skill", "accuracy": "accuracy", "brier": "Brier"}
"""Their short names."""

MIN_SHARE_WITHOUT: Final = 0.1
"""With confidences missing from this share of the rows with an outcome, nothing but accuracy is ranked."""

MAX_KEPT_PAIRS: Final = 100_000
"""For a run with more pairs nothing is kept for the next comparison: it would take too much memory."""

_COMPARABLE: Final = frozenset(
    id_ for id_, metric in METRICS.items() if metric.is_smooth and metric.direction != "zero"
)


@dataclass(frozen=True, slots=True)
class PairDifference:
    """How much higher a metric is for one run and method than for another, on their common questions.

    Attributes
    ----------
    metric : str
        Its id.
    first, second : str
        Keys of the two.
    test : PairedTest
        Of first minus second.
    p_holm : float
        p corrected for all pairs of this metric.
    """

    metric: str
    first: str
    second: str
    test: PairedTest
    p_holm: float

    @property
    def clear(self) -> bool:
        """Whether the difference is clear, given how many pairs there are."""
        return self.p_holm <= SIGNIFICANCE_LEVEL

    def reversed(self) -> PairDifference:
        """Second minus first."""
        test = self.test
        turned = replace(test, difference=-test.difference, low=-test.high, high=-test.low)
        return replace(self, first=self.second, second=self.first, test=turned)

    def worse(self) -> str:
        """Key of the clearly worse one; call it only where the difference is clear."""
        higher_is_better = METRICS[self.metric].direction == "higher"
        return self.second if (self.test.difference > 0) == higher_is_better else self.first


@dataclass(frozen=True, slots=True)
class BestSet:
    """Which are best by one metric.

    Attributes
    ----------
    metric : str
        Its id.
    dataset : str or None
        The data set of all of them.
    leader : str or None
        Key of the one with the best value; None where nobody is best.
    best : tuple of str
        The leader and all that cannot be told from it, in the given order; () where nobody is best.
    compared : tuple of str
        Keys of all that were compared with each other.
    n_pairs : int
        Number of pairs the p-values are corrected for, of all data sets.
    no_best_reason : str or None
        Why nobody is best.
    n_uncompared : int
        How many of the data set could not be compared with these, and have no better value.
    """

    metric: str
    dataset: str | None
    leader: str | None
    best: tuple[str, ...]
    compared: tuple[str, ...]
    n_pairs: int
    no_best_reason: str | None = None
    n_uncompared: int = 0

    @property
    def has_winner(self) -> bool:
        """Whether one alone is best."""
        return len(self.best) == 1


@dataclass(frozen=True, eq=False)
class PairedComparison:
    """Runs and methods, each pair of one data set compared on its common questions.

    Attributes
    ----------
    values : Mapping[str, Mapping[str, float]]
        Metric id → key → its value on all rows; missing where not defined. "brier_skill" is always there. The
        accuracy is that of all rows with an outcome, the others are of rows with a confidence, too.
    datasets : Mapping[str, str or None]
        Key → data set.
    pairs : Mapping[str, tuple of PairDifference]
        Metric id → every pair that could be compared.
    family_sizes : Mapping[str, int]
        Metric id → number of different pairs that p is corrected for; pairs of equal values are not among
        them, and those that compare the same values count once.
    unpaired : Mapping[tuple[str, str], str]
        Two keys of one data set → why they cannot be compared.
    by_row_number : bool
        Whether equal row numbers were taken for the same question, as the user said.
    n_rows : Mapping[str, int]
        Key → rows used, of those that may be left uncompared.
    partial : frozenset of str
        Keys that are ranked by accuracy only, as `is_partial` tells: their other values stand on rows of
        their own choice.
    """

    values: Mapping[str, Mapping[str, float]]
    datasets: Mapping[str, str | None]
    pairs: Mapping[str, tuple[PairDifference, ...]]
    family_sizes: Mapping[str, int]
    unpaired: Mapping[tuple[str, str], str]
    by_row_number: bool = False
    n_rows: Mapping[str, int] = field(default_factory=dict[str, int])
    partial: frozenset[str] = frozenset()

    def pair(self, metric: str, first: str, second: str) -> PairDifference | None:
        """The difference of first minus second by a metric; None where it could not be tested."""
        if found := self._by_keys.get((metric, first, second)):
            return found
        found = self._by_keys.get((metric, second, first))
        return None if found is None else found.reversed()

    @cached_property
    def _by_keys(self) -> dict[tuple[str, str, str], PairDifference]:
        return {
            (metric, pair.first, pair.second): pair for metric, pairs in self.pairs.items() for pair in pairs
        }

    def best_sets(self, metric: str) -> tuple[BestSet, ...]:
        """The best by a metric, one set for each data set."""
        by_dataset: defaultdict[str | None, list[str]] = defaultdict(list)
        for key, dataset in self.datasets.items():
            by_dataset[dataset].append(key)
        return tuple(self._best_set(metric, dataset, keys) for dataset, keys in by_dataset.items())

    def best(self, metric: str) -> frozenset[str]:
        """Keys of all that are best by a metric in their data set."""
        return frozenset(key for best_set in self.best_sets(metric) for key in best_set.best)

    def _may_be_best(self, key: str, metric: str) -> bool:
        """Whether it is no worse than always stating its accuracy; of the accuracy itself not asked."""
        skill = self.values[SKILL].get(key)
        return metric == "accuracy" or skill is None or skill >= -ROUNDING_TOLERANCE

    def _is_behind(self, metric: str, first: str, second: str) -> bool:
        """Whether the first does worse than the second on their common questions, clearly or not."""
        pair = self.pair(metric, first, second)
        sign = 1 if METRICS[metric].direction == "higher" else -1
        return pair is not None and sign * pair.test.difference < -ROUNDING_TOLERANCE

    def _best_set(self, metric: str, dataset: str | None, keys: Sequence[str]) -> BestSet:
        n_pairs = self.family_sizes[metric]
        unranked = frozenset[str]() if metric == "accuracy" else self.partial
        values = {
            key: self.values[metric][key]
            for key in keys
            if key in self.values[metric] and key not in unranked
        }
        tested = {frozenset((pair.first, pair.second)) for pair in self.pairs[metric]}
        compared = _all_comparable(list(values), tested)

        def nobody(reason: str) -> BestSet:
            return BestSet(metric, dataset, None, (), tuple(compared), n_pairs, reason)

        if len(compared) < 2:
            reasons = {
                reason
                for (first, second), reason in self.unpaired.items()
                if first in values and second in values
            }
            is_alone = len(values) < 2
            default = "there is only one to compare" if is_alone else "their differences are not tested"
            if is_alone and unranked.intersection(keys):
                default = "the others lack one on a tenth or more of their rows"
            return nobody(as_clause(min(reasons, default=default)))
        pairs = [pair for pair in self.pairs[metric] if unranked.isdisjoint((pair.first, pair.second))]
        worse = {pair.worse() for pair in pairs if pair.clear}
        best = [key for key in compared if key not in worse and self._may_be_best(key, metric)]
        if not best:
            return nobody("the points with the best value are worse than always stating one value")
        sign = 1 if METRICS[metric].direction == "higher" else -1
        leader = max(best, key=lambda key: sign * values[key])
        uncompared = [key for key in values if key not in compared and self.n_rows.get(key, 0) >= MIN_ROWS]
        if any(sign * values[key] > sign * values[leader] for key in uncompared):
            return nobody("the one with the best value cannot be compared with every other")
        if any(self._is_behind(metric, leader, key) for key in best if key != leader):
            return nobody("the one with the best value does worse than another on the rows that both have")
        return BestSet(metric, dataset, leader, tuple(best), tuple(compared), n_pairs, None, len(uncompared))


def compare_pairs(
    evidences: Mapping[str, Evidence],
    metrics: Sequence[str] = RANKED_METRICS,
    *,
    on_progress: Callable[[float], None] = lambda _share: None,
) -> PairedComparison:
    """Compares every pair of one data set on the questions that both answered.

    Parameters
    ----------
    evidences : Mapping[str, Evidence]
        Key → one run as seen by one method; of all labels the top one counts.
    metrics : sequence of str
        Ids of smooth metrics of which a higher or a lower value is better.
    on_progress : callable
        Called with the share that is done, in (0, 1].

    Raises
    ------
    Unavailable
        For a metric whose difference cannot be tested.
    """
    for metric in metrics:
        if metric not in _COMPARABLE:
            title = METRICS[metric].title if metric in METRICS else metric
            known = join_names(sorted(_COMPARABLE))
            raise Unavailable(f"A paired difference of {title} cannot be tested, only one of {known}.")
    tops = {key: evidence.top_label for key, evidence in evidences.items()}
    every = {key: top.every_outcome for key, top in tops.items()}
    unpaired: dict[tuple[str, str], str] = {}
    tests: dict[str, list[tuple[str, str, PairedTest]]] = {metric: [] for metric in metrics}
    questions = _Questions(tops)
    questions_with_outcome = questions if every == tops else _Questions(every)
    candidates = [
        (first, second)
        for first, second in combinations(tops, 2)
        if tops[first].run.info.dataset == tops[second].run.info.dataset
    ]
    for done, (first, second) in enumerate(candidates, 1):
        try:
            rows = questions.common_pairs(first, second)
            of_all = rows
            if questions_with_outcome is not questions:
                of_all = questions_with_outcome.common_pairs(first, second)
            for metric in metrics:
                test = _test(metric, of_all if metric == "accuracy" else rows)
                if test is not None:
                    tests[metric].append((first, second, test))
        except Unavailable as reason:
            unpaired[first, second] = str(reason).rstrip(".")
        on_progress(done / len(candidates))
    values = {
        id_: {
            key: value
            for key, evidence in (every if id_ == "accuracy" else tops).items()
            if (value := _value(evidence, id_)) is not None
        }
        for id_ in dict.fromkeys((*metrics, SKILL))
    }
    datasets = {key: top.run.info.dataset for key, top in tops.items()}
    found = _with_corrected(tests, values, datasets, unpaired)
    n_rows = {key: top.n_used for key, top in tops.items()}
    partial = frozenset(key for key in tops if is_partial(n_rows[key], every[key].n_used))
    return replace(found, by_row_number=questions.by_row_number, n_rows=n_rows, partial=partial)


def is_partial(n_used: int, n_judged: int) -> bool:
    """Whether too few of the rows with an outcome have a confidence for values to be compared with others'.

    Parameters
    ----------
    n_used, n_judged : int
        Rows with a confidence and an outcome, and rows with an outcome.

    Examples
    --------
    >>> is_partial(901, 1000), is_partial(900, 1000)
    (False, True)
    """
    return n_judged - n_used >= MIN_SHARE_WITHOUT * n_judged > 0


def compare_on_same_rows(evidences: Mapping[str, AnswerEvidence], scheme: Scheme) -> PairedComparison:
    """Compares methods of one run by Brier score, skill and ECE; all have the same rows, in the same order.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Key → one run as seen by one method.
    scheme : Scheme
        Bins of the ECE, which are held fixed.
    """
    first = next(iter(evidences.values()))
    cluster = first.cluster
    n_questions = first.n_used if cluster is None else np.unique(cluster).size
    tests: dict[str, list[tuple[str, str, PairedTest]]] = {SKILL: [], "brier": [], "ece": []}
    unpaired: dict[tuple[str, str], str] = {}
    sides = {key: _Side(evidence).on(None) for key, evidence in evidences.items()}
    if first.weight is not None:
        unpaired = dict.fromkeys(
            combinations(evidences, 2), weights_refusal("A paired difference").rstrip(".")
        )
    elif n_questions < MIN_COMMON_QUESTIONS:
        unpaired = dict.fromkeys(combinations(evidences, 2), _too_few_questions(n_questions))
    else:
        for one, other in combinations(evidences, 2):
            same_answers = np.array_equal(sides[one].pairs.correct, sides[other].pairs.correct)
            rows = _CommonPairs(sides[one], sides[other], cluster, same_answers)
            for metric in (SKILL, "brier"):
                test = _test(metric, rows)
                if test is not None:
                    tests[metric].append((one, other, test))
        tests["ece"] = ece_tests(evidences, cluster, scheme)
    values = {
        id_: {
            key: value for key, evidence in evidences.items() if (value := _value(evidence, id_)) is not None
        }
        for id_ in (SKILL, "brier")
    }
    ece = METRICS["ece"]
    by_ece = {key: ece.compute(evidence.sums_for(ece, scheme), scheme) for key, evidence in evidences.items()}
    values["ece"] = {key: value for key, value in by_ece.items() if value is not None}
    return _with_corrected(tests, values, dict.fromkeys(evidences, first.run.info.dataset), unpaired)


def ece_tests(
    evidences: Mapping[str, AnswerEvidence], cluster: NDArray[np.intp] | None, scheme: Scheme
) -> list[tuple[str, str, PairedTest]]:
    """Every difference of ECE; none where there are too few questions, or too many bins for their covariance.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Key → one run as seen by one method, all with the same rows in the same order.
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, numbered from 0; None if each row is a question of its own.
    scheme : Scheme
    """
    keys, ece = list(evidences), METRICS["ece"]
    n_rows = evidences[keys[0]].n_used
    unit = np.arange(n_rows) if cluster is None else cluster
    n_units = int(unit.max()) + 1
    if n_units < MIN_QUESTIONS_OVER_BINS:
        return []
    parts = [metric_gaps(evidence, ece, scheme, unit) for evidence in evidences.values()]
    n_bins = [int(part.bin.max()) + 1 for part in parts]
    if sum(n_bins) > MAX_DIRECTIONAL_BINS:
        return []
    bins = joint_bin_means(parts, n_units)
    owner = np.repeat(np.arange(len(keys)), n_bins)
    places = list(combinations(range(len(keys)), 2))
    weights = np.array([(owner == i) * 1.0 - (owner == j) for i, j in places]).reshape(-1, owner.size)
    values = weights @ np.abs(bins.mean)
    tests: list[tuple[str, str, PairedTest]] = []
    lows, highs, p_values = directional_contrasts(bins, weights)
    for at, (i, j) in enumerate(places):
        test = PairedTest(
            float(values[at]), float(lows[at]), float(highs[at]), float(p_values[at]), n_rows, n_units
        )
        tests.append((keys[i], keys[j], test))
    return tests


def _too_few_questions(n_questions: int) -> str:
    return f"only {plural(n_questions, 'question')} in common; at least {MIN_COMMON_QUESTIONS} are needed"


def _with_corrected(
    tests: Mapping[str, Sequence[tuple[str, str, PairedTest]]],
    values: Mapping[str, Mapping[str, float]],
    datasets: Mapping[str, str | None],
    unpaired: Mapping[tuple[str, str], str],
) -> PairedComparison:
    """The comparison, its p-values corrected for all pairs of a metric."""
    pairs: dict[str, tuple[PairDifference, ...]] = {}
    family_sizes: dict[str, int] = {}
    for metric, of_metric in tests.items():
        corrected = corrected_p_values([test for _, _, test in of_metric])
        family_sizes[metric] = len(_different([test for _, _, test in of_metric]))
        pairs[metric] = tuple(
            PairDifference(metric, first, second, test, p_holm)
            for (first, second, test), p_holm in zip(of_metric, corrected, strict=True)
        )
    return PairedComparison(values, datasets, pairs, family_sizes, unpaired)


def _identity(test: PairedTest) -> tuple[float, float, int]:
    """What two tests of the same values share, such as those of two methods that judge one answer."""
    return abs(test.difference), test.high - test.low, test.n_rows


def _different(tests: Sequence[PairedTest]) -> dict[tuple[float, float, int], float]:
    """The p of each different test. Equal values cannot differ, so that they are no test at all."""
    return {_identity(test): test.p for test in tests if test.p < 1}


def corrected_p_values(tests: Sequence[PairedTest]) -> tuple[float, ...]:
    """Each p corrected for all that are different (Holm); tests of the same values share theirs."""
    different = _different(tests)
    corrected = dict(zip(different, holm(list(different.values())), strict=True))
    return tuple(corrected.get(_identity(test), 1.0) for test in tests)


class _Side:
    """The pairs of one run and method, and what can be computed without the other side of a comparison."""

    def __init__(self, evidence: AnswerEvidence) -> None:
        self._run = evidence.run
        self._pairs = evidence.confidences.pairs
        self._known: dict[str, tuple[float, NDArray[np.float64]]] = {}
        self._sides_of_one_more: dict[str, float] = {}
        self._position_of_row: NDArray[np.intp] | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs."""
        return self._pairs.rows.size

    def position_of_row(self) -> NDArray[np.intp]:
        """Position of each row of the run among the pairs; −1 for a row without."""
        if self._position_of_row is not None:
            return self._position_of_row
        position = np.full(self._run.rows.height, -1, np.intp)
        position[self._pairs.rows] = np.arange(self.n_pairs)
        if self.n_pairs <= MAX_KEPT_PAIRS:
            self._position_of_row = position
        return position

    def on(self, positions: NDArray[np.intp] | None) -> _SidePairs:
        """The pairs at distinct positions; None for all, in their order."""
        return _SidePairs(self, positions, self._pairs if positions is None else self._pairs.take(positions))

    def value_and_influence(
        self, metric: str, positions: NDArray[np.intp] | None
    ) -> tuple[float, NDArray[np.float64]]:
        """A metric on all pairs, kept for the next comparison, and its influences at these positions."""
        value, influence = self._known.get(metric) or _value_and_influence(metric, self._pairs)
        if self.n_pairs <= MAX_KEPT_PAIRS:
            self._known[metric] = value, influence
        return value, influence if positions is None else influence[positions]

    def side_of_one_more(self, metric: str) -> float:
        """As the function of this name, on all pairs."""
        if metric not in self._sides_of_one_more:
            self._sides_of_one_more[metric] = side_of_one_more(METRICS[metric], self._pairs)
        return self._sides_of_one_more[metric]


@dataclass(frozen=True, slots=True, eq=False)
class _SidePairs:
    """Pairs of one side, at these positions among all of them; None for all."""

    side: _Side
    positions: NDArray[np.intp] | None
    pairs: Pairs

    @property
    def are_all(self) -> bool:
        """Whether these are all pairs of the side."""
        return self.pairs.rows.size == self.side.n_pairs

    def value_and_influence(self, metric: str) -> tuple[float, NDArray[np.float64]]:
        """A metric on these pairs, and the influence of each."""
        if self.are_all:
            return self.side.value_and_influence(metric, self.positions)
        return _value_and_influence(metric, self.pairs)

    def side_of_one_more(self, metric: str) -> float:
        """As the function of this name, on these pairs."""
        if self.are_all:
            return self.side.side_of_one_more(metric)
        return side_of_one_more(METRICS[metric], self.pairs)


def _value_and_influence(metric: str, pairs: Pairs) -> tuple[float, NDArray[np.float64]]:
    return METRICS[metric].value_and_influence(pairs.confidence.astype(np.float64), pairs.correct)


@dataclass(frozen=True, slots=True, eq=False)
class _CommonPairs:
    """The pairs of two on their common questions, and the cluster of each question.

    `same_answers`: both judge the same answers of one run, so that they cannot differ in an outcome.
    """

    first: _SidePairs
    second: _SidePairs
    cluster: NDArray[np.intp] | None
    same_answers: bool


def _test(metric: str, rows: _CommonPairs) -> PairedTest | None:
    """The test of a metric's difference; None where it is not defined on the common questions."""
    first, of_first = rows.first.value_and_influence(metric)
    second, of_second = rows.second.value_and_influence(metric)
    if np.isnan(first) or np.isnan(second):
        return None
    one_more = (
        0.0
        if rows.same_answers
        else influence_of_one_more(
            METRICS[metric], rows.first.side_of_one_more(metric), rows.second.side_of_one_more(metric)
        )
    )
    return paired_test(first - second, of_first - of_second, rows.cluster, one_more=one_more)


class _Questions:
    """The questions of all runs, numbered once; runs whose rows cannot be told apart pair with themselves."""

    def __init__(self, evidences: Mapping[str, Evidence]) -> None:
        self._evidences = evidences
        runs = {
            id(evidence.run): evidence.run
            for evidence in evidences.values()
            if isinstance(evidence, AnswerEvidence)
        }
        identified = [run for run in runs.values() if len(runs) > 1 and identifies_questions(run)]
        self._numbers: QuestionNumbers | None = None
        self._no_numbers_reason = ""
        try:
            self._numbers = number_questions(identified) if identified else None
        except Unavailable as reason:
            self._no_numbers_reason = str(reason)
        self.by_row_number = self._numbers is not None and self._numbers.by_row_number
        self._index = {id(run): index for index, run in enumerate(identified)}
        self._rows: dict[tuple[int, int], tuple[NDArray[np.intp], NDArray[np.intp]]] = {}
        self._clusters: dict[int, NDArray[np.intp] | None] = {}
        self._sides: dict[str, _Side] = {}

    def common_pairs(self, first: str, second: str) -> _CommonPairs:
        """The pairs of two on the questions that both answered.

        Raises
        ------
        Unavailable
            If their questions cannot be paired, or they have fewer than `MIN_COMMON_QUESTIONS` in common.
        """
        one, other = (self._answer_evidence(key) for key in (first, second))
        rows = self._common_rows(one.run, other.run)
        sides = self._side(first), self._side(second)
        used = tuple(side.position_of_row()[of_run] for side, of_run in zip(sides, rows, strict=True))
        both = (used[0] >= 0) & (used[1] >= 0)
        cluster = self._cluster(one.run)
        cluster = None if cluster is None else cluster[rows[0][both]]
        n_questions = int(both.sum()) if cluster is None else np.unique(cluster).size
        if n_questions < MIN_COMMON_QUESTIONS:
            raise Unavailable(_too_few_questions(n_questions))
        here, there = (side.on(at[both]) for side, at in zip(sides, used, strict=True))
        same_answers = one.run is other.run and np.array_equal(here.pairs.correct, there.pairs.correct)
        return _CommonPairs(here, there, cluster, same_answers)

    def _side(self, key: str) -> _Side:
        if key not in self._sides:
            self._sides[key] = _Side(self._answer_evidence(key))
        return self._sides[key]

    def _answer_evidence(self, key: str) -> AnswerEvidence:
        evidence = self._evidences[key]
        if not isinstance(evidence, AnswerEvidence):
            raise Unavailable("a token-level run has no questions to pair")
        refuse_weights(evidence, "A paired difference")
        return evidence

    def _common_rows(self, first: AnswerRun, second: AnswerRun) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        if first is second:
            rows = np.arange(first.rows.height)
            return rows, rows
        if self._numbers is None and self._no_numbers_reason:
            raise Unavailable(self._no_numbers_reason)
        at = tuple(self._index.get(id(run), -1) for run in (first, second))
        if self._numbers is None or min(at) < 0:
            raise Unavailable(
                "some rows have no id or text of their own, so questions cannot be paired. "
                f"{row_number_advice()}"
            )
        if at not in self._rows:
            self._rows[at[0], at[1]] = self._numbers.common(at[0], at[1])
        return self._rows[at[0], at[1]]

    def _cluster(self, run: AnswerRun) -> NDArray[np.intp] | None:
        """The question that each row repeats, numbered; None where none is repeated."""
        if id(run) not in self._clusters:
            keys = repeated_question_keys(run)
            self._clusters[id(run)] = (
                None if keys is None else np.unique(keys.to_numpy(), return_inverse=True)[1].astype(np.intp)
            )
        return self._clusters[id(run)]


def _value(evidence: Evidence, metric: str) -> float | None:
    """The metric on all rows of the evidence; None where it is not defined."""
    return METRICS[metric].compute(evidence.top_label_sums, Scheme())


def _all_comparable(keys: Sequence[str], tested: set[frozenset[str]]) -> list[str]:
    """The keys of which every pair was tested: those with most untested pairs are left out, one by one."""
    untested = np.array(
        [[one != other and frozenset((one, other)) not in tested for other in keys] for one in keys], np.bool_
    ).reshape(len(keys), len(keys))
    left = np.ones(len(keys), np.bool_)
    while (count := (untested & left).sum(axis=1) * left).any():
        left[np.argmax(count)] = False
    return [key for key, kept in zip(keys, left, strict=True) if kept]


# --- In words -------------------------------------------------------------------------------------


def best_clause(best_set: BestSet, names: Mapping[str, str], value_text: str, noun: str, unit: str) -> str:
    """Who is best by one metric, as a clause; it begins with a capital unless with a name.

    Parameters
    ----------
    best_set : BestSet
    names : Mapping[str, str]
        Key → name; keys of one name are the same thing, such as one run by several methods.
    value_text : str
        The leader's value as shown.
    noun : str
        What the leader has: "highest accuracy".
    unit : str
        What is compared, in the singular: "point", "run".
    """
    if best_set.leader is None:
        return f"No point can be called the one with the {noun}: {best_set.no_best_reason}"
    leader = names[best_set.leader]
    others = list(dict.fromkeys(names[key] for key in best_set.best if names[key] != leader))
    n_compared = len({names[key] for key in best_set.compared})
    if best_set.n_uncompared and len(others) + 1 < n_compared:
        leader = f"Of the {n_compared} {unit}s that can be compared, {leader}"
    if not others:
        return f"{leader} has the {noun}, {value_text}"
    if len(others) + 1 == n_compared:
        none = f"Neither {unit}" if n_compared == 2 else f"None of the {n_compared} {unit}s"
        return f"{none} clearly has the {noun}; {leader} comes first with {value_text}"
    return (
        f"{leader} has the {noun}, {value_text}, but {abbreviated_list(others)} cannot be told apart from it"
    )


def abbreviated_list(names: Sequence[str]) -> str:
    """ "A, B and C"; of more than three names the first two, and the number of the others."""
    return join_names(names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"])


def paired_recipe(comparison: PairedComparison, metric: str) -> str:
    """How the differences of a metric were tested, for recipes; "" if none had to be."""
    pairs = comparison.pairs[metric]
    if not comparison.family_sizes[metric]:
        return ""
    counts = sorted({pair.test.n_clusters for pair in pairs})
    questions = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    n_pairs = plural(comparison.family_sizes[metric], "pair")
    how = ", the same by row number" if comparison.by_row_number else ""
    return f"paired t over {questions} common questions{how}, Holm over {n_pairs}"
