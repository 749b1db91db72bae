"""What does a table of corrections change? Questions left out, and right answers or outcomes replaced.

It is applied where a file has become runs, of whatever format, so that a corrected run equals the one that a
file without the questions, or with the right answers, would give. A run keeps the rows that were changed, and
so what it was before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import polars as pl

from calib_core.advice import Advice, worded
from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods import METHODS
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import answer_outcomes, greedy_correct
from calib_core.methods.columns import column
from calib_core.methods.method import MethodOptions
from calib_core.metrics import METRICS
from calib_core.readers import read_corrections
from calib_core.readers.format import Reading, ReadOptions
from calib_core.readers.table.corrections import LEAVE_OUT, REASON, CorrectionTable
from calib_core.readers.table.gold_match import match_gold
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from calib_core.runs import RUN_COLUMNS, AnswerRun, AnswerSource, Corrections, Run, row_key
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.values import Value
from calib_core.wording import format_percent, join_names, plural

MAX_JUDGED_OTHERWISE: Final = 0.01
"""Largest share of rows whose stored outcome is not that of answer = right answer, for corrected right
answers to be compared with the answer, too: other outcomes come from a judgement that cannot be repeated."""

CHANGE_COLUMNS: Final = (
    Column("row", "Row", "count", "Row number in the file, from 1."),
    Column("id", "Id"),
    Column("subject", "Subject"),
    Column("change", "Change"),
    Column("before", "Before"),
    Column("after", "After"),
    Column("reason", "Reason"),
)
"""The columns of `Corrections.changes`."""


def effect_columns(terms: Terms) -> tuple[Column, ...]:
    """The columns of what corrections do to the numbers of a run, one row for each method."""
    right, wrong, accuracy = terms.right, terms.wrong, terms.accuracy_title
    help_ = METRICS["ece"].worded(terms).help
    return (
        Column("method", "Method", "method"),
        Column("right_to_wrong", f"{right.capitalize()} → {wrong}", "count", f"Was {right}, is now {wrong}."),
        Column("wrong_to_right", f"{wrong.capitalize()} → {right}", "count", f"Was {wrong}, is now {right}."),
        Column("n_used_before", "n before", "count"),
        Column("n_used", "n", "count"),
        Column("accuracy_before", f"{accuracy} before", "share"),
        Column("accuracy", accuracy, "share"),
        Column("ece_before", "ECE before", "number", help_, digits=4),
        Column("ece", "ECE", "number", help_, digits=4),
    )


_MAX_SHOWN: Final = 5
_SCORED: Final = ("choice_logprobs", "choice_logits", "choice_probs", "samples", "samples_parsed")
"""Columns whose answers only the right answer can judge: the best choice, or the majority of the samples."""

_STORED: Final[dict[str, AnswerSource]] = {"sample_correct": "sample_0", "correct_majority": "majority"}
"""Stored outcomes of sampled answers → the answer by which they are compared with the right one."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorrectionEffect(Value):
    """What corrections do to the numbers of one run as seen by one method, by its top label.

    Attributes
    ----------
    method : str
        Its id.
    right_to_wrong, wrong_to_right : int
        Rows whose outcome is another than before.
    n_used_before, n_used : int
        Rows with a confidence and an outcome.
    accuracy_before, accuracy : float or None
        In [0, 1]; None where no row was usable.
    ece_before, ece : float or None
        With 10 bins of equal width.
    """

    method: str
    right_to_wrong: int
    wrong_to_right: int
    n_used_before: int
    n_used: int
    accuracy_before: float | None
    accuracy: float | None
    ece_before: float | None
    ece: float | None

    def to_dict(self) -> dict[str, Any]:
        """Its fields by name."""
        return asdict(self)

    @property
    def text(self) -> str:
        """In words: "2 right → wrong, 5 wrong → right, accuracy 83.2 → 86.4 %, ECE 0.1030 → 0.0870"."""
        terms = METHODS[self.method].terms
        right, wrong = terms.right, terms.wrong
        parts = [f"{self.right_to_wrong:,} {right} → {wrong}, {self.wrong_to_right:,} {wrong} → {right}"]
        if self.accuracy_before is not None and self.accuracy is not None:
            before = format_percent(self.accuracy_before).removesuffix(" %")
            parts.append(f"{terms.accuracy} {before} → {format_percent(self.accuracy)}")
        if self.ece_before is not None and self.ece is not None:
            parts.append(f"ECE {self.ece_before:.4f} → {self.ece:.4f}")
        return ", ".join(parts)


