"""Which model is both accurate and well calibrated? One point for each run and method, on two metrics.

Also what the points show together: the best ones, the rank correlation of the two metrics over the models,
and how much of a change in Brier score a(1 − a), the score of a constant confidence, explains.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, TypeAlias

import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.intervals import interval_contains
from calib_core.inference.missingness import Missingness, missing_caveat
from calib_core.inference.paired_test import PairedTest
from calib_core.inference.rank_correlation import MIN_POINTS, RankCorrelation, rank_correlation
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods import METHODS
from calib_core.metrics import METRICS
from calib_core.metrics.accuracy import ACCURACY
from calib_core.metrics.auroc import AUROC
from calib_core.metrics.brier import BRIER, brier_skill
from calib_core.metrics.ece import ECE
from calib_core.results.best import (
    MIN_SHARE_WITHOUT,
    RANKED_FOR,
    RANKED_NAMES,
    SKILL,
    BestSet,
    PairedComparison,
    abbreviated_list,
    compare_pairs,
    is_partial,
    paired_recipe,
)
from calib_core.results.columns import Column, Kind, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import Evidence, get_metric, kind_of
from calib_core.results.judged_answer import JudgedChoice, judged_by, judged_by_text
from calib_core.results.recipe import joint_rows_text, recipe_text, scheme_text
from calib_core.results.run_names import count_models, name_with_model, short_run_names, size_families
from calib_core.results.score import effective_scheme
from calib_core.results.uncertainty import metric_interval
from calib_core.runs import RunInfo
from calib_core.terms import ProbabilityOf, Terms, common_terms
from calib_core.wording import (
    NO_VALUE,
    as_clause,
    format_interval,
    format_percent,
    format_signed,
    join_names,
    p_value_phrase,
    plural,
    too_few_phrase,
)

BASE_METRICS: Final = (ACCURACY.id, BRIER.id)
"""The metrics every point has. The curve of a(1 − a) belongs to these two alone."""

DEFAULT_AXES: Final[Mapping[ProbabilityOf, tuple[str, str]]] = {
    "answer": BASE_METRICS,
    "event": (AUROC.id, BRIER.id),
}
"""What probabilities are of → the metrics on the axes where none is chosen."""

CONSTANT_GUESS: Final = "a constant guess"
"""What sentences call the confidence that always states the accuracy, of which the skill is 0."""

NO_POINTS: Final = "No run has both numbers."

_POINT_FIELDS: Final = ("run", "method", "ece_10", "n_used", "n_total", "judged", "recipe")


@dataclass(frozen=True, slots=True)
class MetricEstimate:
    """A metric with its 95 % interval.

    Attributes
    ----------
    metric : str
        Its id.
    value : float
    low, high : float or None
        The interval; None where there is none.
    interval_method : str or None
        How the interval was made, such as "Wilson 95 %".
    """

    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    interval_method: str | None = None


MetricEstimator: TypeAlias = Callable[[Evidence, str, Scheme], MetricEstimate]
"""`estimate_metric`, a function that takes the same estimate from a cache, or `estimate_value`."""


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonPoint:
    """One run seen by one method.

    Attributes
    ----------
    key : str
        As passed to `compare_runs`.
    run, name : str
        The run's full and short name.
    method : str
        The method's id.
    x, y : MetricEstimate
        The metrics on the two axes.
    accuracy, brier : MetricEstimate
        Of the top label in rows with a confidence, whichever metrics are on the axes.
    accuracy_of_all : MetricEstimate
        Of all rows with an outcome, with a confidence or without: the accuracy that is drawn and ranked.
    brier_skill : float or None
        1 − Brier / (a(1 − a)), with a the accuracy; None where all rows have the same outcome.
    ece_10 : float or None
        ECE over ten bins of equal width.
    n_used, n_total : int
        Rows or positions used, and in the file.
    judged : str
        Which answer the outcome belongs to.
    recipe : str
        How accuracy and Brier score were made.
    missing : Missingness or None
        Accuracy of the rows without a confidence beside that of the others; None where no row lacks one.
    """

    key: str
    run: str
    name: str
    method: str
    x: MetricEstimate
    y: MetricEstimate
    accuracy: MetricEstimate
    accuracy_of_all: MetricEstimate
    brier: MetricEstimate
    brier_skill: float | None
    ece_10: float | None
    n_used: int
    n_total: int
    judged: str
    recipe: str
    missing: Missingness | None

    @property
    def terms(self) -> Terms:
        """The words for its probabilities and outcomes."""
        return METHODS[self.method].terms

    @property
    def n_judged(self) -> int:
        """Rows or positions with an outcome, with a confidence or without."""
        return self.n_used + (self.missing.n if self.missing else 0)

    @property
    def is_partial(self) -> bool:
        """Whether a tenth or more of the rows with an outcome lack a confidence: only accuracies rank."""
        return is_partial(self.n_used, self.n_judged)

    @property
    def is_below(self) -> bool:
        """Whether the whole interval of the Brier score is below that of always stating the accuracy."""
        return self.brier.high is not None and self.brier.high < self.constant_brier

    @property
    def constant_brier(self) -> float:
        """a(1 − a): the Brier score of always stating a, the accuracy of the rows with a confidence."""
        return self.accuracy.value * (1 - self.accuracy.value)


def estimate_metric(evidence: Evidence, metric_id: str, scheme: Scheme) -> MetricEstimate:
    """A metric with its interval; raises as `estimate_value`."""
    estimate = estimate_value(evidence, metric_id, scheme)
    interval = metric_interval(evidence, metric_id, effective_scheme(METRICS[metric_id], scheme))
    if interval is None:
        return estimate
    return replace(estimate, low=interval.low, high=interval.high, interval_method=interval.interval_method)


def estimate_value(evidence: Evidence, metric_id: str, scheme: Scheme) -> MetricEstimate:
    """A metric without its interval, which takes nearly all of the time.

    Raises
    ------
    Unavailable
        Where the evidence does not support the metric, or it is undefined, infinite or known only within
        bounds.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme)
    sums = evidence.sums_for(metric, scheme)
    if evidence.bounds(metric, scheme) is not None:
        raise Unavailable(f"Only bounds of {metric.title} are known for this run.")
    value = metric.compute(sums, scheme)
    if value is None:
        raise Unavailable(f"{metric.title} is not defined for these rows.")
    if not math.isfinite(value):
        raise Unavailable(f"{metric.title} is ∞: a right answer was given probability 0.")
    return MetricEstimate(metric_id, value)


