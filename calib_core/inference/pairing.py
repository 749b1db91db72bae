"""Which rows of two runs ask the same question?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.advice import Advice, worded
from calib_core.errors import Unavailable
from calib_core.methods.answers.gold_match import gold_forms
from calib_core.methods.answers.normalise import AnswerNormaliser, text_form
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun
from calib_core.terms import ANSWER_TERMS, EVENT_TERMS

KEY_SEPARATOR = "\x1f"
"""Separates the parts of a key: a control character that does not occur in a file's ids."""


def row_number_advice() -> str:
    """How files without ids can be paired."""
    row_as_id = worded(
        f"{Advice(columns={'row': 'id'})}", on_page="switch on “Row number as question id” on the page Files"
    )
    return (
        "Files with the same questions in the same order can be paired by the row number, read as the id: "
        f"{row_as_id}."
    )


@dataclass(frozen=True, slots=True, eq=False)
class QuestionNumbers:
    """The questions of several runs, numbered alike.

    Attributes
    ----------
    columns : tuple of str
        The columns that identify a question in all these runs.
    keys : pl.Series of String, shape (questions,)
        A unique key of each question.
    by_run : tuple of NDArray[np.intp], each of shape (rows,)
        For each run the question of each row; no question occurs twice in a run.
    gold_kind, gold : tuple of NDArray[np.intp], each of shape (rows,)
        For each run the kind of each row's right answer and the answer, both numbered; −1 where a row has
        none, or several.
    word : str
        What a question is called: "item" where all runs have probabilities of an event.
    """

    columns: tuple[str, ...]
    keys: pl.Series
    by_run: tuple[NDArray[np.intp], ...]
    gold_kind: tuple[NDArray[np.intp], ...]
    gold: tuple[NDArray[np.intp], ...]
    word: str

    @property
    def by_row_number(self) -> bool:
        """Whether equal row numbers, read as ids, are what makes questions equal."""
        if "id" not in self.columns or self.keys.is_empty():
            return False
        return self.keys.str.contains(rf"(^|{KEY_SEPARATOR})row \d+$").all()

    def common(self, first: int, second: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows of two runs that ask the same question, in the order of the first.

        Raises
        ------
        Unavailable
            If they have no question in common, or equal ids have different right answers.
        """
        of_runs = (self.by_run, self.gold_kind, self.gold)
        n_rows = self.by_run[first].size
        if first == second or (n_rows and all(np.array_equal(of[first], of[second]) for of in of_runs)):
            rows = np.arange(n_rows)
            return rows, rows
        row_of_second = np.full(self.keys.len(), -1, np.intp)
        row_of_second[self.by_run[second]] = np.arange(self.by_run[second].size)
        at_second = row_of_second[self.by_run[first]]
        at_first = np.flatnonzero(at_second >= 0)
        at_second = at_second[at_first]
        kinds, golds = (
            (of_run[first][at_first], of_run[second][at_second]) for of_run in (self.gold_kind, self.gold)
        )
        other_gold = (kinds[0] >= 0) & (kinds[0] == kinds[1]) & (golds[0] != golds[1])
        if other_gold.any() and "question" not in self.columns:
            raise Unavailable(
                f"{int(other_gold.sum()):,} of {at_first.size:,} equal ids have different right answers, so "
                f"the ids belong to different {self.word}s."
            )
        # The same text with another right answer, as after a correction, is another question.
        at_first, at_second = at_first[~other_gold], at_second[~other_gold]
        if not at_first.size:
            raise Unavailable(f"The two runs have no {self.word} in common.")
        return at_first, at_second


def number_questions(runs: Sequence[AnswerRun]) -> QuestionNumbers:
    """Numbers the questions of several runs, the same question alike.

    A question is identified by its text if all runs have one in every row, otherwise by its id, each
    together with its subject if all runs have one. If both text and id are present, the id only
    distinguishes equal texts. The number of a row identifies a question only where the user has it read as
    the id.

    Parameters
    ----------
    runs : sequence of AnswerRun
        At least one.

    Raises
    ------
    Unavailable
        If the rows of a run cannot be distinguished.
    """
    columns, keys = _unique_keys(runs)
    numbers, distinct = _numbered(keys)
    gold_kind, gold = zip(*(_right_answers(run) for run in runs), strict=True)
    terms = EVENT_TERMS if all(run.has_columns("event_prob") for run in runs) else ANSWER_TERMS
    kinds, answers = _numbered(gold_kind)[0], _numbered(gold)[0]
    return QuestionNumbers(columns, distinct, numbers, kinds, answers, terms.question)


def common_questions(
    first: AnswerRun, second: AnswerRun
) -> tuple[NDArray[np.intp], NDArray[np.intp], pl.Series]:
    """The questions that two runs have in common, as `number_questions` tells them apart.

    Parameters
    ----------
    first, second : AnswerRun
        The two runs.

    Returns
    -------
    first_rows, second_rows : NDArray[np.intp], shape (questions,)
        Positions in the `rows` of each run, in the order of the first.
    key : pl.Series of String, shape (questions,)
        A unique key of each question.

    Raises
    ------
    Unavailable
        If the rows of a run cannot be distinguished, or the runs have no question in common.
    """
    numbers = number_questions((first, second))
    try:
        at_first, at_second = numbers.common(0, 1)
    except Unavailable as reason:
        raise Unavailable(f"{first.label} and {second.label} cannot be paired. {reason}") from None
    return at_first, at_second, numbers.keys.gather(numbers.by_run[0][at_first])


def identifies_questions(run: AnswerRun) -> bool:
    """Whether every row has an id or a text that no other row of its subject has."""
    try:
        _unique_keys((run,))
    except Unavailable:
        return False
    return True


def _unique_keys(runs: Sequence[AnswerRun]) -> tuple[tuple[str, ...], list[pl.Series]]:
    """The columns that identify a question in all runs, and the key of each row of each run."""
    columns = _key_columns(runs)
    keys = [_row_keys(run, *columns) for run in runs]
    for run, key in zip(runs, keys, strict=True):
        if key.n_unique() < key.len():
            raise Unavailable(f"{run.label}: some questions occur twice and no id tells them apart.")
    return columns, keys


def _key_columns(runs: Sequence[AnswerRun]) -> tuple[str, ...]:
    """The columns that identify a question in all runs; raises Unavailable if there are none."""

    def complete(name: str) -> bool:
        return all(run.has_columns(name) and not run.rows[name].has_nulls() for run in runs)

    names = tuple(name for name in ("subject", "question", "id") if complete(name))
    texts = tuple(name for name in names if name != "id")
    if "question" in names and all(_identifies_rows(run, texts) for run in runs):
        names = texts  # each run may number its questions differently
    if "question" not in names and "id" not in names:
        subject, all_of = (
            (f"{runs[0].label} and {runs[-1].label}", "both") if len(runs) == 2 else ("Runs", "all")
        )
        raise Unavailable(
            f"{subject} cannot be paired: {all_of} need an id or the question's text in every row. "
            f"{row_number_advice()}"
        )
    return names


def _identifies_rows(run: AnswerRun, columns: tuple[str, ...]) -> bool:
    return _row_keys(run, *columns).n_unique() == run.rows.height


def _row_keys(run: AnswerRun, *names: str) -> pl.Series:
    parts = pl.DataFrame([column(run, name).cast(pl.String) for name in names])
    return parts.select(key=pl.concat_str(pl.all(), separator=KEY_SEPARATOR))["key"]


def _numbered(parts: Sequence[pl.Series]) -> tuple[tuple[NDArray[np.intp], ...], pl.Series]:
    """The number of each text among the distinct ones of all parts, −1 for null, and the distinct ones."""
    text = pl.concat([part.rename("text") for part in parts])
    distinct = text.drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"text": distinct, "number": np.arange(distinct.len())})
    of_rows = text.to_frame().join(numbers, on="text", how="left", maintain_order="left")["number"]
    ends = np.cumsum([part.len() for part in parts])
    return tuple(np.split(of_rows.fill_null(-1).to_numpy().astype(np.intp), ends[:-1])), distinct


def _right_answers(run: AnswerRun) -> tuple[pl.Series, pl.Series]:
    """Kind and normal form of each row's right answer, both null where it has none, or several.

    Of choices the text, where the file has it, since their order may differ. Only answers of one kind can
    be told apart: "B" and "Paris" may be the same.
    """
    if not any(map(run.has_columns, ("gold", "gold_index", "gold_all"))):
        none = pl.Series("kind", [None], pl.String).new_from_index(0, run.rows.height)
        return none, none.alias("form")
    normaliser = AnswerNormaliser.for_run(run)
    golds = gold_forms(run, normaliser)
    one = golds.filter(pl.len().over("row") == 1)
    rows = pl.DataFrame({"row": np.arange(run.rows.height, dtype=np.uint32)})
    form = rows.join(one, on="row", how="left", maintain_order="left")["form"]
    kind = normaliser.kind
    index, choices = column(run, "gold_index"), column(run, "choices")
    text = text_form(choices.list.get(index, null_on_oob=True))
    named = (kind == "choice") & text.is_not_null()
    return (
        kind.set(named, "text of a choice").set(form.is_null(), None).rename("kind"),
        text.zip_with(named, form).rename("form"),
    )
