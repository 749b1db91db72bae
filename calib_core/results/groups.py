"""Which subjects, categories, runs are off?  Runs and a grouping → the metric of every group.

The questions of the MMLU replication after Kadavath et al. 2022: by subject, shots, size and tuning.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.bootstrap import PairedDifference
from calib_core.inference.intervals import interval_contains
from calib_core.inference.verdict import MIN_ROWS
from calib_core.methods.columns import column
from calib_core.metrics.metric import Metric
from calib_core.results.evidence import AnswerEvidence, get_metric, restrict_rows
from calib_core.results.mmlu import mmlu_category
from calib_core.results.run_names import model_stem, name_with_model, short_run_names
from calib_core.results.score import effective_scheme, score
from calib_core.results.uncertainty import metric_interval, paired_difference
from calib_core.runs import AnswerRun, RunInfo
from calib_core.wording import format_interval, format_number, format_signed, plural

# MERGED groupings: By what can these runs be sorted: by a column of their rows, or by what is known of the runs themselves?

GroupTarget = Literal["rows", "runs"]

SUBJECT_ID: Final = "subject"
CATEGORY_ID: Final = "category"
COLUMN_PREFIX: Final = "column:"
"""Before the file's own name of a column, in a grouping's id."""

RUN_FACTS: Final[Mapping[str, str]] = {
    "shots": "shots",
    "params": "parameters",
    "tuning": "tuning",
    "model": "model",
    "dataset": "data set",
}
_FACT_FIELDS: Final[Mapping[str, str]] = {"params": "params_b"}


@dataclass(frozen=True, slots=True)
class GroupBy:
    """One way to sort. id: for addresses; title: for people; of: what is sorted."""

    id: str
    title: str
    target: GroupTarget


def group_by_choices(runs: Mapping[str, AnswerRun]) -> dict[str, GroupBy]:
    """Every way in which these runs can be sorted into two groups or more, those of rows first.

    A column of the rows counts where some run has two values or more in it; a fact where two runs differ.
    """
    found: dict[str, GroupBy] = {}
    names = dict.fromkeys(name for run in runs.values() for name in run.group_columns.columns)
    by_rows = [
        GroupBy(SUBJECT_ID, "subject", "rows"),
        GroupBy(CATEGORY_ID, "category", "rows"),
        *(GroupBy(f"{COLUMN_PREFIX}{name}", name, "rows") for name in names),
    ]
    for grouping in by_rows:
        if any(row_groups(run, grouping).drop_nulls().n_unique() > 1 for run in runs.values()):
            found[grouping.id] = grouping
    for id_, title in RUN_FACTS.items():
        if len({level for run in runs.values() if (level := fact_level(run.info, id_)) is not None}) > 1:
            found[id_] = GroupBy(id_, title, "runs")
    return found


def row_groups(run: AnswerRun, group_by: GroupBy) -> pl.Series:
    """The group of each row of a run: String, shape (rows,), null where it is in none."""
    if group_by.id.startswith(COLUMN_PREFIX):
        name = group_by.id.removeprefix(COLUMN_PREFIX)
        if name not in run.group_columns.columns:
            return pl.Series("group", [None], dtype=pl.String).new_from_index(0, run.rows.height)
        return run.group_columns[name].cast(pl.String).alias("group")
    subject = column(run, SUBJECT_ID).alias("group")
    if group_by.id == SUBJECT_ID:
        return subject
    known = {text: mmlu_category(text) for text in subject.drop_nulls().unique().to_list()}
    return subject.replace_strict(known, default=None, return_dtype=pl.String)


def fact_level(info: RunInfo, fact: str) -> str | None:
    """What a run says of a fact, in words: "5-shot", "7B", "chat"; None where it says nothing."""
    value = getattr(info, _FACT_FIELDS.get(fact, fact))
    if value is None:
        return None
    if fact == "shots":
        return f"{value}-shot"
    return parameter_count_text(value) if fact == "params" else str(value)


def ordered_levels(infos: Mapping[str, RunInfo], fact: str) -> list[str]:
    """The levels of a fact that runs have: numbers ascending, "base" before other tuning, else by name."""
    levels: dict[str, tuple[float, bool, str]] = {}
    for info in infos.values():
        level = fact_level(info, fact)
        if level is not None:
            value = getattr(info, _FACT_FIELDS.get(fact, fact))
            number = float(value) if isinstance(value, int | float) else 0.0
            levels[level] = (number, level.lower() not in ("base", "pretrained", "none"), level)
    return sorted(levels, key=levels.__getitem__)


def parameter_count_text(billions: float) -> str:
    """A number of parameters: "7B", "350M", "35k"."""
    for unit, letter in ((1.0, "B"), (1e-3, "M"), (1e-6, "k")):
        if billions >= unit:
            return f"{float(f'{billions / unit:.4g}'):g}{letter}"
    return f"{billions * 1e9:g}"


# MERGED contrasts: Is it the shots, the size, the tuning?  Pairs of runs that differ in nothing else → paired differences.

NO_COMPARABLE_RUNS: Final = "No two runs here differ in this and in nothing else."
DIFFERENT_QUESTIONS: Final = "Runs on different data sets answer different questions: nothing is paired."

_TUNING_WORDS: Final = re.compile(
    r"(?<![a-z])(?:base|pretrained|chat|instruct(?:ed)?|inst|it|tuned|finetuned|sft|rlhf|dpo)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One level of a fact against another.

    against, level: their names; pairs: run keys (of `against`, of `level`); difference: level − against, mean
    over the pairs, None where there is none, for the reason `why`.
    """

    reference: str
    level: str
    run_pairs: tuple[tuple[str, str], ...]
    difference: PairedDifference | None
    reason: str | None


