"""What does a table of corrections change? Questions left out, and right answers or outcomes replaced.

It is applied where a file has become runs, of whatever format, so that a corrected run equals the one that a
file without the questions, or with the right answers, would give. A run keeps the rows that were changed, and
so what it was before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import compress
from pathlib import Path
from typing import Any, Final

import polars as pl

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
from calib_core.readers.table.correction_match import RowCorrections, match_corrections, table_notes
from calib_core.readers.table.corrections import CORRECTING_COLUMNS, LEAVE_OUT, REASON, CorrectionTable
from calib_core.readers.table.gold_match import match_gold
from calib_core.readers.table.gold_table import RIGHT_ANSWER_COLUMNS
from calib_core.results.columns import Column, frame_of
from calib_core.results.evidence import AnswerEvidence, Evidence, gather_evidence
from calib_core.runs import AnswerRun, AnswerSource, Corrections, Run, row_key
from calib_core.terms import ANSWER_TERMS, Terms
from calib_core.values import Value
from calib_core.wording import format_percent, plural

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


_SCORED: Final = ("choice_logprobs", "choice_logits", "choice_probs", "samples", "samples_parsed")
"""Columns whose answers only the right answer can judge: the best choice, or the majority of the samples."""

_GIVE_THE_OUTCOME: Final = (
    "Give the outcome instead, in a column correct (1 or 0), or leave the question out (leave_out)."
)
_LEAVE_THEM_OUT: Final = "Leave such questions out (leave_out)."

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


# --- What they change -------------------------------------------------------------------------------------


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
        As from `readers.read_corrections`; or if the table names no question of the file, or not clearly
        which, or a question whose outcome cannot be known with the right answer that it gives.
    """
    if table is None:
        return reading
    corrections = read_corrections(table, options=options)
    answers = [run for run in reading.good_runs if isinstance(run, AnswerRun)]
    if reading.refusal is not None or not reading.good_runs:
        return reading
    if not answers:
        raise Refused(
            f"{reading.file} holds positions of texts and no questions that {corrections.file} could correct."
        )
    found = match_corrections(answers, corrections, reading.file)
    corrected = {id(run): _corrected(run, given) for run, given in zip(answers, found, strict=True)}
    runs: list[Run] = [corrected.get(id(run), run) for run in reading.good_runs]
    empty = [isinstance(run, AnswerRun) and not run.rows.height for run in runs]
    if all(empty):
        raise Refused(f"{corrections.file} leaves out every question of {reading.file}.")
    left_out = [
        f"{corrections.file} leaves out every question of {run.label}: the run is left out."
        for run in compress(runs, empty)
    ]
    notes = (*reading.notes, *table_notes(corrections, found), *left_out)
    kept = tuple(run for run, is_empty in zip(runs, empty, strict=True) if not is_empty)
    return replace(reading, good_runs=kept, notes=notes)


def _corrected(run: AnswerRun, given: RowCorrections) -> AnswerRun:
    """The run with its corrections."""
    left_out = given.rows[LEAVE_OUT].fill_null(value=False)
    given = replace(
        given, rows=given.rows.with_columns(pl.when(~left_out).then(name) for name in CORRECTING_COLUMNS)
    )
    rows, new_gold = _with_golds(run, given)
    rows = _judged_again(run, rows, new_gold & given.rows["correct"].is_null(), given)
    rows, new_outcome = _with_outcomes(run, rows, given)
    changed = new_gold | new_outcome
    corrections = Corrections(
        file=given.table.file,
        n_left_out=int(left_out.sum()),
        n_corrected=int(changed.sum()),
        changes=_changes(run, rows, given, (left_out, new_gold, new_outcome)),
        original_rows=run.rows.filter(left_out | changed),
        added_columns=tuple(name for name in rows.columns if name not in run.rows.columns),
    )
    reported = run.reported_metrics
    if corrections.n_left_out or corrections.n_corrected:
        reason = f"{given.table.file} corrects questions, which the tool did not know"
        reported = tuple(replace(one, difference_reason=one.difference_reason or reason) for one in reported)
    return replace(
        run,
        rows=rows.filter(~left_out),
        group_columns=run.group_columns.filter(~left_out) if run.group_columns.width else run.group_columns,
        row_counts=replace(
            run.row_counts,
            n_rows=run.n_total - corrections.n_left_out,
            notes=(*run.row_counts.notes, correction_note(corrections)),
        ),
        reported_metrics=reported,
        corrections=corrections,
    )