def effects_frame(effects: Sequence[CorrectionEffect]) -> pl.DataFrame:
    """Return one row for each method, with `effect_columns`."""
    return frame_of(effect_columns(ANSWER_TERMS), [effect.to_dict() for effect in effects])


def correction_effect(evidence: Evidence) -> CorrectionEffect | None:
    """Compute what corrections do to one run and method; None where none were given."""
    if not isinstance(evidence, AnswerEvidence) or evidence.run.corrections is None:
        return None
    after, original = evidence.top_label, evidence.run.uncorrected
    try:
        before = gather_evidence(original, evidence.method.id, after.options)
    except Unavailable:
        before = None
    changed: dict[tuple[bool, bool], int] = {}
    if before is not None:
        outcomes = _outcomes(before).join(_outcomes(after), on=row_key(original.rows), suffix="_after")
        counts = outcomes.group_by("correct", "correct_after").len()
        changed = {(was, is_now): count for was, is_now, count in counts.iter_rows()}
    return CorrectionEffect(
        method=evidence.method.id,
        right_to_wrong=changed.get((True, False), 0),
        wrong_to_right=changed.get((False, True), 0),
        n_used_before=0 if before is None else before.n_used,
        n_used=after.n_used,
        accuracy_before=None if before is None else before.accuracy,
        accuracy=after.accuracy,
        ece_before=None if before is None else _ece(before),
        ece=_ece(after),
    )


def _ece(evidence: Evidence) -> float | None:
    return METRICS["ece"].compute(evidence.sums, Scheme())


def _outcomes(evidence: AnswerEvidence) -> pl.DataFrame:
    """The outcome of each usable row, with what identifies the row."""
    pairs = evidence.confidences.pairs
    rows = evidence.run.rows
    keys = rows.select(row_key(rows))[pl.Series(pairs.rows, dtype=pl.UInt32)]
    return keys.with_columns(correct=pl.Series(pairs.correct))


def correction_note(corrections: Corrections) -> str:
    """What was corrected in a run, in a sentence."""
    left_out = plural(corrections.n_left_out, "question")
    return f"Corrections from {corrections.file}: {left_out} left out, {corrections.n_corrected:,} corrected."


# --- Which rows are meant ---------------------------------------------------------------------------------


class _Found(NamedTuple):
    """The rows of a run that a table corrects.

    Attributes
    ----------
    run : AnswerRun
    by_row : pl.DataFrame, as high as the run's rows
        The corrections of each row, null where there are none; `number` is the row of the table.
    """

    run: AnswerRun
    by_row: pl.DataFrame


def with_corrections(
    reading: Reading,
    table: Path | pl.DataFrame | Sequence[Mapping[str, object]] | None,
    options: ReadOptions,
) -> Reading:
    """Return a reading whose runs are corrected by a table, where there is one.

    Parameters
    ----------
    reading : Reading
        What a file holds.
    table : Path, pl.DataFrame, sequence of mappings, or None
        As in `readers.read_corrections`; None: nothing is corrected.
    options : ReadOptions
        How the file was read.

    Raises
    ------
    Refused
        As from `readers.read_corrections` and `apply_corrections`.
    """
    if table is None:
        return reading
    return apply_corrections(reading, read_corrections(table, options=options))