def paired_contrasts(
    evidences: Mapping[str, AnswerEvidence],
    fact: str,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    reference: str | None = None,
) -> tuple[Contrast, ...]:
    """Every level of a fact against one of them, by default the lowest, on the same questions.

    seen: run key → what one method says of the run. Runs are a pair where they differ in this fact and in
    nothing else that their files say of them (of two sizes or tunings of a model, the name differs too, in
    that word alone). Where two runs would do, none is taken.
    """
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    levels = ordered_levels(infos, fact)
    if len(levels) < 2:
        return ()
    base = reference if reference in levels else levels[0]
    rest = _runs_by_other_facts(infos, fact)
    found: list[Contrast] = []
    for level in (level for level in levels if level != base):
        pairs = tuple(
            (own[base][0], own[level][0]) for own in rest.values() if len(own[base]) == len(own[level]) == 1
        )
        found.append(_paired_contrast(evidences, fact, base, level, pairs, (metric_id, scheme)))
    return tuple(found)


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
    try:
        value = paired_difference(
            [(evidences[first], evidences[second]) for first, second in run_pairs], *metric
        )
    except Unavailable as reason:
        return Contrast(reference, level, run_pairs, None, str(reason))
    return Contrast(reference, level, run_pairs, value, None)


def _runs_by_other_facts(
    infos: Mapping[str, RunInfo], fact: str
) -> dict[tuple[object, ...], defaultdict[str, list[str]]]:
    """What is known of a run but this fact → level → the runs of which both are true."""
    rest: dict[tuple[object, ...], defaultdict[str, list[str]]] = {}
    for key, info in infos.items():
        level = fact_level(info, fact)
        if level is not None and info.model is not None and fact != "dataset":
            rest.setdefault(_other_facts(info, fact), defaultdict(list))[level].append(key)
    return rest


