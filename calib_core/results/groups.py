"""Which subjects, categories or runs are badly calibrated? The metric of each group, with its interval.

Rows are grouped by subject, category or another column; runs by shots, size, tuning, model or data set, as in
the MMLU replication after Kadavath et al. 2022 (arXiv 2207.05221).
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.group_difference import GroupDifferences, compare_groups, confidence_strata
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import (
    MIN_ROWS,
    SIGNIFICANCE_LEVEL,
    Verdict,
    VerdictKind,
    counted_kind,
    uncounted_note,
    verdicts_sentence,
)
from calib_core.methods.columns import column
from calib_core.metrics import METRICS
from calib_core.metrics.bias import BIAS
from calib_core.metrics.ece import ECE, ECE_DEBIASED_SQ
from calib_core.metrics.metric import Metric
from calib_core.results.changes import (
    Contrast,
    change_phrase,
    correct_contrasts,
    correction_note,
    difference_text,
    measure_contrast,
)
from calib_core.results.columns import Column, frame_of
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, get_metric, restrict_rows, weights_refusal
from calib_core.results.mmlu import mmlu_category
from calib_core.results.run_names import model_stem, name_with_model, short_run_names
from calib_core.results.score import effective_scheme, score
from calib_core.results.uncertainty import metric_interval, simultaneous_interval
from calib_core.runs import AnswerRun, RunInfo
from calib_core.terms import TERMS, Terms, common_terms
from calib_core.wording import both_or_all, format_interval, format_percent, format_signed, join_names, plural

GroupTarget = Literal["rows", "runs"]

GroupOrder = Literal["gap", "value", "name", "n"]

ShareProgress = Callable[[float], None]
"""Called with the share of the work that is done, in [0, 1]."""

SUBJECT_ID: Final = "subject"
CATEGORY_ID: Final = "category"
COLUMN_PREFIX: Final = "column:"
"""Prefix of a grouping's id, before the column's own name in the file."""

RUN_FACTS: Final[Mapping[str, str]] = {
    "shots": "shots",
    "params": "parameters",
    "tuning": "tuning",
    "model": "model",
    "dataset": "data set",
}
_FACT_FIELDS: Final[Mapping[str, str]] = {"params": "params_b"}
_FACT_NOUNS: Final[Mapping[str, str]] = {"shots": "number of shots", "params": "parameter count"}

NO_COMPARABLE_RUNS: Final = "No two runs differ in this alone."

DIFFERENT_QUESTIONS: Final = "Runs on different data sets answer different questions and cannot be paired."

_TUNING_WORDS: Final = re.compile(
    r"(?<![a-z])(?:base|pretrained|chat|instruct(?:ed)?|inst|it|tuned|finetuned|sft|rlhf|dpo)(?![a-z])"
)


def rest_help(terms: Terms) -> str:
    """What the difference of a group from the other rows is."""
    holds = "yes is true" if terms.of == "event" else "the group is right"
    return (
        f"{terms.accuracy_title} minus that of the other rows of the run at the same {terms.confidence}, in "
        f"percentage points. Below 0, {holds} less often than the {terms.confidence} suggests, compared with "
        "the rest."
    )


SIMULTANEOUS_HELP: Final = (
    "It is corrected for the number of groups (Bonferroni): in simulations the interval of the worst held "
    "its true gap in 98 to 100 % of data sets."
)
MAX_NAMED: Final = 4
"""So many groups are counted in a sentence, fewer are named."""

NULL_HELP: Final = "What a perfectly calibrated model would score on these rows: the median."


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One way to form groups.

    Attributes
    ----------
    id : str
        As used in URLs.
    title : str
        As shown.
    target : {"rows", "runs"}
        What is grouped.
    """

    id: str
    title: str
    target: GroupTarget


@dataclass(frozen=True, slots=True)
class RestDifference:
    """A group of rows compared with the other rows of its run at equal confidence.

    Attributes
    ----------
    value, low, high : float
        Accuracy of the group minus that of the other rows, with its 95 % interval, in [−1, 1]. It allows for
        all groups that are compared so, and leaves out 0 where q ≤ .05 and nowhere else.
    p : float
        Of no difference.
    q : float
        Over all these groups (Benjamini–Hochberg).
    """

    value: float
    low: float
    high: float
    p: float
    q: float

    @property
    def is_clear(self) -> bool:
        """Whether the group differs beyond chance, given how many are compared."""
        return self.q <= SIGNIFICANCE_LEVEL