def _with_golds(run: AnswerRun, given: RowCorrections) -> tuple[pl.DataFrame, pl.Series]:
    """The rows with the right answers given, and which rows have another one than before."""
    gold, index, several = new = [given.rows[name] for name in RIGHT_ANSWER_COLUMNS]
    own = [column(run, name) for name in RIGHT_ANSWER_COLUMNS]
    gives = _gives_gold(given)
    if not gives.any():
        return run.rows, gives
    if run.has_columns("event_prob") and not run.has_columns("prediction"):
        raise Refused(
            f"{given.place('gold', gives)}: {run.file} holds probabilities of an event, which has no right "
            "answer. Give whether it is true, in a column event."
        )
    proposed = run.rows.with_columns(one.zip_with(gives, was) for one, was in zip(new, own, strict=True))
    labels = [label for label in run.info.choice_order.split(", ") if label]
    are_numbers = "choices" in run.rows.columns and bool(labels) and all(map(str.isdecimal, labels))
    match = match_gold(proposed, labels, counts=not are_numbers)
    for name, fault in match.faults:
        for at, example in zip(fault.positions, fault.examples, strict=False):
            if gives[int(at)]:
                where = given.rows["number"] == given.rows["number"][int(at)]
                raise Refused(
                    f"{given.place(name, where)}: expected {fault.expected}, found {example!r}. {fault.fix}"
                )
    index = match.gold_index.set(~gives, None)
    same_gold, same_index, same_list = (
        (one == was).fill_null(value=False) for one, was in zip((gold, index, several), own, strict=True)
    )
    same_text = (same_gold | gold.is_null()) & (same_list | several.is_null())
    is_new = gives & ~same_index & ~(index.is_null() & same_text)
    text = gold.set(index.is_not_null(), None)
    if "gold" in run.rows.columns:
        text = gold.fill_null(_choice_texts(run, index))
    golds = [one.zip_with(is_new, was) for one, was in zip((text, index, several), own, strict=True)]
    return run.rows.with_columns(
        one for one in golds if one.name in run.rows.columns or one.null_count() < one.len()
    ), is_new


def _gives_gold(given: RowCorrections) -> pl.Series:
    """The rows whose right answer the table gives."""
    return given.rows.select(pl.any_horizontal(pl.col(RIGHT_ANSWER_COLUMNS).is_not_null())).to_series()


def _choice_texts(run: AnswerRun, index: pl.Series) -> pl.Series:
    return column(run, "choices").list.get(index, null_on_oob=True)


def _judged_again(
    run: AnswerRun, rows: pl.DataFrame, is_new: pl.Series, given: RowCorrections
) -> pl.DataFrame:
    """The rows with the outcomes that follow from new right answers, where the file stores outcomes.

    Raises
    ------
    Refused
        If the file does not store the answer, or its outcomes are not those of answer = right answer.
    """
    if (is_new & column(run, "correct").is_not_null()).any():
        rows = rows.with_columns(_greedy_again(run, rows, is_new, given))
    for name, answer in _STORED.items():
        if not (stored := is_new & column(run, name).is_not_null()).any():
            continue
        has_samples = run.has_columns("samples") or run.has_columns("samples_parsed")
        if not has_samples or run.has_columns("sample_cluster"):
            raise Refused(_no_answer_text(run, given, stored, _LEAVE_THEM_OUT))
        stripped = replace(run, rows=run.rows.drop(_STORED, strict=False))
        by_gold = _outcome_of(stripped, answer)
        _refuse_other_judgement(run, _outcome_of(run, answer), by_gold, given.table, _LEAVE_THEM_OUT)
        rows = rows.with_columns(rows[name].set(is_new, None))
    return rows


def _outcome_of(run: AnswerRun, answer: AnswerSource) -> pl.Series:
    try:
        return answer_outcomes(run, answer, MethodOptions()).correct
    except Unavailable:
        return pl.Series([None], dtype=pl.Boolean).new_from_index(0, run.rows.height)


def _greedy_again(run: AnswerRun, rows: pl.DataFrame, is_new: pl.Series, given: RowCorrections) -> pl.Series:
    """The column `correct`, in which the outcomes of new right answers are judged again."""
    stored = run.rows["correct"]
    before, after = (greedy_correct(replace(run, rows=one.drop("correct"))) for one in (run.rows, rows))
    has_answer = column(run, "prediction").is_not_null() | column(run, "prediction_index").is_not_null()
    needs = is_new & stored.is_not_null() & (has_answer | stored.fill_null(value=False))
    unknown = needs & (after.is_null() | ~has_answer)
    if unknown.any():
        raise Refused(_no_answer_text(run, given, unknown, _GIVE_THE_OUTCOME))
    if not _refuse_other_judgement(run, stored, before, given.table, _GIVE_THE_OUTCOME):
        kinds = AnswerNormaliser.for_run(replace(run, rows=rows)).kind
        if (kinds.filter(needs & ~after.fill_null(value=False)) == "text").any():
            raise Refused(
                f"{given.table.file}: {run.file} compares no other answer with a right one, so it is "
                "unknown whether a text that differs from the corrected one is wrong. Give the outcome, "
                "in a column correct."
            )
    return stored.zip_with(~needs, after).alias("correct")