def apply_corrections(reading: Reading, table: CorrectionTable) -> Reading:
    """Return a reading whose runs are corrected.

    Parameters
    ----------
    reading : Reading
        What a file holds.
    table : CorrectionTable
        What is corrected in it.

    Raises
    ------
    Refused
        If the table names no question of the file, or not clearly which, or a question whose outcome cannot
        be known with the right answer that it gives.
    """
    answers = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if reading.refusal is not None or not reading.good_runs:
        return reading
    if not answers:
        raise Refused(
            f"{reading.file} holds positions of texts and no questions that {table.file} could correct."
        )
    found = [_Found(run, _corrections_by_row(run, table, reading.file)) for run in answers]
    _refuse_unclear(found, table, reading.file)
    used = {number for one in found for number in one.by_row["number"].drop_nulls().to_list()}
    if not used:
        raise Refused(_no_match_text(answers, table, reading.file))
    corrected = {id(one.run): _corrected(one, table, reading.file) for one in found}
    runs: list[Run] = [corrected.get(id(run), run) for run in reading.good_runs]
    empty = [run for run in runs if isinstance(run, AnswerRun) and not run.rows.height]
    if len(empty) == len(runs):
        raise Refused(f"{table.file} leaves out every question of {reading.file}.")
    return replace(
        reading,
        good_runs=tuple(run for run in runs if run not in empty) if empty else tuple(runs),
        notes=(
            *reading.notes,
            *_table_notes(table, used),
            *(
                f"{table.file} leaves out every question of {run.label}: the run is left out."
                for run in empty
            ),
        ),
    )


def _corrections_by_row(run: AnswerRun, table: CorrectionTable, file: str) -> pl.DataFrame:
    """The corrections of each row of a run; raises Refused where the run lacks what they are named by."""
    rows = table.rows.rename({"row": "number"})
    for name in RUN_COLUMNS:
        if name not in rows.columns or rows[name].null_count() == rows.height:
            continue
        own = getattr(run.info, name)
        if own is None:
            raise Refused(_unknown_name_text(name, table, file))
        values = rows[name].cast(pl.String)
        rows = rows.filter((values == str(own)).fill_null(value=True))
    keys = run.rows.select(position=pl.int_range(pl.len()))
    names = [name for name in ("id", "trial_of") if run.has_columns(name)]
    if not names:
        named = f"Name them: {Advice(columns={'COLUMN': 'id'})}"
        name_them = worded(named, on_page="Say below which column holds the ids.")
        raise Refused(f"{file} has no column id, by which {table.file} names the questions. {name_them}")
    by_subject = "subject" in rows.columns and rows["subject"].null_count() < rows.height
    if by_subject and not run.has_columns("subject"):
        raise Refused(_unknown_name_text("subject", table, file))
    ids = next((run.rows[name] for name in names if run.rows[name].is_in(rows["id"].implode()).any()), None)
    ids = run.rows[names[0]] if ids is None else ids
    keys = keys.with_columns(ids.alias("id"), column(run, "subject").alias("own_subject"))
    matched = keys.join(rows, on="id", how="inner", maintain_order="left")
    if by_subject:
        matched = matched.filter((pl.col("subject") == pl.col("own_subject")).fill_null(value=True))
        matched = matched.filter(pl.col("subject").is_null() | pl.col("own_subject").is_not_null())
    else:
        matched = matched.with_columns(subject=pl.lit(None, pl.String))
    repeated = matched.filter(pl.col("position").is_duplicated())
    if repeated.height:
        first = repeated.filter(pl.col("position") == repeated["position"][0])
        numbers = join_names([f"{number:,}" for number in first["number"].to_list()])
        raise Refused(
            f"{table.file}: rows {numbers} both correct the question {shorten(str(first['id'][0]), 40)!r} of "
            f"{run.label}. Keep one."
        )
    given = matched.select(
        "position", "number", "subject", LEAVE_OUT, "gold", "gold_index", "correct", "event", REASON
    )
    return keys.join(given, on="position", how="left", maintain_order="left")


def _unknown_name_text(name: str, table: CorrectionTable, file: str) -> str:
    advice = worded(
        f"name the column that does ({Advice(columns={'COLUMN': name})})",
        on_page="say below which column does",
    )
    return (
        f"{table.file} names questions by {name}, and nothing in {file} says its {name}. Either {advice}, or "
        f"leave the column {table.column_of.get(name, name)!r} out of {table.file}."
    )