@dataclass(frozen=True, slots=True)
class Group:
    """The metric of one group: one dot of the picture.

    Attributes
    ----------
    run : str
        Key of the run.
    series : str
        Key in `GroupResults.series`: the run, or the level of a fact.
    name : str
        Name of the group, or short name of the run.
    value : float or None
        The metric; None where it is not defined.
    low, high : float or None
        Its interval; None where there is none.
    interval_method : str or None
        How the interval was made.
    n_used, n_total : int
        Rows of the group used, and in the file.
    accuracy, mean_confidence, bias : float or None
        Of the top label; bias is mean confidence − accuracy.
    bias_low, bias_high : float or None
        Its interval, which allows for as many groups as have rows enough (Bonferroni); None for the others.
    null_median : float or None
        As in `Score`.
    debiased : float or None
        The debiased squared ECE over the same bins, below 0 by chance, where the metric is ECE: ECE itself is
        larger the fewer rows a group has. None for other metrics and where it is not defined.
    verdict : Verdict
        The verdict on the group's rows alone, by their top label whatever the metric is.
    q : float or None
        q-value of the verdict among those of all groups (Benjamini–Hochberg); None if it has no p-value.
    rest : RestDifference or None
        The group against the other rows of its run; None where runs are compared, and without rows or
        questions enough.
    has_few_rows : bool
        Whether the group has fewer than `MIN_ROWS` rows.
    recipe : str
    """

    run: str
    series: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    interval_method: str | None
    n_used: int
    n_total: int
    accuracy: float | None
    mean_confidence: float | None
    bias: float | None
    bias_low: float | None
    bias_high: float | None
    null_median: float | None
    debiased: float | None
    verdict: Verdict
    q: float | None
    rest: RestDifference | None
    has_few_rows: bool
    recipe: str

    @property
    def counted_kind(self) -> VerdictKind:
        """The verdict as headlines count it: none where q is not clear among all groups."""
        return counted_kind(self.verdict, self.q)

    @property
    def is_off(self) -> bool:
        """Whether the group is miscalibrated beyond chance, given how many groups there are."""
        return self.q is not None and self.counted_kind != "none"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GroupResults(Displayable):
    """The metric of every group.

    Attributes
    ----------
    metric : str
    scheme : Scheme
    group_by : GroupBy
    series : Mapping[str, str]
        Key → title, in order.
    groups : tuple[Group, ...]
        Sorted.
    overall : Mapping[str, float or None]
        Run key → metric of the whole run, where rows are grouped.
    n_ungrouped : Mapping[str, int]
        Run key → number of rows in no group.
    unavailable : Mapping[str, str]
        Run key → why it has no groups.
    contrasts : tuple[Contrast, ...]
        Paired differences, where runs are grouped.
    headline : str
        The result in one or two sentences.
    subheadline : str
        What else is worth a sentence; may be "".
    """

    metric: str
    scheme: Scheme
    group_by: GroupBy
    series: Mapping[str, str]
    groups: tuple[Group, ...]
    overall: Mapping[str, float | None]
    n_ungrouped: Mapping[str, int]
    unavailable: Mapping[str, str]
    contrasts: tuple[Contrast, ...]
    headline: str
    subheadline: str = ""

    def sorted_by(self, group_order: GroupOrder) -> GroupResults:
        """The same groups in another order.

        Parameters
        ----------
        group_order : {"gap", "value", "n", "name"}
            Largest gap first, and below all of these the groups that chance explains; largest metric first;
            most rows first; or by name.
        """
        order = sorted(self.groups, key=lambda group: _sort_key(group, group_order))
        return replace(self, groups=tuple(order))

    @property
    def terms(self) -> Terms:
        """The words for the probabilities of the groups."""
        return common_terms(TERMS[group.verdict.of] for group in self.groups)

    @property
    def worded_metric(self) -> Metric:
        """The metric in these terms."""
        return METRICS[self.metric].worded(self.terms)

    @property
    def recipe(self) -> str:
        """What the groups' recipes share, the range of their numbers of rows, and what differs."""
        recipes = [group.recipe.split(", ") for group in self.groups]
        if len(recipes) < 2:
            return self.groups[0].recipe if self.groups else ""
        bare_recipes = [[part.partition(" (")[0] for part in parts] for parts in recipes]
        shared: list[str] = []
        for part, short in zip(recipes[0], bare_recipes[0], strict=True):
            if all(part in parts for parts in recipes):
                shared.append(part)
            elif all(short in parts for parts in bare_recipes):
                shared.append(short)
            elif short.startswith("n="):
                used = [group.n_used for group in self.groups]
                shared.append(f"n={min(used)} to {max(used)}" if min(used) < max(used) else f"n={used[0]}")
        differing = dict.fromkeys(
            part
            for parts in recipes
            for part in parts
            if part not in shared and part.partition(" (")[0] not in shared and not part.startswith("n=")
        )
        tail = f"; differing: {', '.join(differing)}" if differing else ""
        return f"each {'group' if self.group_by.target == 'rows' else 'run'}: {', '.join(shared)}{tail}"

    def group_key(self, group: Group) -> str:
        """What a dot stands for: the group's name, or the run's key where runs are grouped."""
        return group.name if self.group_by.target == "rows" else group.run

    def worst_groups(self, limit: int) -> list[str]:
        """At most `limit` keys as of `group_key`, the worst first."""
        measured = [group for group in self.groups if group.value is not None and not math.isnan(group.value)]
        return list(dict.fromkeys(map(self.group_key, sorted(measured, key=_badness))))[:limit]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the table of groups."""
        metric, terms = self.worded_metric, self.terms
        name, series = ("Group", "Run") if self.group_by.target == "rows" else ("Run", "Group")
        # ECE rises as rows get fewer, so between groups of different size its debiased form is the fair one.
        differ_in_size = len({group.n_used for group in self.groups}) > 1
        has_null = any(group.null_median is not None for group in self.groups)
        has_debiased = differ_in_size and any(group.debiased is not None for group in self.groups)
        has_rest = any(group.rest is not None for group in self.groups)
        return (
            Column("run"),
            Column("series", series if len(self.series) > 1 else ""),
            Column("name", name),
            Column("value", metric.title, "number", metric.help),
            Column("low", "95 %", "number", upper="high"),
            Column("high", kind="number"),
            Column("how"),
            Column("n_used", "Rows used", "count"),
            Column(
                "n_total", "Rows" if any(one.n_used < one.n_total for one in self.groups) else "", "count"
            ),
            Column("accuracy", terms.accuracy_title, "share"),
            Column("mean_confidence", f"Mean {terms.confidence}", "share"),
            Column("bias", "Gap", "signed", f"Mean {terms.confidence} − {terms.accuracy}."),
            Column("bias_low", "95 % (gap)", "signed", SIMULTANEOUS_HELP, upper="bias_high"),
            Column("bias_high", kind="signed"),
            Column("null_median", "If calibrated" if has_null else "", "number", NULL_HELP),
            Column("debiased", ECE_DEBIASED_SQ.title if has_debiased else "", "number"),
            Column("verdict", "Verdict", "verdict"),
            Column("p", kind="p"),
            Column("q", "q", "p"),
            Column("against_rest", "Against the rest" if has_rest else "", "points", rest_help(terms)),
            Column(
                "against_rest_low", "95 % (rest)" if has_rest else "", "points", upper="against_rest_high"
            ),
            Column("against_rest_high", kind="points"),
            Column("against_rest_p", kind="p"),
            Column("against_rest_q", "q (rest)" if has_rest else "", "p"),
            Column("small", dtype=pl.Boolean),
            Column("recipe"),
        )

    def to_frame(self) -> pl.DataFrame:
        """One row for each group: the fields of `Group`, with the title of its series.

        `how` is the interval method, `small` whether the group has few rows.
        """
        return frame_of(
            self.columns,
            (
                {
                    **asdict(group),
                    "series": self.series[group.series],
                    "how": group.interval_method,
                    "small": group.has_few_rows,
                    "verdict": group.verdict.words,
                    "p": group.verdict.p,
                    **_rest_columns(group.rest),
                }
                for group in self.groups
            ),
        )

    @property
    def contrast_columns(self) -> tuple[Column, ...]:
        """The columns of the table of paired differences."""
        return (
            Column("levels", "Difference"),
            Column("difference", self.worded_metric.title, "signed"),
            Column("low", "95 %", "signed", upper="high"),
            Column("high", kind="signed"),
            Column("p", "p (Holm)" if correction_note(self.contrasts) else "p", "p"),
            Column("n_questions", self.terms.questions.capitalize(), "count"),
            Column("n_pairs", "Pairs of runs", "count"),
            Column("note", "Note"),
        )

    def contrasts_to_frame(self) -> pl.DataFrame:
        """One row for each paired difference of two levels; `note`: how it was made, or why there is none."""
        return frame_of(self.contrast_columns, map(_contrast_row, self.contrasts))


def _contrast_row(contrast: Contrast) -> dict[str, object]:
    row: dict[str, object] = {
        "levels": f"{contrast.level} − {contrast.reference_level}",
        "p": contrast.p,
        "n_pairs": len(contrast.run_pairs),
        "note": contrast.reason,
    }
    if (found := contrast.difference) is not None:
        row |= {"difference": found.value, "low": found.low, "high": found.high}
        row |= {"n_questions": found.n_questions, "note": contrast.reason or found.interval_method}
    return row


def _rest_columns(rest: RestDifference | None) -> dict[str, float | None]:
    """The columns of `GroupResults.to_frame` on a group against the rest."""
    values = (None,) * 5 if rest is None else (rest.value, rest.low, rest.high, rest.p, rest.q)
    names = ("", "_low", "_high", "_p", "_q")
    return {f"against_rest{name}": value for name, value in zip(names, values, strict=True)}


def worst_group(groups: Sequence[Group]) -> Group | None:
    """The group of the largest gap of those that are miscalibrated beyond chance; None if there is none."""
    return min((group for group in groups if group.is_off), key=_badness, default=None)


def _badness(group: Group) -> tuple[float, float]:
    """What sorts groups, the worst first: whether chance explains them, then the size of the gap."""
    size = abs(group.bias or 0.0)
    if _cancels(group):
        size = max(size, group.verdict.deviation or 0.0)
    return float(not group.is_off), -size


def _cancels(group: Group) -> bool:
    """Whether the gap may be 0, so that what is off in the group is not its mean."""
    return group.bias_low is not None and group.bias_low <= 0 <= (group.bias_high or 0.0)


def _sort_key(group: Group, order: GroupOrder) -> tuple[float, float, str]:
    name = group.name.casefold()
    if order == "name":
        return 0.0, 0.0, name
    if order == "gap":
        return *_badness(group), name
    number = group.value if order == "value" else float(group.n_used)
    undefined = number is None or math.isnan(number)
    return (math.inf if undefined else -float(number or 0)), 0.0, name


def group_by_choices(runs: Mapping[str, AnswerRun]) -> dict[str, GroupBy]:
    """Every grouping that splits these runs into at least two groups, those of rows first.

    A column of the rows is offered where some run has at least two values in it; a fact about runs where
    two runs differ in it.
    """
    choices: dict[str, GroupBy] = {}
    names = dict.fromkeys(name for run in runs.values() for name in run.group_columns.columns)
    by_rows = [
        GroupBy(SUBJECT_ID, "subject", "rows"),
        GroupBy(CATEGORY_ID, "category", "rows"),
        *(GroupBy(f"{COLUMN_PREFIX}{name}", name, "rows") for name in names),
    ]
    for grouping in by_rows:
        if any(_splits_rows(run, grouping) for run in runs.values()):
            choices[grouping.id] = grouping
    for id_, title in RUN_FACTS.items():
        if len({level for run in runs.values() if (level := fact_level(run.info, id_)) is not None}) > 1:
            choices[id_] = GroupBy(id_, title, "runs")
    return choices


def _splits_rows(run: AnswerRun, group_by: GroupBy) -> bool:
    """Whether a grouping of rows puts those of a run into at least two groups."""
    of_file = group_by.id.startswith(COLUMN_PREFIX)
    columns, name = (run.group_columns, group_by.title) if of_file else (run.rows, SUBJECT_ID)
    if name not in columns.columns or columns[name].n_unique() < 2:  # most runs, asked for on every page
        return False
    return row_groups(run, group_by).drop_nulls().n_unique() > 1


def row_groups(run: AnswerRun, group_by: GroupBy) -> pl.Series:
    """The group of each row of a run: String, shape (n_rows,), null for rows in no group."""
    if group_by.id.startswith(COLUMN_PREFIX):
        name = group_by.id.removeprefix(COLUMN_PREFIX)
        if name not in run.group_columns.columns:
            return pl.Series("group", [None], dtype=pl.String).new_from_index(0, run.rows.height)
        return run.group_columns[name].cast(pl.String).alias("group")
    subject = column(run, SUBJECT_ID).alias("group")
    if group_by.id == SUBJECT_ID:
        return subject
    category_by_subject = {text: mmlu_category(text) for text in subject.drop_nulls().unique().to_list()}
    return subject.replace_strict(category_by_subject, default=None, return_dtype=pl.String)


def fact_level(info: RunInfo, fact: str) -> str | None:
    """The value of a fact about a run, as text: "5-shot", "7B", "chat"; None where the file does not say."""
    value = getattr(info, _FACT_FIELDS.get(fact, fact))
    if value is None:
        return None
    if fact == "shots":
        return f"{value}-shot"
    return parameter_count_text(value) if fact == "params" else str(value)


def ordered_levels(infos: Mapping[str, RunInfo], fact: str) -> list[str]:
    """The levels of a fact among these runs: numbers ascending, "base" before other tunings, then by name."""
    levels: dict[str, tuple[float, bool, str]] = {}
    for info in infos.values():
        level = fact_level(info, fact)
        if level is not None:
            value = getattr(info, _FACT_FIELDS.get(fact, fact))
            number = float(value) if isinstance(value, int | float) else 0.0
            levels[level] = (number, level.lower() not in ("base", "pretrained", "none"), level)
    return sorted(levels, key=levels.__getitem__)


def parameter_count_text(billions: float) -> str:
    """Number of parameters as text.

    Examples
    --------
    >>> parameter_count_text(7), parameter_count_text(0.35)
    ('7B', '350M')
    """
    for unit, letter in ((1.0, "B"), (1e-3, "M"), (1e-6, "k")):
        if billions >= unit:
            return f"{float(f'{billions / unit:.4g}'):g}{letter}"
    return f"{billions * 1e9:g}"


def no_progress(_share: float) -> None:
    """Ignore progress."""


def groups_of_rows(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "gap",
    progress: ShareProgress = no_progress,
) -> GroupResults:
    """Group the rows of each run; each run is a series.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → the run as seen by one method.
    group_by : GroupBy
    metric_id : str
    scheme : Scheme, optional
        Ten bins of equal width where omitted.
    titles : Mapping[str, str], optional
        Run key → full name of the run; its label where omitted.
    order : {"gap", "value", "n", "name"}
    progress : callable

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    names = _group_run_names(evidences, titles)
    measured: list[tuple[Group, AnswerEvidence]] = []
    overall: dict[str, float | None] = {}
    n_ungrouped: dict[str, int] = {}
    unavailable: dict[str, str] = {}
    for index, (key, evidence) in enumerate(evidences.items()):
        try:
            run_groups = _groups_of_one_run(
                key,
                evidence,
                group_by,
                (metric, scheme),
                lambda share, index=index: progress((index + share) / len(evidences)),
            )
        except Unavailable as reason:
            unavailable[key] = str(reason)
            continue
        measured += run_groups
        overall[key] = metric.compute(evidence.sums_for(metric, scheme), scheme)
        n_ungrouped[key] = evidence.n_used - sum(group.n_used for group, _ in run_groups)
    series = {key: names[key] for key in evidences if key not in unavailable}
    groups = _with_q_values(_with_gap_intervals(measured))
    groups = _with_rests(groups, evidences, group_by)
    sentence_names = _names_with_models(series, evidences)
    subheadline = groups_subheadline(group_by.title, groups)
    if any(evidences[key].weight is not None for key in series):
        subheadline += f" {weights_refusal('The comparison of a group with the other rows')}"
    return GroupResults(
        metric_id,
        scheme,
        group_by,
        series,
        tuple(groups),
        overall,
        n_ungrouped,
        unavailable,
        (),
        groups_headline(group_by.title, groups, sentence_names),
        subheadline,
    ).sorted_by(order)


