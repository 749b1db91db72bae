"""The labels of a judge and of people, row by row: what they are, and which of them pass.

A judge's label and a person's are the same label if they differ in case or spaces only, or are the same
number. Where they have no word in common, but all are obvious words for passing and failing, those are what
they mean.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import Advice, worded
from calib_core.errors import Unavailable, shorten
from calib_core.inference.clusters import cluster_numbers
from calib_core.results.evidence import run_weights, weights_refusal
from calib_core.runs import AnswerRun, Run
from calib_core.wording import join_names, plural

PASS_WORDS: Final = (
    ("pass", "fail"),
    ("passed", "failed"),
    ("yes", "no"),
    ("true", "false"),
    ("correct", "incorrect"),
    ("right", "wrong"),
    ("c", "i"),
    ("y", "n"),
    ("1", "0"),
)
"""Pairs of words of which the first passes, in the form in which labels are compared."""

MAX_LABELS: Final = 50
"""With more different labels they are scores or sentences, not labels."""

SUBJECT: Final = "subject"
"""Name of the grouping by the column of that name."""

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")
_LABELS_SHOWN: Final = 8


@dataclass(frozen=True, slots=True, eq=False)
class JudgeLabels:
    """The rows that a judge labelled, with people's labels where there are any.

    Attributes
    ----------
    run, file : str
        The run's label, and its file.
    names : tuple of str
        The labels: numbers by size, otherwise as they are written most often, those that pass first.
    values : NDArray[np.float64] or None, shape (labels,)
        Their values, if there are three or more and all are numbers.
    passes : NDArray[np.bool_] or None, shape (labels,)
        Which labels pass; None where that is not known.
    judge, human : NDArray[np.intp], shape (n,)
        The judge's label of each row, and people's: −1 where they gave none, or no label more often than
        another.
    people : tuple of str
        Names of several people; () where the file has one label of people.
    by_person : NDArray[np.intp], shape (n, people)
        The label of each of them, −1 where there is none.
    score : NDArray[np.float64] or None, shape (n,)
        The judge's score, NaN where missing.
    cluster : NDArray[np.intp] or None, shape (n,)
        Question of each row, from 0; None where none is repeated.
    groups : Mapping[str, pl.Series]
        Columns that sort the rows into groups, as String, by name.
    swaps : NDArray[np.intp], shape (pairs, 2)
        Rows with the same pair of answers in one order, and in the other.
    answer_length : NDArray[np.float64] or None, shape (n,)
        Characters of the judged answer, NaN where missing; None where the file has none.
    row : NDArray[np.intp], shape (n,)
        Positions in the run's `rows`.
    n_total, n_undecided : int
        Rows in the file, and judged rows on which people tie.
    corrections : str
        What a table of corrections changed; "" without one.
    """

    run: str
    file: str
    names: tuple[str, ...]
    values: NDArray[np.float64] | None
    passes: NDArray[np.bool_] | None
    judge: NDArray[np.intp]
    human: NDArray[np.intp]
    people: tuple[str, ...]
    by_person: NDArray[np.intp]
    score: NDArray[np.float64] | None
    cluster: NDArray[np.intp] | None
    groups: Mapping[str, pl.Series]
    swaps: NDArray[np.intp]
    answer_length: NDArray[np.float64] | None
    row: NDArray[np.intp]
    n_total: int
    n_undecided: int = 0
    corrections: str = ""
    group: str = field(default="", kw_only=True)

    @property
    def n(self) -> int:
        """Rows that the judge labelled."""
        return self.judge.size

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows people labelled; shape (n,)."""
        return self.human >= 0

    @property
    def n_labelled(self) -> int:
        """Number of rows that people labelled."""
        return int(np.count_nonzero(self.human >= 0))

    @property
    def passing_names(self) -> tuple[str, ...]:
        """The labels that pass; () where that is not known."""
        if self.passes is None:
            return ()
        return tuple(name for name, ok in zip(self.names, self.passes, strict=True) if ok)

    @property
    def passing(self) -> str:
        """The labels that pass, as in a sentence: "“pass”"; "" where that is not known."""
        names = [f"“{name}”" for name in self.passing_names]
        return join_names(names, "or") if names else ""

    def only(self, rows: NDArray[np.bool_], group: str = "") -> JudgeLabels:
        """These rows alone; `group` is what they are called."""
        place = np.cumsum(rows) - 1
        kept = self.swaps[rows[self.swaps].all(axis=1)] if self.swaps.size else self.swaps
        cluster = None if self.cluster is None else _renumbered(self.cluster[rows])
        return replace(
            self,
            judge=self.judge[rows],
            human=self.human[rows],
            by_person=self.by_person[rows],
            score=None if self.score is None else self.score[rows],
            cluster=cluster,
            groups={name: values.filter(pl.Series(rows)) for name, values in self.groups.items()},
            swaps=place[kept],
            answer_length=None if self.answer_length is None else self.answer_length[rows],
            row=self.row[rows],
            n_undecided=int(np.count_nonzero((self.human < 0) & (self.by_person >= 0).any(axis=1) & rows)),
            group=group,
        )

    def by(self, column: str) -> dict[str, JudgeLabels]:
        """The rows of each group of a column, by its name, largest first; rows in no group are left out.

        Raises
        ------
        Unavailable
            If nothing groups the rows so.
        """
        if column not in self.groups:
            there_is = f" Choose {join_names(list(self.groups), 'or')}." if self.groups else ""
            raise Unavailable(f"There is no grouping “{shorten(column)}” for these rows.{there_is}")
        values = self.groups[column]
        counts = (
            values.drop_nulls()
            .value_counts(sort=True, name="n")
            .sort("n", descending=True, maintain_order=True)
        )
        return {
            name: self.only((values == name).fill_null(value=False).to_numpy(), name)
            for name in counts[values.name].to_list()
        }

    def grouped(self) -> dict[str, tuple[tuple[str, ...], NDArray[np.intp]]]:
        """Names of the groups of each column, and the group of each row, −1 for none."""
        numbered: dict[str, tuple[tuple[str, ...], NDArray[np.intp]]] = {}
        for column, values in self.groups.items():
            names = values.drop_nulls().unique(maintain_order=True)
            number = values.replace_strict(names, range(names.len()), default=-1, return_dtype=pl.Int64)
            numbered[column] = tuple(names.to_list()), number.fill_null(-1).to_numpy().astype(np.intp)
        return numbered