def comparison_point(
    key: str,
    names: tuple[str, str],
    evidence: Evidence,
    axes: tuple[str, str],
    scheme: Scheme,
    estimator: MetricEstimator = estimate_metric,
) -> ComparisonPoint:
    """The point of one evidence.

    Parameters
    ----------
    key : str
    names : tuple[str, str]
        The run's full and short name.
    evidence : Evidence
    axes : tuple[str, str]
        Metric ids for x and y.
    scheme : Scheme
        Bins of the metrics that have bins.
    estimator : callable

    Raises
    ------
    Unavailable
        As `estimate_metric`.
    """
    top = evidence.top_label
    accuracy, brier = (estimator(top, id_, scheme) for id_ in BASE_METRICS)
    every = top.every_outcome
    of_all = accuracy if every is top else estimate_metric(every, ACCURACY.id, scheme)  # takes no time
    on_axes = (estimator(evidence, id_, scheme) for id_ in axes)
    x, y = (of_all if estimate.metric == ACCURACY.id else estimate for estimate in on_axes)
    return ComparisonPoint(
        key=key,
        run=names[0],
        name=names[1],
        method=evidence.method.id,
        x=x,
        y=y,
        accuracy=accuracy,
        accuracy_of_all=of_all,
        brier=brier,
        brier_skill=brier_skill(brier.value, accuracy.value),
        ece_10=ECE.compute(evidence.top_label_sums, Scheme()),
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        judged=evidence.judged,
        recipe=", ".join(
            (
                *(_estimate_recipe(one, top.terms) for one in (accuracy, brier)),
                recipe_text(top, None, None),
            )
        ),
        missing=top.missingness,
    )


def _estimate_recipe(estimate: MetricEstimate, terms: Terms) -> str:
    """ "accuracy (Wilson 95 %)"."""
    return (
        f"{METRICS[estimate.metric].worded(terms).recipe_name} ({estimate.interval_method or 'no interval'})"
    )


@dataclass(frozen=True, slots=True)
class BrierChange:
    """The change from the least to the most accurate point.

    Attributes
    ----------
    least_accurate, most_accurate : str
        Keys of the two points.
    brier_change : float
        Brier score of the most accurate point minus that of the least accurate one: on their common
        questions, or of all rows where there are too few.
    on_common_questions : PairedTest or None
        The test of this difference; None where there are too few common questions.
    constant_brier_change : float
        The same change of a(1 − a).
    """

    least_accurate: str
    most_accurate: str
    brier_change: float
    on_common_questions: PairedTest | None
    constant_brier_change: float