def groups_of_runs(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "gap",
    reference: str | None = None,
    progress: ShareProgress = no_progress,
) -> GroupResults:
    """Compare runs, one dot each; each level of the fact is a series.

    Parameters
    ----------
    evidences, group_by, metric_id, scheme, titles, order, progress
        As in `groups_of_rows`.
    reference : str, optional
        The level that the contrasts compare with; the lowest where omitted.

    Raises
    ------
    Unavailable
        For an unknown metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    names = _group_run_names(evidences, titles)
    measured: list[tuple[Group, AnswerEvidence]] = []
    unavailable: dict[str, str] = {}
    for key, evidence in evidences.items():
        level, reason = fact_level(infos[key], group_by.id), evidence.unavailable_reason(metric, scheme)
        if level is None or reason:
            unavailable[key] = reason or f"Its file gives no {_FACT_NOUNS.get(group_by.id, group_by.title)}."
            continue
        try:
            group = _measure_group(key, level, names[key], evidence, metric, scheme)
            measured.append((group, evidence))
        except Unavailable as error:
            unavailable[key] = str(error)
        progress((len(measured) + len(unavailable)) / (len(evidences) + 1))
    groups = _with_q_values(_with_gap_intervals(measured))
    terms = common_terms(evidence.terms for _, evidence in measured)
    shown = {group.run: evidences[group.run] for group in groups}
    levels = ordered_levels({key: infos[key] for key in shown}, group_by.id)
    contrasts = paired_contrasts(shown, group_by.id, metric_id, scheme, reference=reference)
    differences = contrasts_headline(
        metric.worded(terms), contrasts, {infos[key].model or names[key] for key in shown}
    )
    return GroupResults(
        metric_id,
        scheme,
        group_by,
        {level: level for level in levels},
        tuple(groups),
        {},
        {},
        unavailable,
        contrasts,
        runs_headline(groups, differences, n_differences=len(contrasts)),
        f"{verdicts_sentence([group.counted_kind for group in groups], 'run')} {differences}"
        if groups
        else "",
    ).sorted_by(order)


def split_by_group(evidence: AnswerEvidence, group_by: GroupBy) -> dict[str, AnswerEvidence]:
    """Group → the evidence of its rows, in order of first occurrence; rows without a group are left out.

    The last split is kept with the evidence, so that another metric or M does not judge the groups again.
    """
    last = evidence.last_split
    if group_by not in last:
        rows = row_groups(evidence.run, group_by).to_frame("group").with_row_index("at").drop_nulls("group")
        parts = rows.partition_by("group", as_dict=True, maintain_order=True)
        split = {
            str(name): restrict_rows(evidence, part["at"].to_numpy().astype(np.intp))
            for (name,), part in parts.items()
        }
        last.clear()
        last[group_by] = split
        return split
    return last[group_by]


def _groups_of_one_run(
    run: str,
    evidence: AnswerEvidence,
    group_by: GroupBy,
    metric_and_scheme: tuple[Metric, Scheme],
    progress: ShareProgress,
) -> list[tuple[Group, AnswerEvidence]]:
    """The groups of one run's rows, and the rows of each; raises Unavailable where there are none."""
    if reason := evidence.unavailable_reason(*metric_and_scheme):
        raise Unavailable(reason)
    parts = split_by_group(evidence, group_by)
    if not parts:
        raise Unavailable(f"Its rows have no {group_by.title}.")
    groups: list[tuple[Group, AnswerEvidence]] = []
    for index, (name, part) in enumerate(parts.items()):
        groups.append((_measure_group(run, run, name, part, *metric_and_scheme), part))
        progress((index + 1) / len(parts))
    return groups


