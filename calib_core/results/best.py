"""Which of several runs and methods are best, as far as the questions they share can tell?

Each pair is compared on the questions that both answered, by accuracy on all that have an outcome, and by
other metrics on those that have a confidence, too, and the p-values are corrected for all pairs
(Holm 1979). Best are all those that none of the others is clearly better than.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Final, overload

import numpy as np
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.clusters import effective_clusters, repeated_question_keys
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
    PairedTests,
    paired_test,
    paired_tests,
    squared_distances,
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
from calib_core.results.evidence import AnswerEvidence, Evidence
from calib_core.results.uncertainty import (
    common_weight,
    influence_of_one_more,
    influences_of_one_more,
    metric_gaps,
    side_of_one_more,
)
from calib_core.runs import AnswerRun
from calib_core.terms import ProbabilityOf, Terms
from calib_core.wording import ROUNDING_TOLERANCE, as_clause, format_count, join_names, plural

SKILL: Final = "brier_skill"

RANKED_METRICS: Final = (SKILL, "accuracy", "brier")
"""The metrics by which runs and methods are ranked, the leading one first."""

RANKED_FOR: Final[Mapping[ProbabilityOf, Sequence[str]]] = {"answer": RANKED_METRICS, "event": (SKILL,)}
"""What probabilities are of → the metrics that rank them.