def _refuse_unclear(found: Sequence[_Found], table: CorrectionTable, file: str) -> None:
    """Raise Refused where a row of the table names questions of several subjects, or of several data sets."""
    places = pl.concat(
        [
            one.by_row.filter(pl.col("number").is_not_null()).select(
                "number", "id", "own_subject", "subject", dataset=pl.lit(one.run.info.dataset, pl.String)
            )
            for one in found
        ]
    )
    named = table.rows.select(
        number="row",
        named_dataset=pl.col("dataset") if "dataset" in table.rows.columns else pl.lit(None, pl.String),
    )
    places = places.join(named, on="number")
    for name, own, given in (
        ("subject", "own_subject", "subject"),
        ("dataset", "dataset", "named_dataset"),
    ):
        several = (
            places.filter(pl.col(given).is_null())
            .group_by("number", "id", maintain_order=True)
            .agg(pl.col(own).drop_nulls().unique(maintain_order=True))
            .filter(pl.col(own).list.len() > 1)
        )
        if several.height:
            values = cast("list[str]", several[own][0].to_list())
            shown = join_names([repr(shorten(value, 40)) for value in values[:_MAX_SHOWN]])
            more = ", …" if len(values) > _MAX_SHOWN else ""
            raise Refused(
                f"{table.file}, row {several['number'][0]:,}: {file} has {shorten(several['id'][0], 40)!r} "
                f"in several values of {name} ({shown}{more}), so which question is meant is not clear. "
                f"Add the column {name} to {table.file}."
            )


def _no_match_text(runs: Sequence[AnswerRun], table: CorrectionTable, file: str) -> str:
    own = dict.fromkeys(
        id_
        for run in runs
        for name in ("id", "trial_of")
        for id_ in column(run, name).drop_nulls().head(_MAX_SHOWN)
    )
    shown_own = ", ".join(shorten(id_, 40) for id_ in [*own][:_MAX_SHOWN])
    shown = ", ".join(shorten(id_, 40) for id_ in table.rows["id"].head(_MAX_SHOWN))
    return (
        f"{table.file} corrects no question of {file}: its column {table.column_of['id']!r} holds {shown} …, "
        f"and the file's ids are {shown_own} …. Give the table whose ids are those of the file."
    )


def _table_notes(table: CorrectionTable, used: set[int]) -> Iterator[str]:
    """Which rows of the table name no question, and which columns are not read."""
    unmatched = table.rows.filter(~pl.col("row").is_in(list(used)))["id"].to_list()
    if unmatched:
        shown = ", ".join(shorten(id_, 40) for id_ in unmatched[:_MAX_SHOWN])
        more = ", …" if len(unmatched) > _MAX_SHOWN else ""
        name = "names" if len(unmatched) == 1 else "name"
        rows = f"{plural(len(unmatched), 'row')} of {table.file}"
        yield f"{rows} {name} no question of the file ({shown}{more})."
    if table.unused_columns:
        names = ", ".join(shorten(name, 40) for name in table.unused_columns[:_MAX_SHOWN])
        more = ", …" if len(table.unused_columns) > _MAX_SHOWN else ""
        yield f"Columns of {table.file} that are not read: {names}{more}."


# --- What they change -------------------------------------------------------------------------------------