@dataclass(frozen=True, slots=True)
class Trend:
    """What the points of one method on one data set show together.

    Attributes
    ----------
    method : str
        The method's id.
    dataset : str or None
        None where the files name none.
    n_points, n_models : int
        Number of points, and of models among them.
    correlation : RankCorrelation or None
        Rank correlation of the metrics on the two axes.
    no_correlation_reason : str or None
        Why there is none.
    change : BrierChange or None
        Only for accuracy against Brier score.
    no_change_reason : str or None
        Why there is none.
    headline : str
        All of it in words.
    """

    method: str
    dataset: str | None
    n_points: int
    n_models: int
    correlation: RankCorrelation | None
    no_correlation_reason: str | None
    change: BrierChange | None
    no_change_reason: str | None
    headline: str


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Displayable):
    """Runs and methods as points on two metrics.

    Attributes
    ----------
    x, y : str
        Metric ids of the axes.
    scheme : Scheme
        Bins of the metrics that have bins.
    points : tuple[ComparisonPoint, ...]
        In the order of the evidences.
    size_families : tuple[tuple[str, ...], ...]
        Keys of points that are one model in several sizes, seen by one method, smallest first.
    trends : tuple[Trend, ...]
        One for each method and data set.
    unavailable : Mapping[str, str]
        Key → why it has no point.
    paired : PairedComparison
        Every pair of points on their common questions, by Brier skill, accuracy and Brier score.
    headline : str
        The best points in one sentence.
    caveats : tuple[str, ...]
        Sentences on differences between the points that limit the comparison, what matters most first.
    remarks : tuple[str, ...]
        Sentences on differences that change nothing of it.
    recipe : str
        How the points were made.
    """

    x: str
    y: str
    scheme: Scheme
    points: tuple[ComparisonPoint, ...]
    size_families: tuple[tuple[str, ...], ...]
    trends: tuple[Trend, ...]
    unavailable: Mapping[str, str]
    paired: PairedComparison
    headline: str
    caveats: tuple[str, ...]
    recipe: str
    remarks: tuple[str, ...] = ()

    @cached_property
    def terms(self) -> Terms:
        """The words for the points, which are of one kind."""
        return common_terms(point.terms for point in self.points)

    @property
    def has_reference_curves(self) -> bool:
        """Whether a(1 − a) and 1 − a are curves in this picture."""
        return (self.x, self.y) == BASE_METRICS

    @cached_property
    def has_unpaired_outcomes(self) -> bool:
        """Whether a point has rows with an outcome and no confidence, so that it has two accuracies."""
        return any(point.missing is not None for point in self.points)

    @property
    def points_by_brier(self) -> tuple[ComparisonPoint, ...]:
        """The points, lowest Brier score first."""
        return tuple(sorted(self.points, key=lambda point: point.brier.value))

    @cached_property
    def run_numbers(self) -> dict[str, int]:
        """Full name of each run → its number by accuracy, from 1 for the most accurate.

        Of several points of a run the most accurate counts. Those of events are numbered by skill.
        """
        if self.terms.of == "event":
            runs = dict.fromkeys(point.run for point in self.points_by_skill)
            return {run: number for number, run in enumerate(runs, 1)}
        place: dict[str, float] = {}
        for point in self.points:
            here = -point.accuracy_of_all.value
            place[point.run] = min(place.get(point.run, here), here)
        return {run: number for number, run in enumerate(sorted(place, key=place.__getitem__), 1)}

    @property
    def points_by_number(self) -> tuple[ComparisonPoint, ...]:
        """The points by the number of their run; those of one run by skill, the highest first."""
        return tuple(sorted(self.points_by_skill, key=lambda point: self.run_numbers[point.run]))

    @property
    def points_by_skill(self) -> tuple[ComparisonPoint, ...]:
        """The points, highest skill first; those without one, which have one outcome, last."""
        return tuple(
            sorted(
                self.points,
                key=lambda point: (point.brier_skill is None, -(point.brier_skill or 0), point.brier.value),
            )
        )

    @cached_property
    def best_by(self) -> dict[str, tuple[str, ...]]:
        """Key of each point → ids of the metrics by which it is best in its data set."""
        ranked = RANKED_FOR["event" if self.terms.of == "event" else "answer"]
        best = {metric: self.paired.best(metric) for metric in ranked}
        return {
            point.key: tuple(metric for metric in ranked if point.key in best[metric])
            for point in self.points
        }

    def best_by_text(self, key: str) -> str:
        """The metrics by which a point is among the best: "skill, accuracy"; "" where by none."""
        return ", ".join(RANKED_NAMES[metric] for metric in self.best_by[key])

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of points."""
        others = [id_ for id_ in dict.fromkeys((self.x, self.y)) if id_ not in BASE_METRICS]
        terms = self.terms
        of_all = (
            f"On all rows with an outcome, with or without a {terms.confidence}: the {terms.accuracy} that "
            "is drawn and ranked."
        )
        best_by = (
            f"Points not clearly worse than any other of their data set on common {terms.questions} (paired "
            "t, corrected for all pairs). For skill and Brier score, points worse than always stating the "
            f"{terms.accuracy} do not count."
        )
        skill = Column(
            "skill",
            "Skill",
            "signed",
            f"Brier skill score: 1 − Brier/(a(1−a)), where a is the {terms.accuracy}.",
        )
        ranks_first = terms.of == "event"
        return (
            Column("run", "Run"),
            Column("method", "Method", "method"),
            *((skill,) if ranks_first else ()),
            *(
                (
                    *_estimate_columns(
                        terms, "accuracy_of_all", f"{terms.accuracy_title} of all", "share", of_all
                    ),
                    *_estimate_columns(
                        terms, ACCURACY.id, f"{terms.accuracy_title} with {terms.confidence}", "share"
                    ),
                )
                if self.has_unpaired_outcomes
                else _estimate_columns(terms, ACCURACY.id, terms.accuracy_title, "share")
            ),
            *_estimate_columns(terms, BRIER.id, BRIER.name),
            *(column for id_ in others for column in _estimate_columns(terms, id_)),
            *(() if ranks_first else (skill,)),
            Column("best_by", "Best by", help=best_by),
            Column(
                "ece_10",
                "ECE, M = 10" if ECE.id in others else ECE.title,
                "number",
                f"M = 10 bins of equal width. {ECE.worded(terms).help}",
            ),
            Column("n_used", "Rows used", "count"),
            Column("n_total", "Rows", "count"),
            Column("judged", "Judged"),
            Column("recipe"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each point, highest skill first: all numbers with intervals, and the recipe."""
        return self.frame_of(self.points_by_skill)

    def frame_of(self, points: Iterable[ComparisonPoint]) -> pl.DataFrame:
        """One row for each of these points."""
        return frame_of(self.columns, (_point_row(point, self.best_by[point.key]) for point in points))