def _other_facts(info: RunInfo, fact: str) -> tuple[object, ...]:
    """Everything that tells one run from another, but this fact and what follows from it."""
    name = info.model or ""
    if fact == "model":
        return (info.dataset, info.shots, info.temperature)
    if fact == "params":
        name = model_stem(name)
    elif fact == "tuning":
        name = "-".join(re.findall(r"[^\s_\-–·/]+", _TUNING_WORDS.sub(" ", name.lower())))
    facts = {id_: fact_level(info, id_) for id_ in RUN_FACTS if id_ not in (fact, "model")}
    return (name, *facts.values(), info.checkpoint, info.temperature)


# MERGED groups_reading: What do the numbers of many groups say, and how much of it would chance alone say?

NOMINAL_COVERAGE: Final = (95, 95)
"""Percent of intervals that hold the true value, where they hold what they promise; Wilson's do."""


@dataclass(frozen=True, slots=True)
class ChanceExpectation:
    """outside: intervals that do not hold the value of their whole run; of: how many there are."""

    metric: Metric
    n_outside: int
    n_intervals: int

    @property
    def expected_range(self) -> tuple[float, float]:
        """How many would not if all groups were alike: the fewest and the most, by simulations."""
        least, most = self.metric.bootstrap_coverage or NOMINAL_COVERAGE
        return (100 - most) / 100 * self.n_intervals, (100 - least) / 100 * self.n_intervals

    @property
    def sentence(self) -> str:
        """Both counts in one sentence."""
        verb = "does" if self.n_outside == 1 else "do"
        return (
            f"{self.n_outside} of {self.n_intervals} intervals {verb} not hold the value of the whole run; if all "
            f"groups were alike, {self._expectation_clause}."
        )

    @property
    def _expectation_clause(self) -> str:
        fewest, most = self.expected_range
        if held := self.metric.bootstrap_coverage:
            return (
                f"about {fewest:.1f} to {most:.1f} of {self.n_intervals} would not by chance alone: in simulations "
                f"intervals of {self.metric.title_in_sentence} held the truth in {held[0]} to {held[1]} % of data "
                "sets"
            )
        wilson = self.metric.interval_method == "wilson"
        sure = "" if wilson else ", and more where intervals hold less than they promise"
        return f"about {most:.1f} of {self.n_intervals} would not by chance alone (5 %{sure})"


def chance_expectation(
    metric: Metric, groups: Sequence[tuple[float | None, float | None, float | None]]
) -> ChanceExpectation | None:
    """groups: (low, high, value of the whole run) of each group; None with fewer than two intervals."""
    known = [
        (low, high, whole)
        for low, high, whole in groups
        if low is not None and high is not None and whole is not None
    ]
    if len(known) < 2:
        return None
    outside = sum(not interval_contains(low, high, whole) for low, high, whole in known)
    return ChanceExpectation(metric, outside, len(known))