def has_judge(run: Run) -> bool:
    """Whether a run has labels of a judge."""
    return isinstance(run, AnswerRun) and run.has_columns("judge")


def refuse_weighted_labels(run: Run) -> None:
    """Raise Unavailable for rows with weights, which a judge's comparison with people counts alike."""
    if isinstance(run, AnswerRun) and run_weights(run, np.arange(run.rows.height)) is not None:
        raise Unavailable(weights_refusal("A judge's comparison with people"))


def judge_labels(run: Run, passing: Sequence[str] = ()) -> JudgeLabels:
    """The labels of a run.

    Parameters
    ----------
    run : Run
    passing : sequence of str
        The labels that pass, in any case; where omitted, those of `PASS_WORDS` are known.

    Raises
    ------
    Unavailable
        If the run has no labels of a judge or of people, too many different ones, or none in common, or if
        no label is what `passing` names.
    """
    if not isinstance(run, AnswerRun):
        raise Unavailable("A judge labels answers, and token-level runs have none.")
    people = tuple(name for name in run.rows.columns if name.startswith("human.") and run.has_columns(name))
    humans = [name for name in ("human", *people) if run.has_columns(name)]
    if not run.has_columns("judge"):
        raise Unavailable(
            f"{run.label} has no labels of a judge: read the column that holds them with "
            f"{Advice(columns={'COLUMN': 'judge'})}."
        )
    if not humans:
        raise Unavailable(
            f"{run.label} has no labels of people, which a judge's are compared with: read their column with "
            f"{Advice(columns={'COLUMN': 'human'})}; most rows may lack one."
        )
    row = np.flatnonzero(run.rows["judge"].is_not_null().to_numpy())
    texts = {name: run.rows[name].gather(row) for name in ("judge", *humans)}
    forms, names = _common_forms(run.label, texts)
    values, passes = _values(names), _passes(names, passing)
    order = sorted(
        range(len(names)),
        key=lambda at: (
            (float(names[at][0]),) if values else (not (passes or {}).get(names[at][0], False), names[at])
        ),
    )
    number = {names[at][0]: place for place, at in enumerate(order)}
    codes = {
        name: np.array([-1 if form is None else number[form] for form in column], np.intp)
        for name, column in forms.items()
    }
    by_person = (
        np.stack([codes[name] for name in people], axis=1) if people else np.empty((row.size, 0), np.intp)
    )
    human = codes["human"] if "human" in codes else np.full(row.size, -1, np.intp)
    majority, tied = _majority(by_person, len(names))
    undecided = (human < 0) & tied
    human = np.where(human < 0, majority, human)
    score = run.rows["judge_score"].gather(row) if run.has_columns("judge_score") else None
    cluster, swaps = _questions(run, row)
    return JudgeLabels(
        run=run.label,
        file=run.file,
        names=tuple(names[at][0 if values else 1] for at in order),
        values=np.array([values[names[at][0]] for at in order]) if values and len(names) > 2 else None,
        passes=np.array([passes[names[at][0]] for at in order]) if passes else None,
        judge=codes["judge"],
        human=human,
        people=tuple(name.removeprefix("human.") for name in people),
        by_person=by_person,
        score=None if score is None else score.cast(pl.Float64).fill_null(math.nan).to_numpy(),
        cluster=cluster,
        groups=MappingProxyType(_groups(run, row)),
        swaps=swaps,
        answer_length=_answer_length(run, row),
        row=row,
        n_total=run.n_total,
        n_undecided=int(np.count_nonzero(undecided)),
        corrections="" if run.corrections is None else run.corrections.recipe,
    )