def _estimate_columns(
    terms: Terms, name: str, title: str = "", kind: Kind = "number", help_: str = ""
) -> tuple[Column, ...]:
    """The value of a metric, and its interval in one column."""
    title = title or METRICS[name].worded(terms).title
    return (
        Column(name, title, kind, help_ or METRICS[name].worded(terms).help),
        Column(f"{name}_low", f"{title} 95 %", kind, upper=f"{name}_high"),
        Column(f"{name}_high", kind=kind),
    )


def compare_runs(  # noqa: PLR0913  one parameter a choice
    evidences: Mapping[str, Evidence],
    x: str = "",
    y: str = "",
    scheme: Scheme | None = None,
    *,
    of: ProbabilityOf | None = None,
    titles: Mapping[str, str] | None = None,
    available_methods: Collection[str] = (),
    judged_choice: JudgedChoice = "own",
    estimator: MetricEstimator = estimate_metric,
) -> Comparison:
    """One point for each evidence, on two metrics, and each pair of them on their common questions.

    Parameters
    ----------
    evidences, x, y, scheme, of, titles, judged_choice, estimator
        As in `place_runs`.
    available_methods : collection of str
        As in `PlacedRuns.compared`.

    Returns
    -------
    Comparison

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    placed = place_runs(
        evidences, x, y, scheme, of=of, titles=titles, judged_choice=judged_choice, estimator=estimator
    )
    return placed.compared(placed.pairs(), available_methods)


def place_runs(
    evidences: Mapping[str, Evidence],
    x: str = "",
    y: str = "",
    scheme: Scheme | None = None,
    *,
    of: ProbabilityOf | None = None,
    titles: Mapping[str, str] | None = None,
    judged_choice: JudgedChoice = "own",
    estimator: MetricEstimator = estimate_metric,
) -> PlacedRuns:
    """One point for each evidence, on two metrics.

    Parameters
    ----------
    evidences : Mapping[str, Evidence]
        Key → one run as seen by one method.
    x, y : str
        Metric ids; `DEFAULT_AXES` where omitted.
    scheme : Scheme, optional
        Bins of the metrics that have bins; ten of equal width where omitted.
    of : {"answer", "event"}, optional
        What the compared probabilities are of, as they never share a picture; the kind of most evidences
        where omitted.
    titles : Mapping[str, str], optional
        Key → full name of the run; its label where omitted.
    judged_choice : {"own", "greedy", "majority"}
        Which answer's outcome the methods are judged by.
    estimator : callable
        Computes each metric with its interval, or takes it from a cache.

    Returns
    -------
    PlacedRuns
        An evidence of the other kind, or that does not support both metrics, or has an undefined or infinite
        one, or no outcome of the answer that all are judged by, is in `unavailable`.

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    of_kind, unavailable = of_one_kind(evidences, of)
    kind = kind_of(of_kind.values())
    x, y = x or DEFAULT_AXES[kind][0], y or DEFAULT_AXES[kind][1]
    for id_ in (x, y):
        get_metric(id_)
    scheme = scheme or Scheme()
    names = _full_and_short_names(
        evidences, titles or {key: evidence.run.label for key, evidence in evidences.items()}
    )
    points: list[ComparisonPoint] = []
    placed: dict[str, Evidence] = {}
    for key, own_evidence in of_kind.items():
        try:
            evidence = judged_by(own_evidence, judged_choice)
            points.append(comparison_point(key, names[key], evidence, (x, y), scheme, estimator))
        except Unavailable as reason:
            unavailable[key] = str(reason)
        else:
            placed[key] = evidence
    infos = {key: evidence.run.info for key, evidence in placed.items()}
    picture = Comparison(
        x=x,
        y=y,
        scheme=scheme,
        points=tuple(points),
        size_families=tuple(
            family
            for group in _points_by_method_and_dataset(points, infos)
            for family in size_families({point.key: infos[point.key] for point in group})
        ),
        trends=(),
        unavailable=unavailable,
        paired=PairedComparison({}, {}, {}, {}, {}),
        headline="",
        caveats=tuple(_point_caveats(_with_models(points, infos), infos)),
        recipe="",
    )
    return PlacedRuns(picture, placed, judged_choice)


@dataclass(frozen=True, slots=True, eq=False)
class PlacedRuns:
    """Runs and methods as points, before any two of them are compared.

    Attributes
    ----------
    picture : Comparison
        The points, without what only their pairs tell: headline, trends, remarks and recipe.
    evidences : Mapping[str, Evidence]
        Key of each point → its evidence, judged by the chosen answer.
    judged_choice : {"own", "greedy", "majority"}
        Which answer's outcome the methods are judged by.
    """

    picture: Comparison
    evidences: Mapping[str, Evidence]
    judged_choice: JudgedChoice

    def pairs(self, on_progress: Callable[[float], None] = lambda _share: None) -> PairedComparison:
        """Compares each pair of the points on their common questions, whichever metrics are on the axes.

        Parameters
        ----------
        on_progress : callable
            Called with the share of the pairs that is done, in (0, 1].
        """
        ranked = RANKED_FOR[kind_of(self.evidences.values())]
        return compare_pairs(self.evidences, ranked, on_progress=on_progress)

    def compared(self, paired: PairedComparison, available_methods: Collection[str] = ()) -> Comparison:
        """The points with all that their pairs tell.

        Parameters
        ----------
        paired : PairedComparison
            As `pairs` returns it.
        available_methods : collection of str
            Ids of all methods the runs support, among these or not.
        """
        picture, points = self.picture, self.picture.points
        infos = {key: evidence.run.info for key, evidence in self.evidences.items()}
        named_points = _with_models(points, infos)
        return replace(
            picture,
            trends=tuple(
                comparison_trend(picture.x, picture.y, group, infos, paired)
                for group in _points_by_method_and_dataset(named_points, infos)
            ),
            paired=paired,
            headline=comparison_headline(named_points, paired),
            remarks=tuple(_point_remarks(points, paired, available_methods)),
            recipe=_comparison_recipe(
                points,
                (picture.x, picture.y),
                picture.scheme,
                self.judged_choice,
                paired,
                joint_rows_text(self.evidences.values()),
            ),
        )