def _corrected(found: _Found, table: CorrectionTable, file: str) -> AnswerRun:
    """The run with its corrections."""
    run, by_row = found
    is_left_out = by_row[LEAVE_OUT].fill_null(value=False)
    given = by_row.with_columns(
        pl.when(~is_left_out).then(pl.col(name)) for name in ("gold", "gold_index", "correct", "event")
    )
    rows, has_new_gold = _with_golds(run, given, table, file)
    regraded = _judged_again(run, rows, has_new_gold & given["correct"].is_null(), table, given)
    rows, has_new_outcome = _with_outcomes(run, regraded, given, table, file)
    is_changed = has_new_gold | has_new_outcome
    corrections = Corrections(
        file=table.file,
        n_left_out=int(is_left_out.sum()),
        n_corrected=int(is_changed.sum()),
        changes=_changes(run, rows, given, (is_left_out, has_new_gold, has_new_outcome)),
        original_rows=run.rows.filter(is_left_out | is_changed),
        added_columns=tuple(name for name in rows.columns if name not in run.rows.columns),
    )
    reason = f"{table.file} corrects questions, which the tool did not know"
    kept = ~is_left_out
    counts = replace(
        run.row_counts,
        n_rows=run.n_total - corrections.n_left_out,
        notes=(*run.row_counts.notes, correction_note(corrections)),
    )
    is_other = bool(corrections.n_left_out or corrections.n_corrected)
    return replace(
        run,
        rows=rows.filter(kept) if corrections.n_left_out else rows,
        group_columns=run.group_columns.filter(kept) if run.group_columns.width else run.group_columns,
        row_counts=counts,
        reported_metrics=tuple(
            replace(one, difference_reason=one.difference_reason or reason) if is_other else one
            for one in run.reported_metrics
        ),
        corrections=corrections,
    )


def _place(table: CorrectionTable, given: pl.DataFrame, position: int, name: str) -> str:
    """Where the table corrects a row: "fixes.csv, row 3, column 'gold'"."""
    return f"{table.file}, row {given['number'][position]:,}, column {table.column_of.get(name, name)!r}"


def _with_golds(
    run: AnswerRun, given: pl.DataFrame, table: CorrectionTable, file: str
) -> tuple[pl.DataFrame, pl.Series]:
    """The rows with the right answers given, and which rows have another one than before."""
    gives = given["gold"].is_not_null() | given["gold_index"].is_not_null()
    if not gives.any():
        return run.rows, gives
    if run.has_columns("event_prob") and not run.has_columns("prediction"):
        position = int(gives.arg_true()[0])
        raise Refused(
            f"{_place(table, given, position, 'gold')}: {file} holds probabilities of an event, which has no "
            "right answer. Give whether it is true, in a column event."
        )
    gold, index, several = column(run, "gold"), column(run, "gold_index"), column(run, "gold_all")
    no_list = pl.Series("gold_all", [None], dtype=several.dtype).new_from_index(0, gold.len())
    proposed = run.rows.with_columns(
        given["gold"].zip_with(gives, gold).alias("gold"),
        given["gold_index"].zip_with(gives, index).alias("gold_index"),
        no_list.alias("gold_all"),
    )
    labels = [label for label in run.info.choice_order.split(", ") if label]
    are_numbers = "choices" in run.rows.columns and bool(labels) and all(map(str.isdecimal, labels))
    match = match_gold(proposed, labels, counts=not are_numbers)
    for name, fault in match.faults:
        for at, example in zip(fault.positions, fault.examples, strict=False):
            if gives[int(at)]:
                raise Refused(
                    f"{_place(table, given, int(at), name)}: expected {fault.expected}, found {example!r}. "
                    f"{fault.fix}"
                )
    new_index = match.gold_index.set(~gives, None)
    named = _choice_texts(run, new_index)
    text = (
        given["gold"].fill_null(named)
        if "gold" in run.rows.columns
        else given["gold"].set(new_index.is_not_null(), None)
    )
    same_index = (new_index == index).fill_null(value=False)
    same_text = new_index.is_null() & (given["gold"] == gold).fill_null(value=False)
    is_new = gives & ~same_index & ~same_text
    columns = [
        text.zip_with(is_new, gold).alias("gold"),
        new_index.zip_with(is_new, index).alias("gold_index"),
        no_list.zip_with(is_new, several).alias("gold_all"),
    ]
    return run.rows.with_columns(
        one for one in columns if one.name in run.rows.columns or one.null_count() < one.len()
    ), is_new


def _choice_texts(run: AnswerRun, index: pl.Series) -> pl.Series:
    return column(run, "choices").list.get(index, null_on_oob=True)