def _differences_from_rest(
    evidence: AnswerEvidence, group_by: GroupBy, names: Sequence[str]
) -> Iterator[tuple[str, tuple[float, ...]]]:
    """Each group of a run that has rows enough, and the fields of its `GroupDifferences`."""
    if evidence.no_null_reason or evidence.weight is not None:
        return
    pairs = evidence.confidences.pairs
    place = {name: at for at, name in enumerate(names)}
    groups = row_groups(evidence.run, group_by).gather(pl.Series(pairs.rows, dtype=pl.UInt32))
    code = groups.replace_strict(place, default=len(names), return_dtype=pl.Int32).to_numpy()
    strata = confidence_strata(pairs.confidence)
    _, found = compare_groups(strata, pairs.correct, code, len(names), evidence.cluster)
    for name, numbers in zip(names, np.stack(astuple(found), axis=1).tolist(), strict=True):
        if not math.isnan(numbers[0]):
            yield name, tuple(numbers)


def _with_rests(
    groups: Sequence[Group], evidences: Mapping[str, AnswerEvidence], group_by: GroupBy
) -> list[Group]:
    """The groups with their differences from the other rows of their runs, corrected for all together."""
    found = {
        (run, name): numbers
        for run in dict.fromkeys(group.run for group in groups)
        for name, numbers in _differences_from_rest(
            evidences[run], group_by, [group.name for group in groups if group.run == run]
        )
    }
    if not found:
        return list(groups)
    columns = np.array(list(found.values())).T
    differences, q = GroupDifferences(*columns).of_family()
    numbers = zip(differences.difference, differences.low, differences.high, differences.p, q, strict=True)
    rests = dict(zip(found, (RestDifference(*map(float, each)) for each in numbers), strict=True))
    return [replace(group, rest=rests.get((group.run, group.name))) for group in groups]