def label_form(text: str) -> str:
    """The form in which labels are compared: without case and outer spaces, numbers as numbers.

    Examples
    --------
    >>> label_form(" Pass "), label_form("4.0"), label_form("1e5")
    ('pass', '4', '1e5')
    """
    form = text.strip().casefold()
    return f"{float(form):.15g}" if _NUMBER.fullmatch(form) else form


def _common_forms(
    run: str, texts: Mapping[str, pl.Series]
) -> tuple[dict[str, list[str | None]], list[tuple[str, str]]]:
    """The form of each label by column, and every form with the way in which it is written most often."""
    written: dict[str, dict[str, int]] = {}
    form_of: dict[str, str] = {}
    for column in texts.values():
        for text, n in column.drop_nulls().value_counts().iter_rows():
            form = form_of.setdefault(text, label_form(text))
            written.setdefault(form, {})[text.strip()] = written.get(form, {}).get(text.strip(), 0) + n
    of_judge = {form_of[text] for text in texts["judge"].drop_nulls().unique()}
    of_people = (
        set(written)
        if len(texts) == 1
        else {
            form_of[text]
            for name, column in texts.items()
            if name != "judge"
            for text in column.drop_nulls().unique()
        }
    )
    meaning: dict[str, str] = {}
    if not of_judge & of_people:
        known = {
            word: outcome for pair in PASS_WORDS for word, outcome in zip(pair, PASS_WORDS[0], strict=True)
        }
        if not (of_judge | of_people) <= known.keys():
            raise Unavailable(
                f"{run}: judge and people have no label in common. The judge says {_listed(of_judge)}, "
                f"people say {_listed(of_people)}. "
                + worded(
                    "Write one like the other, or, if the judge's is a score, read it with "
                    f"{Advice(columns={'COLUMN': 'judge_score'})}.",
                    on_page="Write one like the other, or read the judge's column as judge_score.",
                )
            )
        meaning = known
    if len(of_judge | of_people) > MAX_LABELS:
        raise Unavailable(
            f"{run}: there are {len(of_judge | of_people):,} different labels, such as {_listed(of_judge)}; "
            f"up to {MAX_LABELS} are labels. A score is read with "
            f"{Advice(columns={'COLUMN': 'judge_score'})}."
        )
    shown = {form: max(ways, key=lambda way: (ways[way], way)) for form, ways in written.items()}
    if meaning:
        shown = {form: form for form in {meaning[form] for form in written}}
    forms = {
        name: [None if text is None else meaning.get(form_of[text], form_of[text]) for text in column]
        for name, column in texts.items()
    }
    return forms, sorted(shown.items())


def _listed(forms: Iterable[str]) -> str:
    names = [f"“{shorten(form, 30)}”" for form in sorted(forms)]
    return ", ".join(names[:_LABELS_SHOWN]) + (", …" if len(names) > _LABELS_SHOWN else "")


def _values(names: Sequence[tuple[str, str]]) -> dict[str, float]:
    """The value of each label by its form; empty unless all are numbers."""
    forms = [form for form, _ in names]
    return {form: float(form) for form in forms} if all(map(_NUMBER.fullmatch, forms)) else {}


def _passes(names: Sequence[tuple[str, str]], passing: Sequence[str]) -> dict[str, bool] | None:
    """Whether each label passes, by its form; None where that is not known."""
    forms = [form for form, _ in names]
    if passing:
        meant = {label_form(text): text for text in passing}
        for form, text in meant.items():
            if form not in forms:
                raise Unavailable(f"No label is “{shorten(text)}”. The labels are {_listed(forms)}.")
        if len(meant) == len(forms):
            raise Unavailable(f"All labels would pass: {_listed(forms)}. Name only those that pass.")
        return {form: form in meant for form in forms}
    for good, bad in PASS_WORDS:
        if good in forms and bad in forms and (good != "1" or len(forms) == 2):
            return {form: form == good for form in forms}
    return None