def groups_headline(
    metric: Metric,
    group_title: str,
    titles: Mapping[str, str],
    groups: Mapping[str, Sequence[tuple[str, float | None, int]]],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number.

    By key of the run, titles: what it is called; groups: (name, value, n) of each; overall: the value of the
    whole run.
    """
    known = [
        (value, name, titles[key], n)
        for key, own in groups.items()
        for name, value, n in own
        if value is not None
    ]
    if not known:
        return f"No group here has a defined {metric.title_in_sentence}."
    ends = [
        f"{format_number(value)} ({name}{f' of {title}' if len(groups) > 1 else ''}, n = {n:,})"
        for value, name, title, n in (min(known), max(known))
    ]
    told = f"{metric.title} by {group_title}{f' in {len(groups)} runs' if len(groups) > 1 else ''}"
    whole = next(iter(overall.values())) if len(overall) == 1 else None
    tail = "" if whole is None else f"; of the whole run {format_number(whole)}"
    if len(known) == 1:
        return f"{told}: {ends[0]}{tail}."
    shown = {format_number(value) for value, *_ in known}
    if len(shown) == 1:
        return f"{told}: {shown.pop()} throughout{tail}."
    return f"{told}: from {ends[0]} to {ends[1]}{tail}."


def contrasts_headline(metric: Metric, contrasts: Sequence[Contrast], models: Collection[str]) -> str:
    """Every paired difference with its interval, and whether that holds 0.

    models: those of all runs, of which a single one is named.
    """
    of = f" of {next(iter(models))}" if len(models) == 1 else ""
    told = [
        f"{contrast.level} − {contrast.reference}{of}: {metric.title} {format_signed(found.value)} "
        f"({format_interval(found.low, found.high, '+.4f')}) on {plural(found.n_questions, 'question')}; "
        + (
            "the interval holds 0."
            if interval_contains(found.low, found.high, 0)
            else "the interval does not hold 0."
        )
        for contrast in contrasts
        if (found := contrast.difference) is not None
    ]
    return " ".join(told) or "No two runs here can be compared question by question."


# MERGED groups_result: What is known of many groups: one number each, with its interval, on how many rows?

GroupOrder = Literal["value", "name", "n"]


@dataclass(frozen=True, slots=True)
class Group:
    """One dot.

    run: key of the run; series: key in `Groups.series` (the run, or the level of a fact); name: of the group,
    or what the run is called for short; value: the metric, None where it is not defined; low, high: its
    interval, None where there is none, how: of what kind; n_used: rows, n_total: of them in the file;
    accuracy, mean_confidence, bias: of the top label; null_median, p, draws: as in `score.Score`; small:
    fewer than FEW rows.
    """

    run: str
    series: str
    name: str
    value: float | None
    low: float | None
    high: float | None
    how: str | None
    n_used: int
    n_total: int
    accuracy: float | None
    mean_confidence: float | None
    bias: float | None
    null_median: float | None
    p: float | None
    draws: int | None
    small: bool
    recipe: str


@dataclass(frozen=True, slots=True, eq=False)
class GroupResults:
    """The metric of every group.

    series: key → title, in order; groups: sorted, those of one name together; overall: run → the metric of
    the whole run, of a grouping of rows; without: run → rows in no group; refused: run → why it has no dots;
    contrasts: of a grouping of runs; chance: None where nothing can be said of it; reading: one sentence.
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
    chance_expectation: ChanceExpectation | None
    headline: str

    def sorted_by(self, group_order: GroupOrder) -> GroupResults:
        """The same groups in another order, those of one name together, placed by the first of them.

        sort: the largest number first ("value"), the most rows first ("n"), or by name.
        """
        first: dict[str, Group] = {}
        for group in self.groups:
            first.setdefault(group.name, group)
        order = sorted(self.groups, key=lambda group: _sort_key(first[group.name], group_order))
        return replace(self, groups=tuple(order))

    @property
    def recipe(self) -> str:
        """How all numbers were made: what their recipes share, on how many rows, and what differs."""
        made = [group.recipe.split(", ") for group in self.groups]
        if len(made) < 2:
            return self.groups[0].recipe if self.groups else ""
        bare = [[part.partition(" (")[0] for part in parts] for parts in made]
        told: list[str] = []
        for part, short in zip(made[0], bare[0], strict=True):
            if all(part in parts for parts in made):
                told.append(part)
            elif all(short in parts for parts in bare):
                told.append(short)
            elif short.startswith("n="):
                used = [group.n_used for group in self.groups]
                told.append(f"n={min(used)} to {max(used)}" if min(used) < max(used) else f"n={used[0]}")
        differing = dict.fromkeys(
            part
            for parts in made
            for part in parts
            if part not in told and part.partition(" (")[0] not in told and not part.startswith("n=")
        )
        tail = f"; differing: {', '.join(differing)}" if differing else ""
        return f"each {'group' if self.group_by.target == 'rows' else 'run'}: {', '.join(told)}{tail}"

    def group_key(self, group: Group) -> str:
        """What a dot is of: the group by its name, or the run by its key where runs are what is sorted."""
        return group.name if self.group_by.target == "rows" else group.run

    def highest_groups(self, limit: int) -> list[str]:
        """At most so many, each by its `key`, the largest number first, those of few rows last."""
        best: dict[str, tuple[bool, float]] = {}
        for group in self.groups:
            if group.value is not None and not math.isnan(group.value):
                key = self.group_key(group)
                best[key] = min(best.get(key, (True, math.inf)), (group.small, -group.value))
        return sorted(best, key=best.__getitem__)[:limit]

    def to_frame(self) -> pl.DataFrame:
        """One row a group: the fields of `Group`, series by its title."""
        rows = [asdict(group) | {"series": self.series[group.series]} for group in self.groups]
        return pl.DataFrame(rows, schema=_GROUP_SCHEMA)


def _sort_key(leader: Group, order: GroupOrder) -> tuple[float, str]:
    if order == "name":
        return 0.0, leader.name.casefold()
    number = leader.value if order == "value" else float(leader.n_used)
    undefined = number is None or math.isnan(number)
    return (math.inf if undefined else -float(number or 0)), leader.name.casefold()


_GROUP_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String,
    "series": pl.String,
    "name": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "how": pl.String,
    "n_used": pl.Int64,
    "n_total": pl.Int64,
    "accuracy": pl.Float64,
    "mean_confidence": pl.Float64,
    "bias": pl.Float64,
    "null_median": pl.Float64,
    "p": pl.Float64,
    "draws": pl.Int64,
    "small": pl.Boolean,
    "recipe": pl.String,
}