def _with_q_values(groups: Sequence[Group]) -> list[Group]:
    """The groups of one list with the q-values of their verdicts."""
    q_values = benjamini_hochberg([group.verdict.p for group in groups])
    return [replace(group, q=q) for group, q in zip(groups, q_values, strict=True)]


def _with_gap_intervals(measured: Sequence[tuple[Group, AnswerEvidence]]) -> list[Group]:
    """The groups with the intervals of their gaps, which allow for as many as have rows enough."""
    n_intervals = sum(not group.has_few_rows for group, _ in measured)

    def with_interval(group: Group, evidence: AnswerEvidence) -> Group:
        if group.has_few_rows or group.bias is None:
            return group
        interval = simultaneous_interval(evidence.top_label, BIAS, n_intervals)
        return group if interval is None else replace(group, bias_low=interval.low, bias_high=interval.high)

    return [with_interval(group, evidence) for group, evidence in measured]


def _measure_group(
    run: str, series: str, name: str, evidence: AnswerEvidence, metric: Metric, scheme: Scheme
) -> Group:
    metric_score = score(evidence, metric.id, scheme)
    interval = metric_interval(evidence, metric.id, scheme)
    stated, observed = evidence.mean_confidence, evidence.accuracy
    return Group(
        run=run,
        series=series,
        name=name,
        value=metric_score.value,
        low=None if interval is None else interval.low,
        high=None if interval is None else interval.high,
        interval_method=None if interval is None else interval.interval_method,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        accuracy=observed,
        mean_confidence=stated,
        bias=None if stated is None or observed is None else stated - observed,
        bias_low=None,
        bias_high=None,
        null_median=metric_score.null_median,
        debiased=_debiased(evidence, scheme) if metric is ECE else None,
        verdict=evidence.verdict,
        q=evidence.verdict.p,
        rest=None,
        has_few_rows=evidence.n_used < MIN_ROWS,
        recipe=metric_score.recipe,
    )