A share of yes is not a merit, and the Brier score depends on it: always stating a rare event's scores low.
"""

RANKED_NAMES: Final[Mapping[str, str]] = {SKILL: "skill", "accuracy": "accuracy", "brier": "Brier"}
"""Their short names."""

MIN_SHARE_WITHOUT: Final = 0.1
"""With confidences missing from this share of the rows with an outcome, nothing but accuracy is ranked."""

MAX_KEPT_PAIRS: Final = 100_000
"""For a run with more pairs nothing is kept for the next comparison: it would take too much memory."""

MAX_VALUES_AT_ONCE: Final = 2**24
"""Of more runs times questions than this, each pair is tested by itself: all at once take too much memory."""

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


@dataclass(frozen=True, eq=False)
class PairDifferences(Sequence[PairDifference]):
    """Many differences by one metric, as columns of which an item is made when it is asked for.

    Several hundred runs are hundreds of thousands of pairs, of which hardly any is looked at.

    Attributes
    ----------
    metric : str
        Its id.
    keys : tuple of str
        What is compared.
    first, second : NDArray[np.intp], shape (pairs,)
        Places of the two among the keys.
    tests : NDArray[np.float64], shape (6, pairs)
        The fields of `PairedTest`, in their order.
    p_holm : NDArray[np.float64], shape (pairs,)
    """

    metric: str
    keys: tuple[str, ...]
    first: NDArray[np.intp]
    second: NDArray[np.intp]
    tests: NDArray[np.float64]
    p_holm: NDArray[np.float64]

    @classmethod
    def of(cls, pairs: Sequence[PairDifference]) -> PairDifferences:
        """Return these pairs, which are of one metric, as columns."""
        keys = tuple(dict.fromkeys(key for pair in pairs for key in (pair.first, pair.second)))
        place = {key: at for at, key in enumerate(keys)}
        return cls(
            pairs[0].metric if pairs else "",
            keys,
            np.array([place[pair.first] for pair in pairs], np.intp),
            np.array([place[pair.second] for pair in pairs], np.intp),
            _columns_of([pair.test for pair in pairs]),
            np.array([pair.p_holm for pair in pairs], np.float64),
        )

    def __len__(self) -> int:
        return self.first.size

    @overload
    def __getitem__(self, index: int) -> PairDifference: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PairDifference, ...]: ...
    def __getitem__(self, index: int | slice) -> PairDifference | tuple[PairDifference, ...]:
        if isinstance(index, slice):
            return tuple(map(self._item, range(*index.indices(len(self)))))
        return self._item(range(len(self))[index])

    def _item(self, at: int) -> PairDifference:
        difference, low, high, p, n_rows, n_clusters = self.tests[:, at].tolist()
        return PairDifference(
            self.metric,
            self.keys[int(self.first[at])],
            self.keys[int(self.second[at])],
            PairedTest(difference, low, high, p, int(n_rows), int(n_clusters)),
            float(self.p_holm[at]),
        )

    def between(self, first: str, second: str) -> PairDifference | None:
        """Return the difference of these two, in this order; None where there is none."""
        if first not in self._place or second not in self._place:
            return None
        order, pairs = self._order
        wanted = self._place[first] * len(self.keys) + self._place[second]
        at = int(np.searchsorted(pairs, wanted))
        return self._item(int(order[at])) if at < pairs.size and pairs[at] == wanted else None

    @cached_property
    def _place(self) -> dict[str, int]:
        return {key: at for at, key in enumerate(self.keys)}

    @cached_property
    def _order(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The pairs in the order of a number that each two places have, and these numbers."""
        pairs = self.first * len(self.keys) + self.second
        order = np.argsort(pairs, kind="stable")
        return order, pairs[order]

    def clearly_worse(self, without: frozenset[str]) -> frozenset[str]:
        """Return the keys that are clearly worse than another; `without`: of pairs without these."""
        counts = np.array([key not in without for key in self.keys], np.bool_)
        clear = (self.p_holm <= SIGNIFICANCE_LEVEL) & counts[self.first] & counts[self.second]
        first_is_higher = self.tests[0] > 0
        higher_is_better = METRICS[self.metric].direction == "higher" if self.metric else True
        worse = np.where(first_is_higher == higher_is_better, self.second, self.first)
        return frozenset(self.keys[int(at)] for at in np.unique(worse[clear]))

    def untested(self, keys: Sequence[str]) -> NDArray[np.bool_]:
        """Return for each two of the keys whether they have no test; shape (keys, keys)."""
        untested = ~np.eye(len(keys), dtype=np.bool_)
        place = {key: at for at, key in enumerate(keys)}
        asked = np.array([place.get(key, -1) for key in self.keys], np.intp)
        first, second = asked[self.first], asked[self.second]
        both = (first >= 0) & (second >= 0)
        untested[first[both], second[both]] = untested[second[both], first[both]] = False
        return untested


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
    pairs : Mapping[str, Sequence of PairDifference]
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
    pairs: Mapping[str, Sequence[PairDifference]]
    family_sizes: Mapping[str, int]
    unpaired: Mapping[tuple[str, str], str]
    by_row_number: bool = False
    n_rows: Mapping[str, int] = field(default_factory=dict[str, int])
    partial: frozenset[str] = frozenset()

    def pair(self, metric: str, first: str, second: str) -> PairDifference | None:
        """The difference of first minus second by a metric; None where it could not be tested."""
        pairs = self._columns.get(metric)
        if pairs is None:
            return None
        if (found := pairs.between(first, second)) is not None:
            return found
        found = pairs.between(second, first)
        return None if found is None else found.reversed()

    def question_counts(self, metric: str) -> list[int]:
        """The different numbers of common questions of the pairs by a metric, ascending."""
        return np.unique(self._columns[metric].tests[5]).astype(int).tolist()

    @cached_property
    def _columns(self) -> dict[str, PairDifferences]:
        return {
            metric: pairs if isinstance(pairs, PairDifferences) else PairDifferences.of(pairs)
            for metric, pairs in self.pairs.items()
        }

    @cached_property
    def _best_sets(self) -> dict[str, tuple[BestSet, ...]]:
        return {}

    def best_sets(self, metric: str) -> tuple[BestSet, ...]:
        """The best by a metric, one set for each data set."""
        if metric not in self._best_sets:
            by_dataset: defaultdict[str | None, list[str]] = defaultdict(list)
            for key, dataset in self.datasets.items():
                by_dataset[dataset].append(key)
            self._best_sets[metric] = tuple(
                self._best_set(metric, dataset, keys) for dataset, keys in by_dataset.items()
            )
        return self._best_sets[metric]

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
        compared = _all_comparable(list(values), self._columns[metric].untested(list(values)))

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
        worse = self._columns[metric].clearly_worse(unranked)
        best = [key for key in compared if key not in worse and self._may_be_best(key, metric)]
        if not best:
            return nobody("the points with the best value are worse than a constant guess")
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
    keys = list(tops)
    tests = {metric: _Tests(keys) for metric in metrics}
    questions = _Questions(tops)
    questions_with_outcome = questions if every == tops else _Questions(every)
    datasets = {key: top.run.info.dataset for key, top in tops.items()}
    n_candidates = sum(n * (n - 1) // 2 for n in Counter(datasets.values()).values())
    done = 0
    alike = _alike(questions, [key for key in keys if every[key] is tops[key]], metrics)
    for place, first in enumerate(keys):
        others = [at for at in range(place + 1, len(keys)) if datasets[keys[at]] == datasets[first]]
        beside = alike.get(first)
        at_once = [other for other in others if beside and beside.has(first, keys[other])]
        if beside and at_once:
            beside.test(first, [keys[other] for other in at_once], place, at_once, tests)
        for other in sorted({*others}.difference(at_once)):
            try:
                rows = of_all = questions.common_pairs(first, keys[other])
                if questions_with_outcome is not questions:
                    of_all = questions_with_outcome.common_pairs(first, keys[other])
                _add_tests(tests, place, other, rows, of_all)
            except Unavailable as reason:
                unpaired[first, keys[other]] = str(reason).rstrip(".")
        done += len(others)
        if done:
            on_progress(done / n_candidates)
    values = {
        id_: {
            key: value
            for key, evidence in (every if id_ == "accuracy" else tops).items()
            if (value := _value(evidence, id_)) is not None
        }
        for id_ in dict.fromkeys((*metrics, SKILL))
    }
    runs = np.unique([id(top.run) for top in tops.values()], return_inverse=True)[1]
    found = _with_corrected(tests, values, datasets, unpaired, runs)
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
    cluster, weight = first.cluster, first.weight
    keys = list(evidences)
    tests = {metric: _Tests(keys) for metric in (SKILL, "brier", "ece")}
    unpaired: dict[tuple[str, str], str] = {}
    sides = {key: _Side(evidence).on(None) for key, evidence in evidences.items()}
    if few := _too_few_questions(first.n_used, cluster, weight, first.terms):
        unpaired = dict.fromkeys(combinations(evidences, 2), few)
    else:
        for place, other_place in combinations(range(len(keys)), 2):
            one, other = keys[place], keys[other_place]
            same_answers = np.array_equal(sides[one].pairs.correct, sides[other].pairs.correct)
            rows = _CommonPairs(sides[one], sides[other], cluster, same_answers)
            for metric in (SKILL, "brier"):
                test = _test(metric, rows)
                if test is not None:
                    tests[metric].add(place, other_place, test)
        for one, other, test in ece_tests(evidences, cluster, scheme):
            tests["ece"].add(keys.index(one), keys.index(other), test)
    values = {
        id_: {
            key: value for key, evidence in evidences.items() if (value := _value(evidence, id_)) is not None
        }
        for id_ in (SKILL, "brier")
    }
    ece = METRICS["ece"]
    by_ece = {key: ece.compute(evidence.sums_for(ece, scheme), scheme) for key, evidence in evidences.items()}
    values["ece"] = {key: value for key, value in by_ece.items() if value is not None}
    datasets = dict.fromkeys(evidences, first.run.info.dataset)
    return _with_corrected(tests, values, datasets, unpaired, np.zeros(len(keys), np.intp))


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
    first = evidences[keys[0]]
    n_rows = first.n_used
    unit = np.arange(n_rows) if cluster is None else cluster
    n_units = int(unit.max()) + 1
    worth = effective_clusters(unit, first.weight) if first.weight is not None else n_units
    if worth < MIN_QUESTIONS_OVER_BINS * (1 - ROUNDING_TOLERANCE):
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


def _too_few_questions(
    n_rows: int, cluster: NDArray[np.intp] | None, weight: NDArray[np.float64] | None, terms: Terms
) -> str | None:
    """Why rows have too few questions to be compared, or worth too few of equal weight; None where not."""
    unit = np.arange(n_rows) if cluster is None else cluster
    n_questions = n_rows if cluster is None else np.unique(cluster).size
    worth = n_questions if weight is None else effective_clusters(unit, weight)
    if worth >= MIN_COMMON_QUESTIONS * (1 - ROUNDING_TOLERANCE):
        return None
    of_weight = "" if weight is None else f", worth {format_count(worth)} of equal weight"
    few = f"only {plural(n_questions, terms.question)} in common{of_weight}"
    return f"{few}; at least {MIN_COMMON_QUESTIONS} are needed"


def _with_corrected(
    tests: Mapping[str, _Tests],
    values: Mapping[str, Mapping[str, float]],
    datasets: Mapping[str, str | None],
    unpaired: Mapping[tuple[str, str], str],
    runs: NDArray[np.intp],
) -> PairedComparison:
    """The comparison, its p-values corrected for all pairs of a metric; `runs`: number of each key's run."""
    pairs: dict[str, PairDifferences] = {}
    family_sizes: dict[str, int] = {}
    for metric, of_metric in tests.items():
        first, second, columns = of_metric.columns()
        run_pair = np.sort((runs[first], runs[second]), axis=0)
        p_holm, family_sizes[metric] = _corrected(columns, run_pair)
        pairs[metric] = PairDifferences(metric, of_metric.keys, first, second, columns, p_holm)
    return PairedComparison(values, datasets, pairs, family_sizes, unpaired)


class _Tests:
    """The tests of one metric as they are made, of many pairs at once or of one."""

    def __init__(self, keys: Sequence[str]) -> None:
        self.keys = tuple(keys)
        self._blocks: list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]] = []
        self._single: list[tuple[int, int, PairedTest]] = []

    def add(self, first: int, second: int, test: PairedTest) -> None:
        """Add one test of the keys at these places."""
        self._single.append((first, second, test))

    def add_block(self, first: int, second: NDArray[np.intp], tests: PairedTests) -> None:
        """Add the tests of one key and each of several others."""
        columns = (tests.difference, tests.low, tests.high, tests.p, tests.n_rows, tests.n_rows)
        self._blocks.append((np.full(second.size, first), second, np.array(columns, np.float64)))

    def columns(self) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
        """The places of the first and the second keys, and the columns of the tests, by these places."""
        one_by_one = (
            np.array([first for first, _, _ in self._single], np.intp),
            np.array([second for _, second, _ in self._single], np.intp),
            _columns_of([test for _, _, test in self._single]),
        )
        first, second, tests = (
            np.concatenate(parts, axis=-1) for parts in zip(one_by_one, *self._blocks, strict=True)
        )
        order = np.lexsort((second, first))
        return first[order], second[order], tests[:, order]