def _with_models(points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]) -> list[ComparisonPoint]:
    """The points, named with their model."""
    return [replace(point, name=name_with_model(point.name, infos[point.key])) for point in points]


def of_one_kind(
    evidences: Mapping[str, Evidence], of: ProbabilityOf | None = None
) -> tuple[dict[str, Evidence], dict[str, str]]:
    """The evidences of one kind, and for each of the others why it is not compared with them.

    Parameters
    ----------
    evidences : Mapping[str, Evidence]
        Key → one run as seen by one method.
    of : {"answer", "event"}, optional
        What the probabilities are of; the kind of most evidences where omitted.
    """
    kinds: dict[str, ProbabilityOf] = {
        key: evidence.method.probability_of for key, evidence in evidences.items()
    }
    if of is None and kinds:
        of = Counter(kinds.values()).most_common(1)[0][0]
    reason = f"Its probability is not that of an {of}, so it is not compared with those that are."
    return (
        {key: evidence for key, evidence in evidences.items() if kinds[key] == of},
        {key: reason for key, kind in kinds.items() if kind != of},
    )


def _points_by_method_and_dataset(
    points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]
) -> list[list[ComparisonPoint]]:
    """The points, grouped by method and data set."""
    groups: dict[tuple[str, str | None], list[ComparisonPoint]] = defaultdict(list)
    for point in points:
        groups[point.method, infos[point.key].dataset].append(point)
    return list(groups.values())


def _full_and_short_names(
    evidences: Mapping[str, Evidence], titles: Mapping[str, str]
) -> dict[str, tuple[str, str]]:
    """Key → the run's full and short name, which do not depend on the method."""
    infos: dict[str, RunInfo] = {titles[key]: evidence.run.info for key, evidence in evidences.items()}
    names = short_run_names(infos, {title: title for title in infos})
    return {key: (titles[key], names[titles[key]]) for key in evidences}


def _point_caveats(points: Sequence[ComparisonPoint], infos: Mapping[str, RunInfo]) -> Iterator[str]:
    """Differences between the points other than model and method, as sentences, what matters most first."""
    if caveat := partial_caveat(points):
        yield caveat
    terms = common_terms(point.terms for point in points)
    shares = sorted((point.accuracy.value, format_percent(point.accuracy.value)) for point in points)
    if terms.of == "event" and shares[0][1] != shares[-1][1]:
        yield (
            f"The {terms.accuracy} ranges from {shares[0][1]} to {shares[-1][1]}. The Brier score depends "
            "on it, so points are ranked by skill, which allows for it."
        )
    judged_counts = Counter(point.judged for point in points)
    if len(judged_counts) > 1:
        counts = ", ".join(f"{answer} ({count})" for answer, count in judged_counts.most_common())
        yield f"The points judge different answers, so their accuracies differ: {counts}."
    for field, title in (("dataset", "data sets"), ("shots", "numbers of shots")):
        values = {getattr(infos[point.key], field) for point in points}
        if len(values) > 1:
            yield f"The points come from {len(values)} {title}: compare within one."


def partial_caveat(points: Sequence[ComparisonPoint]) -> str:
    """Which runs lack confidences on so many rows that their points are hollow; "" where none does."""
    partial = [point for point in points if point.is_partial]
    if not partial:
        return ""
    is_whole_run = {point.name: True for point in partial} | {
        point.name: False for point in points if not point.is_partial
    }
    names = [
        point.name if is_whole_run[point.name] else f"{point.name} by its {METHODS[point.method].title}"
        for point in partial
    ]
    if len(set(names)) > 1:
        listed = abbreviated_list(list(dict.fromkeys(names)))
        confidences = common_terms(point.terms for point in partial).confidences
        return f"Not ranked: {listed} lack {confidences} on a tenth or more of their rows."
    found, terms = partial[0].missing, partial[0].terms
    often = f", which {terms.right_how_often(f'{found.direction} often')}" if found and found.is_clear else ""
    share = format_percent(1 - partial[0].n_used / partial[0].n_judged)
    return f"Not ranked: {names[0]} lacks {terms.confidences} on {share} of rows{often}."