def _debiased(evidence: AnswerEvidence, scheme: Scheme) -> float | None:
    if evidence.unavailable_reason(ECE_DEBIASED_SQ, scheme):
        return None
    return ECE_DEBIASED_SQ.compute(evidence.sums, scheme)


def _group_run_names(
    evidences: Mapping[str, AnswerEvidence], titles: Mapping[str, str] | None
) -> dict[str, str]:
    """Run key → short name."""
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    return short_run_names(infos, titles or {key: evidence.run.label for key, evidence in evidences.items()})


def _names_with_models(names: Mapping[str, str], evidences: Mapping[str, AnswerEvidence]) -> dict[str, str]:
    """Run key → the name to use in a sentence."""
    return {key: name_with_model(name, evidences[key].run.info) for key, name in names.items()}


# --- Contrasts: runs that differ in one fact only -------------------------------------------------


def paired_contrasts(
    evidences: Mapping[str, AnswerEvidence],
    fact: str,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    reference: str | None = None,
) -> tuple[Contrast, ...]:
    """Every level of a fact compared with one of them, on the same questions.

    Two runs form a pair if they differ in this fact and in nothing else their files state about them; the
    names of two sizes or tunings of a model may differ in that word alone. Where several runs would
    match, none is paired.

    Parameters
    ----------
    evidences : Mapping[str, AnswerEvidence]
        Run key → the run as seen by one method.
    fact : str
        Key of `RUN_FACTS`.
    metric_id : str
    scheme : Scheme, optional
    reference : str, optional
        The level to compare with; the lowest where omitted.
    """
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    levels = ordered_levels(infos, fact)
    if len(levels) < 2:
        return ()
    reference_level = reference if reference in levels else levels[0]
    runs_by_facts = _runs_by_other_facts(infos, fact)
    contrasts: list[Contrast] = []
    for level in (level for level in levels if level != reference_level):
        run_pairs = tuple(
            (runs_by_level[reference_level][0], runs_by_level[level][0])
            for runs_by_level in runs_by_facts.values()
            if len(runs_by_level[reference_level]) == len(runs_by_level[level]) == 1
        )
        contrasts.append(
            _paired_contrast(evidences, fact, reference_level, level, run_pairs, (metric_id, scheme))
        )
    return correct_contrasts(contrasts)