def _columns_of(tests: Sequence[PairedTest]) -> NDArray[np.float64]:
    return np.array([astuple(test) for test in tests], np.float64).reshape(len(tests), 6).T


def _corrected(tests: NDArray[np.float64], run_pair: NDArray[np.intp]) -> tuple[NDArray[np.float64], int]:
    """Each p corrected for all that are different (Holm), and how many those are.

    Tests of the same two runs, shape (2, pairs), that have the same values share theirs, such as those of two
    methods that judge one answer. Equal values cannot differ, so that they are no test at all.
    """
    difference, low, high, p, n_rows, _ = tests
    if not p.size:
        return p, 0
    identity = np.stack((np.abs(difference), high - low, n_rows, *run_pair))
    order = np.lexsort(identity)
    is_new = np.append(True, (np.diff(identity[:, order], axis=1) != 0).any(axis=0))
    group = np.empty(p.size, np.intp)
    group[order] = np.cumsum(is_new) - 1
    p_of_group = np.full(group.max() + 1, np.inf)
    p_of_group[group[p < 1]] = p[p < 1]
    is_test = p_of_group < 1
    corrected = np.ones(p_of_group.size)
    corrected[is_test] = holm(p_of_group[is_test].tolist())
    return corrected[group], int(is_test.sum())