def _judged_again(
    run: AnswerRun, rows: pl.DataFrame, is_new: pl.Series, table: CorrectionTable, given: pl.DataFrame
) -> pl.DataFrame:
    """The rows with the outcomes that follow from new right answers, where the file stores outcomes.

    Raises
    ------
    Refused
        If the file does not store the answer, or its outcomes are not those of answer = right answer.
    """
    if not is_new.any():
        return rows
    if (stored := column(run, "correct").set(~is_new, None)).null_count() < stored.len():
        rows = rows.with_columns(_greedy_again(run, rows, stored, table, given))
    for name, answer in _STORED.items():
        values = column(run, name).set(~is_new, None)
        if values.null_count() == values.len():
            continue
        if not (run.has_columns("samples") or run.has_columns("samples_parsed")) or run.has_columns(
            "sample_cluster"
        ):
            raise Refused(
                _no_answer_text(run, table, given, int(values.is_not_null().arg_true()[0]), "leave_out")
            )
        stripped = replace(run, rows=run.rows.drop([one for one in _STORED if one in run.rows.columns]))
        _refuse_other_judgement(
            run, _outcome_of(run, answer), _outcome_of(stripped, answer), table, "leave_out"
        )
        rows = rows.with_columns(rows[name].set(is_new, None))
    return rows


def _outcome_of(run: AnswerRun, answer: AnswerSource) -> pl.Series:
    try:
        return answer_outcomes(run, answer, MethodOptions()).correct
    except Unavailable:
        return pl.Series([None], dtype=pl.Boolean).new_from_index(0, run.rows.height)


def _greedy_again(
    run: AnswerRun, rows: pl.DataFrame, stored: pl.Series, table: CorrectionTable, given: pl.DataFrame
) -> pl.Series:
    """The column `correct`, with the outcomes of the rows that `stored` has outcomes of judged again."""
    by_gold = greedy_correct(replace(run, rows=rows.drop("correct")))
    has_answer = column(run, "prediction").is_not_null() | column(run, "prediction_index").is_not_null()
    needs = stored.is_not_null() & (has_answer | stored.fill_null(value=False))
    unknown = needs & (by_gold.is_null() | ~has_answer)
    if unknown.any():
        raise Refused(_no_answer_text(run, table, given, int(unknown.arg_true()[0]), "correct"))
    before = greedy_correct(replace(run, rows=run.rows.drop("correct")))
    if not _refuse_other_judgement(run, run.rows["correct"], before, table, "correct"):
        kinds = AnswerNormaliser.for_run(replace(run, rows=rows)).kind.filter(
            needs & ~by_gold.fill_null(value=False)
        )
        if (kinds == "text").any():
            raise Refused(
                f"{table.file}: {run.file} compares no other answer with a right one, so it is unknown "
                "whether a text that differs from the corrected one is wrong. Give the outcome, in a "
                "column correct."
            )
    return run.rows["correct"].zip_with(~needs, by_gold).alias("correct")


def _refuse_other_judgement(
    run: AnswerRun, stored: pl.Series, by_gold: pl.Series, table: CorrectionTable, instead: str
) -> int:
    """How many rows have both outcomes; raises Refused where more than few of them differ."""
    differs = (stored != by_gold).fill_null(value=False)
    n_known = int((stored.is_not_null() & by_gold.is_not_null()).sum())
    if differs.sum() > MAX_JUDGED_OTHERWISE * n_known:
        example = column(run, "id")[int(differs.arg_true()[0])]
        raise Refused(
            f"{table.file} corrects right answers, but the outcomes of {run.file} do not follow from them: "
            f"in {differs.sum():,} of {n_known:,} rows the answer equals the right one but counts as "
            f"wrong, or vice versa (such as {shorten(str(example), 40)!r}). {_instead_text(instead)}"
        )
    return n_known


def _no_answer_text(
    run: AnswerRun, table: CorrectionTable, given: pl.DataFrame, position: int, instead: str
) -> str:
    name = "gold" if given["gold"][position] is not None else "gold_index"
    id_ = shorten(str(given["id"][position]), 40)
    return (
        f"{_place(table, given, position, name)}: {run.file} stores whether the answer to {id_!r} is "
        f"right, but no answer that could be compared with the corrected one. {_instead_text(instead)}"
    )