def _paired_contrast(
    evidences: Mapping[str, AnswerEvidence],
    fact: str,
    reference: str,
    level: str,
    run_pairs: tuple[tuple[str, str], ...],
    metric: tuple[str, Scheme | None],
) -> Contrast:
    if not run_pairs:
        return Contrast(
            reference, level, (), None, DIFFERENT_QUESTIONS if fact == "dataset" else NO_COMPARABLE_RUNS
        )
    pairs = [(evidences[first], evidences[second]) for first, second in run_pairs]
    return measure_contrast(reference, level, run_pairs, pairs, *metric)


def _runs_by_other_facts(
    infos: Mapping[str, RunInfo], fact: str
) -> dict[tuple[object, ...], defaultdict[str, list[str]]]:
    """All facts about a run except this one → level of this one → keys of the runs."""
    runs_by_facts: dict[tuple[object, ...], defaultdict[str, list[str]]] = {}
    for key, info in infos.items():
        level = fact_level(info, fact)
        if level is not None and info.model is not None and fact != "dataset":
            runs_by_facts.setdefault(_other_facts(info, fact), defaultdict(list))[level].append(key)
    return runs_by_facts


def _other_facts(info: RunInfo, fact: str) -> tuple[object, ...]:
    """All facts that distinguish runs, except this one and what follows from it."""
    name = info.model or ""
    if fact == "model":
        return (info.dataset, info.shots, info.temperature)
    if fact == "params":
        name = model_stem(name)
    elif fact == "tuning":
        name = "-".join(re.findall(r"[^\s_\-–·/]+", _TUNING_WORDS.sub(" ", name.lower())))
    facts = {id_: fact_level(info, id_) for id_ in RUN_FACTS if id_ not in (fact, "model")}
    return (name, *facts.values(), info.checkpoint, info.temperature)


# --- The groups in words --------------------------------------------------------------------------


def groups_headline(group_title: str, groups: Sequence[Group], titles: Mapping[str, str]) -> str:
    """The worst group with its gap, and how many are miscalibrated beyond chance.

    Parameters
    ----------
    group_title : str
        What the rows are grouped by.
    groups : sequence of Group
    titles : Mapping[str, str]
        Run key → name of the run, which is said where there are several.
    """
    if not groups:
        return f"There is no group by {group_title} here."
    n_judged, n_off = sum(group.q is not None for group in groups), sum(group.is_off for group in groups)
    worst = worst_group(groups)
    if worst is None:
        if not n_judged:
            return verdicts_sentence([group.counted_kind for group in groups], "group", f" by {group_title}")
        if n_judged == 1:
            return f"The only group by {group_title} with enough rows is not worse than chance explains."
        none = f"None of the {n_judged:,} groups by {group_title} with enough rows"
        return f"{none} is worse than chance explains."
    model = titles[worst.run] if len(titles) > 1 else "the model"
    count = (
        f"{both_or_all(n_judged).capitalize()} groups"
        if n_off == n_judged > 1
        else f"{n_off:,} of {plural(n_judged, 'group')}"
    )
    return (
        f"Calibration is worst in {worst.name}, where {model} {gap_clause(worst)}. {count} by {group_title} "
        f"{'is' if n_off == 1 else 'are'} clearly miscalibrated."
    )