def _majority(by_person: NDArray[np.intp], n_labels: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The label that most people gave, −1 where there is none, and where two labels tie."""
    counts = np.stack([(by_person == label).sum(axis=1) for label in range(n_labels)], axis=1)
    most = counts.max(axis=1, initial=0)
    tied = (most > 0) & ((counts == most[:, None]).sum(axis=1) > 1)
    return np.where((most > 0) & ~tied, counts.argmax(axis=1), -1), tied


def _questions(run: AnswerRun, row: NDArray[np.intp]) -> tuple[NDArray[np.intp] | None, NDArray[np.intp]]:
    """Question of each judged row, and the rows that hold one pair of answers in both orders.

    A row and the one that it swaps ask one question.
    """
    every_row = np.arange(run.rows.height)
    number = cluster_numbers(run, every_row)
    number = every_row if number is None else number
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    if run.has_columns("swap_of") and run.has_columns("id"):
        place: dict[str, int] = {}
        for at, id_ in enumerate(run.rows["id"]):
            if id_ is not None:
                place.setdefault(id_, at)
        for at, of in enumerate(run.rows["swap_of"]):
            if of is not None and (other := place.get(of, at)) != at:
                pairs.setdefault((min(at, other), max(at, other)), (other, at))
        for one, other in pairs.values():
            number = np.where(number == number[other], number[one], number)
    judged = np.full(run.rows.height, -1, np.intp)
    judged[row] = np.arange(row.size)
    swaps = judged[np.array(list(pairs.values()), np.intp).reshape(-1, 2)]
    return _renumbered(number[row]), swaps[(swaps >= 0).all(axis=1)]


def _renumbered(number: NDArray[np.integer]) -> NDArray[np.intp] | None:
    """Numbers from 0; None where no two rows share one."""
    distinct, numbers = np.unique(number, return_inverse=True)
    return numbers if distinct.size < numbers.size else None


def _answer_length(run: AnswerRun, row: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Characters of each judged answer."""
    if not run.has_columns("prediction_text"):
        return None
    length = run.rows["prediction_text"].gather(row).str.len_chars()
    return length.cast(pl.Float64).fill_null(math.nan).to_numpy()


def _groups(run: AnswerRun, row: NDArray[np.intp]) -> dict[str, pl.Series]:
    """The columns that split the judged rows into at least two groups."""
    columns = {name: run.group_columns[name].cast(pl.String) for name in run.group_columns.columns}
    if run.has_columns(SUBJECT):
        columns = {SUBJECT: run.rows[SUBJECT], **columns}
    judged = {name: values.gather(row).alias("group") for name, values in columns.items()}
    return {name: values for name, values in judged.items() if values.drop_nulls().n_unique() > 1}


def passing_advice() -> str:
    """How to say which labels pass."""
    return worded(
        "name it with --pass LABEL",
        in_python='name it with passing=["LABEL"]',
        on_page="choose it above",
    )


def labels_text(labels: JudgeLabels) -> str:
    """How many rows judge and people labelled, for recipes: "labelled 100/1000"."""
    tie = f", {plural(labels.n_undecided, 'tie')} left out" if labels.n_undecided else ""
    corrected = f", {labels.corrections}" if labels.corrections else ""
    return f"labelled {labels.n_labelled}/{labels.n}{tie}{corrected}"


def quantile_groups(
    values: NDArray[np.float64], n_groups: int
) -> tuple[tuple[str, ...], NDArray[np.intp]] | None:
    """Rows sorted into groups of nearly equal size by a number; equal numbers are in one group.

    Parameters
    ----------
    values : NDArray[np.float64], shape (n,)
        NaN where missing.
    n_groups : int

    Returns
    -------
    names : tuple of str
        The range of values in each group.
    number : NDArray[np.intp], shape (n,)
        Group of each row, −1 without a value.
    None
        Where there are fewer than two groups.

    Examples
    --------
    >>> names, number = quantile_groups(np.array([1.0, 2, 3, 4, np.nan]), 2)
    >>> names, number.tolist()
    (('1 to 2', '3 to 4'), [0, 0, 1, 1, -1])
    """
    known = np.isfinite(values)
    if not known.any():
        return None
    edges = np.quantile(values[known], np.arange(1, n_groups) / n_groups)
    part = np.searchsorted(np.unique(edges), values, side="left")
    occupied = np.unique(part[known])
    if occupied.size < 2:
        return None
    number = np.where(known, np.searchsorted(occupied, part), -1)
    return tuple(_range_text(values[number == at]) for at in range(occupied.size)), number


def _range_text(values: NDArray[np.float64]) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}"