def _point_remarks(
    points: Sequence[ComparisonPoint], paired: PairedComparison, available_methods: Collection[str]
) -> Iterator[str]:
    """What else differs between the points, or is not compared, as sentences."""
    terms = common_terms(point.terms for point in points)
    of_all = (
        f"{terms.accuracy} uses all rows with an outcome, all other numbers those with a {terms.confidence}"
    )
    if caveat := missing_caveat(((f"in {point.name}", point.missing) for point in points), of_all):
        yield caveat
    shown = {point.method for point in points}
    available = shown.union(available_methods)
    if points and shown < available:
        verb = "is" if len(shown) == 1 else "are"
        yield f"{len(shown)} of {plural(len(available), 'method')} {verb} compared."
    if paired.unpaired:
        n_pairs = len(paired.unpaired) + max(map(len, paired.pairs.values()))
        reason = as_clause(min(paired.unpaired.values()))
        yield f"{len(paired.unpaired)} of {plural(n_pairs, 'pair')} of points cannot be compared: {reason}."
    n_thin = sum(point.n_used < MIN_ROWS for point in points)
    if 0 < n_thin < len(points):
        yield (
            f"{n_thin} of {plural(len(points), 'point')} {'has' if n_thin == 1 else 'have'} fewer than "
            f"{MIN_ROWS} rows, too few to be called the best."
        )
    row_counts = sorted({point.n_used for point in points})
    if len(row_counts) > 1:
        yield f"The points have different numbers of rows: {row_counts[0]:,} to {row_counts[-1]:,}."


def _comparison_recipe(
    points: Sequence[ComparisonPoint],
    axes: tuple[str, str],
    scheme: Scheme,
    judged_choice: JudgedChoice,
    paired: PairedComparison,
    rows: str,
) -> str:
    """ "accuracy (Wilson 95 %) against Brier (basic bootstrap …), top label, n=1000/1000"."""
    parts = [_axis_recipe(points, axis_index, id_, scheme) for axis_index, id_ in enumerate(axes)]
    row_counts = sorted({(point.n_used, point.n_total) for point in points})
    if not row_counts:
        return " against ".join(parts)
    (low_used, low_total), (high_used, high_total) = row_counts[0], row_counts[-1]
    n = (
        f"n={low_used}/{low_total}"
        if len(row_counts) == 1
        else f"n={low_used}/{low_total} to {high_used}/{high_total}"
    )
    terms = common_terms(point.terms for point in points)
    best = paired_recipe(paired, next(iter(paired.pairs)))
    of_all = (
        f", {terms.accuracy} of all rows with an outcome" if any(point.missing for point in points) else ""
    )
    judged = "" if judged_choice == "own" else f"all {judged_by_text(judged_choice)}, "
    label = "" if terms.of == "event" else "top label, "
    rows = f", {rows}" if rows else ""
    return f"{' against '.join(parts)}, {label}{judged}{n}{rows}{of_all}{best and f'; best: {best}'}"


def _axis_recipe(points: Sequence[ComparisonPoint], axis_index: int, metric_id: str, scheme: Scheme) -> str:
    metric = METRICS[metric_id].worded(common_terms(point.terms for point in points))
    bins = f", {scheme_text(effective_scheme(metric, scheme))}" if metric.binned else ""
    interval_methods = {(point.x, point.y)[axis_index].interval_method or "no interval" for point in points}
    return (
        f"{metric.recipe_name}{bins} ({'; '.join(sorted(interval_methods))})"
        if interval_methods
        else f"{metric.recipe_name}{bins}"
    )


def _point_row(point: ComparisonPoint, best_by: Sequence[str]) -> dict[str, Any]:
    """The fields of a point by the names of the columns; each metric with the ends of its interval."""
    named = {estimate.metric: estimate for estimate in (point.x, point.y, point.accuracy, point.brier)}
    ends = {
        f"{name}{end}": value
        for name, estimate in (named | {"accuracy_of_all": point.accuracy_of_all}).items()
        for end, value in (("", estimate.value), ("_low", estimate.low), ("_high", estimate.high))
    }
    fields = {name: getattr(point, name) for name in _POINT_FIELDS}
    return {**fields, **ends, "skill": point.brier_skill, "best_by": ", ".join(best_by)}


# --- The best points in words ---------------------------------------------------------------------


def comparison_headline(points: Sequence[ComparisonPoint], paired: PairedComparison) -> str:
    """Which points have the highest skill, and which runs the highest accuracy, as far as can be told.

    Parameters
    ----------
    points : sequence of ComparisonPoint
    paired : PairedComparison
        Of the same points.
    """
    if not points:
        return NO_POINTS
    if len(points) == 1:
        return f"{_few_rows_prefix(points)}{_one_point_clause(points[0])}."
    if paired.unpaired and not any(paired.pairs.values()):
        why = f"No two runs can be compared on the same {points[0].terms.questions}."
        return f"{_few_rows_prefix(points)}{why}"
    ranks_accuracy = len({point.name for point in points}) > 1 and ACCURACY.id in paired.pairs
    metrics = (SKILL, ACCURACY.id) if ranks_accuracy else (SKILL,)
    clauses = dict.fromkeys(best_points_clause(points, paired, id_) for id_ in metrics)
    return f"{_few_rows_prefix(points)}{'. '.join(clauses)}."


def _few_rows_prefix(points: Sequence[ComparisonPoint]) -> str:
    most_rows = max(point.n_used for point in points)
    return "" if most_rows >= MIN_ROWS else f"{too_few_phrase(most_rows, 'row')}: "


def _one_point_clause(point: ComparisonPoint) -> str:
    return (
        f"{point.name} has {point.terms.accuracy} {format_percent(point.accuracy_of_all.value)} and Brier "
        "score "
        f"{point.brier.value:.4f}"
    )