def _instead_text(instead: str) -> str:
    if instead == "correct":
        return (
            "Give the outcome instead, in a column correct (1 or 0), or leave the question out (leave_out)."
        )
    return "Leave such questions out (leave_out)."


def _with_outcomes(
    run: AnswerRun, rows: pl.DataFrame, given: pl.DataFrame, table: CorrectionTable, file: str
) -> tuple[pl.DataFrame, pl.Series]:
    """The rows with the outcomes given, and which rows have another one than before."""
    is_new = pl.repeat(value=False, n=rows.height, eager=True)
    for name in ("correct", "event"):
        values = given[name]
        if not (gives := values.is_not_null()).any():
            continue
        place = _place(table, given, int(gives.arg_true()[0]), name)
        if name == "event" and not run.has_columns("event"):
            raise Refused(f"{place}: {file} holds no events. Give gold or correct.")
        if (
            name == "correct"
            and run.has_columns("event_prob")
            and not run.has_columns("prediction", "correct")
        ):
            raise Refused(f"{place}: {file} holds events. Give whether they are true, in a column event.")
        lacks_gold = gives & given["gold"].is_null() & given["gold_index"].is_null()
        if name == "correct" and lacks_gold.any() and any(run.has_columns(one) for one in _SCORED):
            place = _place(table, given, int(lacks_gold.arg_true()[0]), name)
            raise Refused(
                f"{place}: {file} holds choices or samples, which are judged by the right answer and not by "
                "one outcome. Give the right answer, in a column gold, or leave the question out (leave_out)."
            )
        before = greedy_correct(run) if name == "correct" else run.rows[name]
        own = rows[name] if run.has_columns(name) else greedy_correct(replace(run, rows=rows))
        is_new |= gives & ~(before == values).fill_null(value=False)
        if run.has_columns(name) or is_new.any():
            rows = rows.with_columns(values.zip_with(gives, own).alias(name))
    return rows, is_new


def _changes(
    run: AnswerRun, rows: pl.DataFrame, given: pl.DataFrame, masks: tuple[pl.Series, pl.Series, pl.Series]
) -> pl.DataFrame:
    """One row for each question that is left out or corrected, with `CHANGE_COLUMNS`."""
    left_out, new_gold, new_outcome = masks
    before, after = _gold_texts(run), _gold_texts(replace(run, rows=rows))
    outcome = "event" if run.has_columns("event") else "correct"
    words = {True: "yes", False: "no"} if outcome == "event" else {True: "right", False: "wrong"}
    was = run.rows["event"] if outcome == "event" else greedy_correct(run)
    is_now = column(replace(run, rows=rows), outcome)
    outcome_alone = new_outcome & ~new_gold
    texts = {
        name: golds.zip_with(
            ~outcome_alone, outcomes.replace_strict(words, default=None, return_dtype=pl.String)
        )
        for name, golds, outcomes in (("before", before, was), ("after", after, is_now))
    }
    frame = pl.DataFrame(
        {
            "row": run.rows["row"],
            "id": given["id"],
            "subject": given["own_subject"],
            "change": pl.select(
                pl.when(left_out).then(pl.lit("left out")).when(new_gold).then(pl.lit("right answer"))
                .otherwise(pl.lit("outcome"))
            ).to_series(),
            "before": texts["before"],
            "after": texts["after"].set(left_out, None),
            "reason": given[REASON],
        }
    )  # fmt: skip
    return frame.filter(left_out | new_gold | new_outcome)


def _gold_texts(run: AnswerRun) -> pl.Series:
    """The right answer of each row as text; null where there is none."""
    index = column(run, "gold_index")
    by_index = _choice_texts(run, index).fill_null(index.cast(pl.String))
    return column(run, "gold").fill_null(column(run, "gold_all").list.join(" | ")).fill_null(by_index)