ShareProgress = Callable[[float], None]
"""Told the share of the work that is done, in [0, 1]."""


def _no_progress(_share: float) -> None:
    """Tells nobody."""


def groups_of_rows(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "value",
    progress: ShareProgress = _no_progress,
) -> GroupResults:
    """The groups of the rows of each run; a run is a series.

    titles: key → what the run is called in full, its label if not said. Raises Unavailable for an unknown
    metric.
    """
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    names = _group_run_names(evidences, titles)
    groups: list[Group] = []
    overall: dict[str, float | None] = {}
    without: dict[str, int] = {}
    refused: dict[str, str] = {}
    for at, (key, evidence) in enumerate(evidences.items()):
        try:
            own = _groups_of_one_run(
                key,
                evidence,
                group_by,
                (metric, scheme),
                lambda share, at=at: progress((at + share) / len(evidences)),
            )
        except Unavailable as why:
            refused[key] = str(why)
            continue
        groups += own
        overall[key] = metric.compute(evidence.sums_for(metric, scheme), scheme)
        without[key] = evidence.n_used - sum(group.n_used for group in own)
    series = {key: names[key] for key in evidences if key not in refused}
    return GroupResults(
        metric_id,
        scheme,
        group_by,
        series,
        tuple(groups),
        overall,
        without,
        refused,
        (),
        chance_expectation(metric, [(group.low, group.high, overall[group.run]) for group in groups]),
        _row_groups_headline(metric, group_by, _names_with_models(series, evidences), groups, overall),
    ).sorted_by(order)


def groups_of_runs(
    evidences: Mapping[str, AnswerEvidence],
    group_by: GroupBy,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    titles: Mapping[str, str] | None = None,
    order: GroupOrder = "value",
    reference: str | None = None,
    progress: ShareProgress = _no_progress,
) -> GroupResults:
    """One dot a run; a level of the fact is a series. titles, errors: as in `by_rows`."""
    metric = get_metric(metric_id)
    scheme = effective_scheme(metric, scheme or Scheme())
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    names = _group_run_names(evidences, titles)
    groups: list[Group] = []
    refused: dict[str, str] = {}
    for key, evidence in evidences.items():
        level, reason = fact_level(infos[key], group_by.id), evidence.unavailable_reason(metric, scheme)
        if level is None or reason:
            refused[key] = reason or f"Its file says nothing of its {group_by.title}."
            continue
        try:
            groups.append(_measure_group(key, level, names[key], evidence, metric, scheme))
        except Unavailable as why:
            refused[key] = str(why)
        progress((len(groups) + len(refused)) / (len(evidences) + 1))
    shown = {group.run: evidences[group.run] for group in groups}
    levels = ordered_levels({key: infos[key] for key in shown}, group_by.id)
    compared = paired_contrasts(shown, group_by.id, metric_id, scheme, reference=reference)
    return GroupResults(
        metric_id,
        scheme,
        group_by,
        {level: level for level in levels},
        tuple(groups),
        {},
        {},
        refused,
        compared,
        None,
        contrasts_headline(metric, compared, {infos[key].model or names[key] for key in shown}),
    ).sorted_by(order)