def best_points_clause(points: Sequence[ComparisonPoint], paired: PairedComparison, metric: str) -> str:
    """Who is best by skill, named with the method, or by accuracy, named as a run."""
    best_sets = paired.best_sets(metric)
    if len(best_sets) > 2:
        return f"The points come from {len(best_sets)} data sets; runs are ranked within one data set only"
    clauses = [_best_set_clause(points, best_set, paired) for best_set in best_sets]
    if len(best_sets) > 1:
        datasets = [best_set.dataset or "an unnamed data set" for best_set in best_sets]
        clauses = [f"On {dataset}: {clause}" for dataset, clause in zip(datasets, clauses, strict=True)]
    return ". ".join(clauses)


def _best_set_clause(points: Sequence[ComparisonPoint], best_set: BestSet, paired: PairedComparison) -> str:
    """Who is best within one data set, and whose distance from it may be chance."""
    metric, by_key = best_set.metric, {point.key: point for point in points}
    by_skill = metric != ACCURACY.id
    if best_set.leader is None:
        return _no_best_clause(best_set, by_key, paired)
    with_method = by_skill and len({point.method for point in points}) > 1
    names = {
        key: f"{point.name} by its {METHODS[point.method].title}" if with_method else point.name
        for key, point in by_key.items()
    }
    leader, values = by_key[best_set.leader], paired.values[metric]
    name = f"{leader.name}, judged by its {METHODS[leader.method].title}," if with_method else leader.name
    value = f"{point_value_text(leader, metric)}{rows_note(leader, metric)}"
    others = {names[key]: key for key in best_set.best if names[key] != names[leader.key]}
    by_confidence = paired.best_sets(SKILL) if SKILL in paired.pairs else ()
    has_led = any(one.leader is not None and leader.name == by_key[one.leader].name for one in by_confidence)
    n_compared = len({names[key] for key in best_set.compared})
    if best_set.n_uncompared and len(others) + 1 < n_compared:
        name = f"Of the {n_compared} {'points' if by_skill else 'runs'} that can be compared, {name}"
    elif has_led and not by_skill and len(by_confidence) == 1:
        name = "It"  # the subject of the sentence before
    claim = f"is {'also ' if has_led else ''}the most accurate"
    if by_skill:
        claim = (
            f"beats {CONSTANT_GUESS} by most" if leader.is_below else f"does best against {CONSTANT_GUESS}"
        )
    equal = [other for other, key in others.items() if values[key] == values[leader.key]]
    behind = [other for other in others if other not in equal]
    score = "scores" if len(equal) == 1 else "score"
    same = f"; {_names_or_count(equal)} {score} the same" if equal else ""
    chance = f"; its lead over {_names_or_count(behind)} may be chance" if behind else ""
    return f"{name} {claim} ({value}){same}{chance}"


def _names_or_count(names: Sequence[str]) -> str:
    """One or two names; of more, how many they are."""
    return join_names(names) if len(names) < 3 else f"{len(names)} others"


def _no_best_clause(
    best_set: BestSet, by_key: Mapping[str, ComparisonPoint], paired: PairedComparison
) -> str:
    """That nobody is best, and why."""
    if best_set.metric == ACCURACY.id:
        return f"No run can be called the most accurate: {best_set.no_best_reason}"
    terms = common_terms(point.terms for point in by_key.values())
    skills = [paired.values[SKILL][key] for key in best_set.compared]
    if not skills or max(skills) >= 0:
        return f"No run is best by its {terms.confidences}: {best_set.no_best_reason}"
    nearly = (
        f" with a {terms.confidence} on nearly every row"
        if any(one.is_partial for one in by_key.values())
        else ""
    )
    return f"No run{nearly} beats {CONSTANT_GUESS}"


def point_value_text(point: ComparisonPoint, metric: str) -> str:
    """A point's skill or accuracy as shown."""
    if metric == SKILL:
        return NO_VALUE if point.brier_skill is None else format_signed(point.brier_skill, "+.3f")
    return format_percent(point.accuracy_of_all.value)


def rows_note(point: ComparisonPoint, metric: str) -> str:
    """On how many rows a number of a point stands, where that is fewer than nine in ten."""
    n_rows = point.n_judged if metric == ACCURACY.id else point.n_used
    few = n_rows < (1 - MIN_SHARE_WITHOUT) * point.n_total
    return f" on {n_rows:,} of {point.n_total:,} rows" if few else ""


# --- Trends over the models -----------------------------------------------------------------------


def comparison_trend(
    x: str,
    y: str,
    points: Sequence[ComparisonPoint],
    infos: Mapping[str, RunInfo],
    paired: PairedComparison,
) -> Trend:
    """The trend over points of one method and data set.

    Parameters
    ----------
    x, y : str
        Metric ids of the axes.
    points : sequence of ComparisonPoint
        At least one.
    infos : Mapping[str, RunInfo]
        By key; may hold other runs as well.
    paired : PairedComparison
        Of these points, and others.
    """
    own_infos = {point.key: infos[point.key] for point in points}
    dataset = infos[points[0].key].dataset
    n_models = count_models(own_infos)
    correlation, no_correlation = _trend_correlation(x, y, points, n_models)
    no_change = _no_change_reason(x, y, points, n_models)
    change = None if no_change else _brier_change(points, paired)
    sentences = [
        _correlation_sentence((x, y), points[0].terms, correlation, no_correlation, len(points), n_models)
    ]
    if change is not None:
        sentences.append(_change_sentence(change, {point.key: point for point in points}))
    elif (x, y) == BASE_METRICS and points[0].terms.of != "event" and n_models > 1:
        sentences.append(f"The least and the most accurate run are not compared: {no_change}.")
    headline = " ".join(sentences)
    return Trend(
        points[0].method,
        dataset,
        len(points),
        n_models,
        correlation,
        no_correlation,
        change,
        no_change,
        headline,
    )