def runs_headline(groups: Sequence[Group], differences: str, *, n_differences: int) -> str:
    """The worst run with its gap, and the paired difference if there is one only.

    Parameters
    ----------
    groups : sequence of Group
        One a run.
    differences : str
        All paired differences in words.
    n_differences : int
    """
    worst = worst_group(groups)
    if worst is None:
        return differences
    sentence = f"Calibration is worst for {worst.name}, which {gap_clause(worst)}."
    return f"{sentence} {differences}" if n_differences == 1 else sentence


def gap_clause(group: Group) -> str:
    """What a model states in a group and how often it is right, with the gap and its interval."""
    if group.bias is None or group.bias_low is None or group.bias_high is None:
        return f"is {group.verdict.words}"
    if _cancels(group) and group.verdict.deviation is not None:
        return f"is {group.verdict.words}, off by {format_percent(group.verdict.deviation)} on average"
    said = TERMS[group.verdict.of].stated_and_observed(group.mean_confidence or 0.0, group.accuracy or 0.0)
    return (
        f"{said}{group.verdict.scope}: a gap of {format_signed(group.bias, '+.3f')} "
        f"({format_interval(group.bias_low, group.bias_high, '+.3f')})"
    )


def groups_subheadline(group_title: str, groups: Sequence[Group]) -> str:
    """The verdicts counted, and how many groups differ from the rest of their run.

    Parameters
    ----------
    group_title : str
    groups : sequence of Group
    """
    if not groups:
        return ""
    n_runs = len({group.run for group in groups})
    scope = f" by {group_title}{f' in {n_runs} runs' if n_runs > 1 else ''}"
    sentences = [verdicts_sentence([group.counted_kind for group in groups], "group", scope)]
    if uncounted := uncounted_note([(group.verdict, group.q) for group in groups], "group"):
        sentences.append(uncounted)
    if note := gap_note(groups):
        sentences.append(note)
    compared = [group.rest for group in groups if group.rest is not None]
    if compared:
        n_clear = sum(rest.is_clear for rest in compared)
        terms = common_terms(TERMS[group.verdict.of] for group in groups)
        more_or_less = terms.right_how_often("more or less often", of_one=n_clear < 2)
        sentences.append(
            f"At the same {terms.confidence}, {n_clear or 'none'} of {plural(len(compared), 'group')} "
            f"{more_or_less} than the other rows of {'their' if n_clear > 1 else 'its'} run, "
            "beyond chance."
        )
    return " ".join(sentences)


def gap_note(groups: Sequence[Group]) -> str:
    """Why intervals of gaps and the verdict's q say different things of some groups; "" where they agree."""
    terms = common_terms(TERMS[group.verdict.of] for group in groups)
    judged = [group for group in groups if group.q is not None and group.bias_low is not None]
    holding = dict.fromkeys(group.name for group in judged if group.is_off and _cancels(group))
    leaving = dict.fromkeys(group.name for group in judged if not group.is_off and not _cancels(group))
    parts = [
        f"in {join_names(list(names)) if len(names) < MAX_NAMED else plural(len(names), 'group')} {what}"
        for names, what in (
            (holding, "the verdict is clear by its q, although the interval of the gap holds 0"),
            (leaving, "the interval of the gap leaves out 0, although the verdict is not clear by its q"),
        )
        if names
    ]
    if not parts:
        return ""
    return (
        f"{parts[0][0].upper()}{'; '.join(parts)[1:]}: the verdict tests mean, spread and individual "
        f"{terms.confidences} together, while the intervals are of the mean and are to hold all at once."
    )


def contrasts_headline(metric: Metric, contrasts: Sequence[Contrast], models: Collection[str]) -> str:
    """Every paired difference with its interval, and whether it is a change.

    Parameters
    ----------
    metric : Metric
    contrasts : sequence of Contrast
    models : collection of str
        Models of all runs; named if there is only one.
    """
    model_clause = f" of {next(iter(models))}" if len(models) == 1 else ""
    note = correction_note(contrasts)
    sentences = [
        f"{contrast.level} − {contrast.reference_level}{model_clause}: {metric.title} "
        f"{difference_text(contrast.difference)}: {change_phrase(contrast)}{f', {note}' if note else ''}."
        for contrast in contrasts
        if contrast.difference is not None
    ]
    return " ".join(sentences) or "No two runs can be compared question by question."