def _row_groups_headline(
    metric: Metric,
    group_by: GroupBy,
    titles: Mapping[str, str],
    groups: Sequence[Group],
    overall: Mapping[str, float | None],
) -> str:
    """The smallest and the largest number, in one sentence."""
    dots = {key: [(one.name, one.value, one.n_used) for one in groups if one.run == key] for key in titles}
    return groups_headline(metric, group_by.title, titles, dots, overall)


def _group_run_names(
    evidences: Mapping[str, AnswerEvidence], titles: Mapping[str, str] | None
) -> dict[str, str]:
    """What each run is called for short."""
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    return short_run_names(infos, titles or {key: evidence.run.label for key, evidence in evidences.items()})


def _names_with_models(names: Mapping[str, str], evidences: Mapping[str, AnswerEvidence]) -> dict[str, str]:
    """What each run is called in a sentence."""
    return {key: name_with_model(name, evidences[key].run.info) for key, name in names.items()}


def _groups_of_one_run(
    run: str,
    evidence: AnswerEvidence,
    group_by: GroupBy,
    metric_and_scheme: tuple[Metric, Scheme],
    progress: ShareProgress,
) -> list[Group]:
    """The groups of one run's rows; raises Unavailable with the reason where there are none."""
    if reason := evidence.unavailable_reason(*metric_and_scheme):
        raise Unavailable(reason)
    parts = split_by_group(evidence, group_by)
    if not parts:
        raise Unavailable(f"Its rows have no {group_by.title}.")
    groups: list[Group] = []
    for at, (name, part) in enumerate(parts.items()):
        groups.append(_measure_group(run, run, name, part, *metric_and_scheme))
        progress((at + 1) / len(parts))
    return groups


def split_by_group(evidence: AnswerEvidence, group_by: GroupBy) -> dict[str, AnswerEvidence]:
    """Group → the evidence of its rows, in the order in which groups occur; rows in no group are in none."""
    rows = row_groups(evidence.run, group_by).to_frame("group").with_row_index("at").drop_nulls("group")
    return {
        str(name): restrict_rows(evidence, part["at"].to_numpy().astype(np.intp))
        for (name,), part in rows.partition_by("group", as_dict=True, maintain_order=True).items()
    }


def _measure_group(
    run: str, series: str, name: str, evidence: AnswerEvidence, metric: Metric, scheme: Scheme
) -> Group:
    number = score(evidence, metric.id, scheme)
    ends = metric_interval(evidence, metric.id, scheme)
    said, right = evidence.mean_confidence, evidence.accuracy
    return Group(
        run=run,
        series=series,
        name=name,
        value=number.value,
        low=None if ends is None else ends.low,
        high=None if ends is None else ends.high,
        how=None if ends is None else ends.interval_method,
        n_used=evidence.n_used,
        n_total=evidence.n_total,
        accuracy=right,
        mean_confidence=said,
        bias=None if said is None or right is None else said - right,
        null_median=number.null_median,
        p=number.p,
        draws=number.draws,
        small=evidence.n_used < MIN_ROWS,
        recipe=number.recipe,
    )