def _trend_correlation(
    x: str, y: str, points: Sequence[ComparisonPoint], n_models: int
) -> tuple[RankCorrelation | None, str | None]:
    if x == y:
        return None, "both axes show the same metric"
    if n_models < MIN_POINTS:
        return None, f"{plural(n_models, 'model')}; at least {MIN_POINTS} are needed"
    try:
        correlation = rank_correlation(
            [point.x.value for point in points], [point.y.value for point in points]
        )
    except Unavailable as reason:
        return None, str(reason).rstrip(".")
    return correlation, None


def _no_change_reason(x: str, y: str, points: Sequence[ComparisonPoint], n_models: int) -> str | None:
    """Why the least and the most accurate point cannot be compared; None where they can."""
    if (x, y) != BASE_METRICS or points[0].terms.of == "event":
        return "only of accuracy against Brier score"
    if n_models < 2:
        return "1 model"
    values = [point.accuracy_of_all.value for point in points]
    if min(values) == max(values):
        return "all points have the same accuracy"
    for end, name in ((min(values), "lowest"), (max(values), "highest")):
        if values.count(end) > 1:
            return f"{values.count(end)} points share the {name} accuracy"
    return None


def _brier_change(points: Sequence[ComparisonPoint], paired: PairedComparison) -> BrierChange:
    """From the point of the lowest to that of the highest accuracy; both are unique."""
    ordered = sorted(points, key=lambda point: point.accuracy_of_all.value)
    least_accurate, most_accurate_point = ordered[0], ordered[-1]
    change = paired.pair(BRIER.id, most_accurate_point.key, least_accurate.key)
    return BrierChange(
        least_accurate.key,
        most_accurate_point.key,
        most_accurate_point.brier.value - least_accurate.brier.value
        if change is None
        else change.test.difference,
        None if change is None else change.test,
        most_accurate_point.constant_brier - least_accurate.constant_brier,
    )


def _correlation_sentence(
    axes: tuple[str, str],
    terms: Terms,
    correlation: RankCorrelation | None,
    reason: str | None,
    n_points: int,
    n_models: int,
) -> str:
    x, y = axes
    if correlation is None:
        return f"No rank correlation: {reason}."
    of_x, of_y = METRICS[x].worded(terms), METRICS[y].worded(terms)
    first, second = of_x.title_in_sentence, of_y.title_in_sentence
    if n_points > n_models:
        return (
            f"{of_y.title} against {first}: ρ = {format_signed(correlation.rho, '+.2f')} over "
            f"{n_points} runs of {n_models} models; the runs are not independent, so there is no interval "
            "or p-value."
        )
    numbers = (
        f"ρ = {format_signed(correlation.rho, '+.2f')} over {n_models} models "
        f"(95 % interval {format_interval(correlation.low, correlation.high, '+.2f')}, "
        f"{p_value_phrase(correlation.p, None)})"
    )
    if correlation.significant:
        direction = "rises" if correlation.rho > 0 else "falls"
        return f"{of_y.title} {direction} as {first} rises: {numbers}."
    return f"No clear relation between {second} and {first}: {numbers}."


def _change_sentence(change: BrierChange, points: Mapping[str, ComparisonPoint]) -> str:
    least_accurate, most_accurate_point = points[change.least_accurate], points[change.most_accurate]
    lowest, highest = (
        f"{point.name}, {format_percent(point.accuracy_of_all.value)}"
        for point in (least_accurate, most_accurate_point)
    )
    between = f"Between the least accurate run ({lowest}) and the most accurate ({highest}) the Brier score"
    constant = f"a(1−a) alone would {_change_verb_phrase(change.constant_brier_change)}"
    test = change.on_common_questions
    if test is None:
        return (
            f"{between} differs by {format_signed(change.brier_change, '+.3f')}; the two runs share too few "
            f"questions for a test; {constant}."
        )
    questions = plural(test.n_clusters, "common question")
    interval = f" (95 % interval {format_interval(test.low, test.high, '+.3f')} on {questions})"
    if interval_contains(test.low, test.high, 0):
        return (
            f"{between} does not change clearly: {format_signed(change.brier_change, '+.3f')}{interval}; "
            f"{constant}."
        )
    direction = "falls" if change.brier_change < 0 else "rises"
    return f"{between} {direction}, {format_signed(change.brier_change, '+.3f')}{interval}; {constant}."


def _change_verb_phrase(change: float) -> str:
    """ "raise the score by 0.040"; "leave the score unchanged" for accuracies equally far from ½."""
    if abs(change) < 0.0005:
        return "leave the score unchanged"
    return f"{'lower' if change < 0 else 'raise'} the score by {abs(change):.3f}"