class _Side:
    """The pairs of one run and method, and what can be computed without the other side of a comparison."""

    def __init__(self, evidence: AnswerEvidence) -> None:
        self.run = evidence.run
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
        position = np.full(self.run.rows.height, -1, np.intp)
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
    return METRICS[metric].value_and_influence(
        pairs.confidence.astype(np.float64), pairs.correct, pairs.weight
    )


@dataclass(frozen=True, slots=True, eq=False)
class _CommonPairs:
    """The pairs of two on their common questions, and the cluster of each question.

    `same_answers`: both judge the same answers of one run, so that they cannot differ in an outcome.
    """

    first: _SidePairs
    second: _SidePairs
    cluster: NDArray[np.intp] | None
    same_answers: bool


def _add_tests(
    tests: Mapping[str, _Tests], first: int, second: int, rows: _CommonPairs, of_all: _CommonPairs
) -> None:
    """Add the test of each metric for the keys at two places; of accuracy on all rows with an outcome."""
    for metric, of_metric in tests.items():
        test = _test(metric, of_all if metric == "accuracy" else rows)
        if test is not None:
            of_metric.add(first, second, test)


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
    weight = rows.first.pairs.weight
    return paired_test(first - second, of_first - of_second, rows.cluster, weight, one_more=one_more)


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
        sides = self.side(first), self.side(second)
        used = tuple(side.position_of_row()[of_run] for side, of_run in zip(sides, rows, strict=True))
        both = (used[0] >= 0) & (used[1] >= 0)
        cluster = self._cluster(one.run)
        cluster = None if cluster is None else cluster[rows[0][both]]
        here, there = (side.on(at[both]) for side, at in zip(sides, used, strict=True))
        weight = common_weight(here.pairs.weight, there.pairs.weight)
        if few := _too_few_questions(int(both.sum()), cluster, weight, one.terms):
            raise Unavailable(few)
        same_answers = one.run is other.run and np.array_equal(here.pairs.correct, there.pairs.correct)
        return _CommonPairs(here, there, cluster, same_answers)

    def asked_once(self, key: str) -> object:
        """What is equal for two keys with pairs of the same questions, in the same order and asked once each.

        None where a question is asked twice or has no pair, where rows have weights, or there are too few.
        """
        evidence = self._evidences[key]
        if not isinstance(evidence, AnswerEvidence) or self._numbers is None or evidence.weight is not None:
            return None
        at = self._index.get(id(evidence.run), -1)
        rows, height = evidence.confidences.pairs.rows, evidence.run.rows.height
        has_all = np.array_equal(rows, np.arange(height))
        if at < 0 or height < MIN_COMMON_QUESTIONS or not has_all or evidence.cluster is not None:
            return None
        numbers = self._numbers
        return tuple(of[at].tobytes() for of in (numbers.by_run, numbers.gold_kind, numbers.gold))

    def side(self, key: str) -> _Side:
        """The pairs of one key."""
        if key not in self._sides:
            self._sides[key] = _Side(self._answer_evidence(key))
        return self._sides[key]

    def _answer_evidence(self, key: str) -> AnswerEvidence:
        evidence = self._evidences[key]
        if not isinstance(evidence, AnswerEvidence):
            raise Unavailable("a token-level run has no questions to pair")
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
                "some rows have no id and no text of their own, so they cannot be paired. "
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