def _refuse_other_judgement(
    run: AnswerRun, stored: pl.Series, by_gold: pl.Series, table: CorrectionTable, advice: str
) -> int:
    """How many rows have both outcomes; raises Refused where more than few of them differ."""
    differs = (stored != by_gold).fill_null(value=False)
    n_known = int((stored.is_not_null() & by_gold.is_not_null()).sum())
    if differs.sum() > MAX_JUDGED_OTHERWISE * n_known:
        example = column(run, "id").filter(differs)[0]
        raise Refused(
            f"{table.file} corrects right answers, but the outcomes of {run.file} do not follow from them: "
            f"in {differs.sum():,} of {n_known:,} rows the answer equals the right one but counts as "
            f"wrong, or vice versa (such as {shorten(str(example), 40)!r}). {advice}"
        )
    return n_known


def _no_answer_text(run: AnswerRun, given: RowCorrections, where: pl.Series, advice: str) -> str:
    first = given.rows.filter(where)
    name = next(name for name in RIGHT_ANSWER_COLUMNS if first[name][0] is not None)
    return (
        f"{given.place(name, where)}: {run.file} stores whether the answer to "
        f"{shorten(str(first['id'][0]), 40)!r} is right, but no answer that could be compared with the "
        f"corrected one. {advice}"
    )


def _with_outcomes(
    run: AnswerRun, rows: pl.DataFrame, given: RowCorrections
) -> tuple[pl.DataFrame, pl.Series]:
    """The rows with the outcomes given, and which rows have another one than before."""
    is_new = pl.repeat(value=False, n=rows.height, eager=True)
    for name in ("correct", "event"):
        values = given.rows[name]
        if not (gives := values.is_not_null()).any():
            continue
        if name == "event" and not run.has_columns("event"):
            raise Refused(f"{given.place(name, gives)}: {run.file} holds no events. Give gold or correct.")
        if name == "correct":
            _refuse_an_outcome(run, given, gives)
        before = greedy_correct(run) if name == "correct" else run.rows[name]
        own = rows[name] if run.has_columns(name) else greedy_correct(replace(run, rows=rows))
        is_new |= gives & ~(before == values).fill_null(value=False)
        if run.has_columns(name) or is_new.any():
            rows = rows.with_columns(values.zip_with(gives, own).alias(name))
    return rows, is_new


def _refuse_an_outcome(run: AnswerRun, given: RowCorrections, gives: pl.Series) -> None:
    """Raise Refused where whether an answer is right does not judge what the run holds."""
    if run.has_columns("event_prob") and not run.has_columns("prediction", "correct"):
        raise Refused(
            f"{given.place('correct', gives)}: {run.file} holds events. Give whether they are true, in a "
            "column event."
        )
    lacks_gold = gives & ~_gives_gold(given)
    if lacks_gold.any() and any(map(run.has_columns, _SCORED)):
        raise Refused(
            f"{given.place('correct', lacks_gold)}: {run.file} holds choices or samples, which are judged by "
            "the right answer and not by one outcome. Give the right answer, in a column gold, or leave the "
            "question out (leave_out)."
        )


def _changes(
    run: AnswerRun, rows: pl.DataFrame, given: RowCorrections, masks: tuple[pl.Series, pl.Series, pl.Series]
) -> pl.DataFrame:
    """One row for each question that is left out or corrected, with `CHANGE_COLUMNS`."""
    left_out, new_gold, new_outcome = masks
    corrected, is_event = replace(run, rows=rows), run.has_columns("event")
    words = {True: "yes", False: "no"} if is_event else {True: "right", False: "wrong"}
    was = run.rows["event"] if is_event else greedy_correct(run)
    now = column(corrected, "event" if is_event else "correct")
    is_outcome = new_outcome & ~new_gold
    before, after = (
        outcome.replace_strict(words, default=None, return_dtype=pl.String).zip_with(is_outcome, golds)
        for outcome, golds in ((was, _gold_texts(run)), (now, _gold_texts(corrected)))
    )
    kinds = pl.when(left_out).then(pl.lit("left out")).when(is_outcome).then(pl.lit("outcome"))
    return given.rows.select(
        run.rows["row"],
        "id",
        pl.col("own_subject").alias("subject"),
        kinds.otherwise(pl.lit("right answer")).alias("change"),
        before.alias("before"),
        after.set(left_out, None).alias("after"),
        REASON,
    ).filter(left_out | new_gold | new_outcome)


def _gold_texts(run: AnswerRun) -> pl.Series:
    """The right answer of each row as text; null where there is none."""
    index = column(run, "gold_index")
    by_index = _choice_texts(run, index).fill_null(index.cast(pl.String))
    return column(run, "gold").fill_null(column(run, "gold_all").list.join(" | ")).fill_null(by_index)