class _Alike:
    """Runs and methods whose pairs are of the same questions in the same order, each asked once.

    So that all differences of one of them are tested at once.
    """

    def __init__(self, sides: Mapping[str, _Side], metrics: Sequence[str]) -> None:
        self._sides = sides
        self._place = {key: place for place, key in enumerate(sides)}
        self._run = {key: id(side.run) for key, side in sides.items()}
        self._n_questions = next(iter(sides.values())).n_pairs
        self._value: dict[str, NDArray[np.float64]] = {}
        self._squares: dict[str, NDArray[np.float64]] = {}
        for metric in metrics:
            values, influences = zip(
                *(side.value_and_influence(metric, None) for side in sides.values()), strict=True
            )
            self._value[metric] = np.array(values)
            self._squares[metric] = squared_distances(np.nan_to_num(np.stack(influences)))
        self._one_more = {
            metric: np.array([side.side_of_one_more(metric) for side in sides.values()]) for metric in metrics
        }

    def has(self, first: str, second: str) -> bool:
        """Whether these two are tested so: not two methods of one run."""
        return second in self._sides and self._run[first] != self._run[second]

    def test(
        self,
        first: str,
        second: Sequence[str],
        place: int,
        places: Sequence[int],
        tests: Mapping[str, _Tests],
    ) -> None:
        """Add the tests of one and each of several others, given with their places among all keys."""
        one, others = self._place[first], np.array([self._place[key] for key in second], np.intp)
        for metric, of_metric in tests.items():
            value = self._value[metric]
            if np.isnan(value[one]):
                continue
            defined = ~np.isnan(value[others])
            at = others[defined]
            one_more = influences_of_one_more(
                METRICS[metric], self._one_more[metric][one], self._one_more[metric][at]
            )
            squares = self._squares[metric][one, at]
            found = paired_tests(value[one] - value[at], squares, one_more, self._n_questions)
            of_metric.add_block(place, np.array(places, np.intp)[defined], found)


def _alike(questions: _Questions, keys: Sequence[str], metrics: Sequence[str]) -> dict[str, _Alike]:
    """Each of these keys that has others alike → all of them, where they are few enough to hold at once."""
    sides: defaultdict[object, dict[str, _Side]] = defaultdict(dict)
    for key in keys:
        if (asked := questions.asked_once(key)) is not None:
            sides[asked][key] = questions.side(key)
    return {
        key: group
        for of_group in sides.values()
        if len(of_group) > 2 and len(of_group) * next(iter(of_group.values())).n_pairs <= MAX_VALUES_AT_ONCE
        for group in [_Alike(of_group, metrics)]
        for key in of_group
    }


def _value(evidence: Evidence, metric: str) -> float | None:
    """The metric on all rows of the evidence; None where it is not defined."""
    return METRICS[metric].compute(evidence.top_label_sums, Scheme())


def _all_comparable(keys: Sequence[str], untested: NDArray[np.bool_]) -> list[str]:
    """The keys of which every pair was tested: those with most untested pairs are left out, one by one."""
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
    if not comparison.family_sizes[metric]:
        return ""
    counts = comparison.question_counts(metric)
    questions = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
    n_pairs = plural(comparison.family_sizes[metric], "pair")
    how = ", the same by row number" if comparison.by_row_number else ""
    return f"paired t over {questions} common questions{how}, Holm over {n_pairs}"
