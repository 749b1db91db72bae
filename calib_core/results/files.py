"""What is this file, and what can it give? One report for the command line and for the page Files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal, Protocol, TypeAlias, cast

import numpy as np
import polars as pl

from calib_core.advice import Advice, worded
from calib_core.errors import (
    MAX_MESSAGE_CHARS,
    Problem,
    Refused,
    Suspicion,
    Unavailable,
    shorten,
    single_line,
)
from calib_core.inference.suspicion import outcomes_disagree
from calib_core.inference.verdict import Verdict
from calib_core.methods import METHODS, methods_of
from calib_core.methods.answers.outcomes import greedy_correct, with_assumed_outcomes
from calib_core.methods.method import Confidences, MethodOptions
from calib_core.methods.self_consistency import COMPARED_WHOLE
from calib_core.methods.stored_confidence import GIVEN
from calib_core.metrics.auroc import AUROC
from calib_core.readers.format import AS_IT_LIES, Candidate, Reading, ReadOptions
from calib_core.readers.merged_runs import group_parts, merge_parts, tables_as_parts
from calib_core.readers.table.candidates import ANSWER_AND_GOLD
from calib_core.readers.table.columns import CONFIDENCE_SOURCES, MAJORITY, role_of
from calib_core.readers.table.names import name_within
from calib_core.readers.table.one_column import SUPPORTING
from calib_core.readers.table.plans import Plan, pattern_plans, plans, said_columns
from calib_core.readers.table.rows import GOLD_COLUMNS, TRUTH_COLUMNS
from calib_core.readers.table.run_split import REPEATED_ID
from calib_core.readers.table.shape import fits_pattern, has_wildcard
from calib_core.results.corrections import CorrectionEffect, correction_effect
from calib_core.results.defaults import default_method
from calib_core.results.evidence import (
    AnswerEvidence,
    Evidence,
    MethodSurvey,
    gather_evidence,
    restored_survey,
    survey_methods,
)
from calib_core.results.judge_labels import has_judge
from calib_core.results.score import score
from calib_core.runs import AnswerRun, Run, TokenRun, confidence_name
from calib_core.values import Value
from calib_core.wording import join_names, plural

FileStatus = Literal["loads", "asks", "refused"]

SIMPLEST_METHOD: Final = GIVEN.id
"""The method that needs least; if a file supports no method, the reason for this one comes first, after those
for the confidences that the file itself names."""
SPIKE_SHARE: Final = 0.1
"""A single value with at least this share of a run's rows is reported as a spike …"""
SPIKE_ROWS: Final = 20
"""… provided it has at least this many rows."""


@dataclass(frozen=True, slots=True)
class ConfidenceSpike:
    """A confidence that many rows share, and their number."""

    value: float
    count: int


@dataclass(frozen=True, eq=False)
class RunReport:
    """What one run of a file can give.

    Attributes
    ----------
    run : Run
    survey : MethodSurvey
        Which methods the run supports, and why not the others.
    """

    run: Run
    survey: MethodSurvey

    @cached_property
    def _n_right_and_known(self) -> tuple[int, int]:
        return _outcome_counts(self.run)

    @property
    def accuracy(self) -> float | None:
        """Accuracy of the answer named by `judged`, in [0, 1]; None where no outcome is known."""
        n_right, n_known = self._n_right_and_known
        return n_right / n_known if n_known else None

    @property
    def unweighted_note(self) -> str:
        """Says of its accuracy that rows count alike, where they have weights; "" where they have none."""
        run = self.run
        has_weights = isinstance(run, AnswerRun) and run.has_columns("weight")
        return ", without weights" if has_weights else ""

    @property
    def n_known_outcomes(self) -> int:
        """Rows in which it is known whether that answer is right."""
        return self._n_right_and_known[1]

    @cached_property
    def spikes(self) -> Mapping[str, tuple[ConfidenceSpike, ...]]:
        """Method id → confidences that many rows share."""
        return {
            id_: run_spikes
            for id_, evidence in self.survey.usable.items()
            if (run_spikes := _confidence_spikes(evidence))
        }

    @property
    def has_judge_and_people(self) -> bool:
        """Whether it has a judge's labels beside people's, which need no confidence."""
        return _has_judge_and_people(self.run)

    @property
    def n_judged_by_people(self) -> int:
        """Rows with a label of the judge and one of a person."""
        if isinstance(self.run, TokenRun) or not self.run.has_judge_and_people:
            return 0
        rows = self.run.rows.filter(pl.col("judge").is_not_null())
        labelled = rows.select(pl.any_horizontal(pl.col(self.run.human_columns).is_not_null()))
        return int(labelled.to_series().sum())

    @property
    def judge_text(self) -> str:
        """What it has of a judge, in a few words; "" without labels of a judge and of people."""
        if not self.has_judge_and_people:
            return ""
        return f"a judge's labels beside people's in {plural(self.n_judged_by_people, 'row')}"

    @property
    def kind(self) -> Literal["answers", "tokens"]:
        """Whether the rows are answers to questions or positions of a text."""
        return "tokens" if isinstance(self.run, TokenRun) else "answers"

    @property
    def judged(self) -> Literal["greedy answer", "top label"]:
        """The answer whose accuracy `accuracy` is."""
        return "top label" if isinstance(self.run, TokenRun) else "greedy answer"

    @property
    def usable(self) -> dict[str, int]:
        """Method id → rows with a confidence and an outcome."""
        return {id_: evidence.n_used for id_, evidence in self.survey.usable.items()}

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """What suggests that the run means something else than it was taken for, each once."""
        evidences = self.survey.usable.values()
        return tuple(dict.fromkeys(found for evidence in evidences for found in evidence.suspicions))

    @cached_property
    def correction_effects(self) -> tuple[CorrectionEffect, ...]:
        """What corrections do to the numbers of each usable method; () without corrections."""
        effects = map(correction_effect, self.survey.usable.values())
        return tuple(effect for effect in effects if effect is not None)

    @property
    def missing(self) -> dict[str, dict[str, int]]:
        """Method id → reason → number of rows without this confidence."""
        return {
            id_: dict(evidence.missing) for id_, evidence in self.survey.usable.items() if evidence.missing
        }


class ReadAgain(Protocol):
    """Reads a file again, with further columns, patterns, rows or missing values named.

    It may raise `errors.Refused`.
    """

    def __call__(self, further: ReadOptions, /) -> Reading:
        """Read the file."""
        ...


MAX_FILES_NAMED: Final = 5
"""Files that the message on files read together names."""

MAX_TRIALS: Final = 8
"""Mappings that are tried for a proposal."""

MAX_ADVISED_COLUMNS: Final = 8
"""Columns that could be used which advice names."""

MAX_BAD_SHARE: Final = 0.1
"""A column with a larger share of bad rows is not proposed."""


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What the first run of a file comes to, in a few numbers.

    Attributes
    ----------
    n_rows : int
        Rows of the file, bad ones included.
    n_runs : int
    accuracy : float or None
        In [0, 1], of the greedy answer, or else of the answer that the method judges; None where no outcome
        is known.
    mean_confidence : float or None
        In [0, 1]; None for a run that is sums already.
    auroc : float or None
        In [0, 1]; None for a run that is sums already, or where all outcomes are equal.
    method : str
        Id of the method whose confidence it is, the run's default one; "" for a judge's labels without a
        confidence.
    n_judged_by_people : int
        Rows with a label of a judge and one of a person.
    n_bad_rows : int
    """

    n_rows: int
    n_runs: int
    accuracy: float | None
    mean_confidence: float | None
    auroc: float | None
    method: str
    n_judged_by_people: int = 0
    n_bad_rows: int = 0


def run_figures(report: FileReport) -> RunFigures:
    """What the first run of a usable file comes to with its default method."""
    run, n_bad = report.runs[0], report.n_bad_rows
    accuracy, mean, auroc = run.accuracy, None, None
    if not run.survey.usable:
        n_judged = run.n_judged_by_people
        return RunFigures(report.n_rows, len(report.runs), accuracy, mean, auroc, "", n_judged, n_bad)
    method = default_method(run.survey.usable)
    evidence = run.survey.usable[method]
    accuracy = accuracy if evidence.terms.of == "answer" else None
    if isinstance(evidence, AnswerEvidence):
        mean = float(np.mean(evidence.pairs.confidence))
        accuracy = float(np.mean(evidence.pairs.correct)) if accuracy is None else accuracy
        with suppress(Unavailable):
            auroc = score(evidence, AUROC.id).value
    return RunFigures(report.n_rows, len(report.runs), accuracy, mean, auroc, method, n_bad_rows=n_bad)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A reading of a file that was tried; with others, a question.

    Attributes
    ----------
    mapping : Mapping[str, str]
        Column → the name that it may stand for.
    wide : Mapping[str, str]
        Pattern of columns → the name that they may stand for, for systems side by side in each row.
    rows : str
        Path of the rows, where a file holds rows in several places; else "".
    row_columns : tuple of str
        The columns of the rows there; () where `rows` is "".
    missing : tuple of str
        Values that count as missing.
    outcome : str
        What the file comes to with it.
    figures : RunFigures
        The same as numbers.
    n_bad_rows : int
        Rows that are bad with it.
    agreement : float
        Share of rows, in [0, 1], whose answer has the outcome that the file stores; 0 if that is not known.
    unsaid : tuple of str
        Why only a person can know that it is meant; () where the names say it.
    difference : str
        How often its outcome differs from that of the likeliest reading; "" where it does not.
    alternatives : tuple of Proposal
        Other readings that were tried and may be meant as well, so that a person has to choose.
    pairs_hash : int
        Of the confidences and outcomes of all runs: the same where another reading comes to the same.
    """

    mapping: Mapping[str, str]
    wide: Mapping[str, str]
    outcome: str
    figures: RunFigures
    n_bad_rows: int
    agreement: float
    alternatives: tuple[Proposal, ...] = ()
    rows: str = ""
    row_columns: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()
    difference: str = ""
    pairs_hash: int = field(default=0, compare=False)

    @property
    def readings(self) -> tuple[Proposal, ...]:
        """The reading itself, then the alternatives."""
        return replace(self, alternatives=()), *self.alternatives

    @property
    def is_question(self) -> bool:
        """Whether a person has to choose; else it can be accepted as it is."""
        return bool(self.unsaid or self.alternatives)

    @property
    def question(self) -> str:
        """What a person has to decide; "" where it is no question."""
        if not self.is_question:
            return ""
        if self.unsaid:
            reasons = dict.fromkeys(
                reason.removesuffix(".") for one in self.readings for reason in one.unsaid
            )
            ending = (
                "Choose one only if you know that it is meant."
                if self.alternatives
                else "Use this reading only if you know that it is meant."
            )
            return f"{'. '.join(reasons)}. {ending}"
        what = "readings" if self.rows else "mappings"
        differences = (f" {one.difference}." for one in self.readings if one.difference)
        return f"{len(self.readings)} {what} are equally likely: choose one.{''.join(differences)}"

    @property
    def options(self) -> ReadOptions:
        """What is named in addition where the file is read so."""
        return ReadOptions(self.mapping, self.rows, self.wide, self.missing)

    @property
    def summary(self) -> str:
        """What to name for it, and what the file comes to with them; so for each alternative."""
        if self.is_question:
            return "\n- ".join((self.question, *(one.line for one in self.readings)))
        return self.line

    @property
    def line(self) -> str:
        """What to name for this reading alone, and what the file comes to with them."""
        options = Advice(
            rows=self.rows,
            columns=self.mapping,
            wide=self.wide,
            missing=self.missing,
            skip_bad_rows=bool(self.n_bad_rows),
        )
        bad_text = f" without {plural(self.n_bad_rows, 'bad row')}" if self.n_bad_rows else ""
        auroc = self.figures.auroc if self.unsaid else None
        ranking = "" if auroc is None else f", AUROC {auroc:.4f}"
        return f"With {options} it loads{bad_text}: {self.outcome}{ranking}."


@dataclass(frozen=True, slots=True)
class UnusedColumn:
    """A column that could hold a confidence, an answer or an outcome, and is not used.

    Attributes
    ----------
    column, could_be : str
        Column of the file, and Calib's name for what it could be.
    why : str
        Why it is not used.
    mappings : tuple of Mapping[str, str]
        The ways in which it could be read: column → name.
    """

    column: str
    could_be: str
    why: str
    mappings: tuple[Mapping[str, str], ...]

    @property
    def line(self) -> str:
        """The column, why it is not used, and how it would be."""
        options = join_names([str(Advice(columns=mapping)) for mapping in self.mappings], "or")
        return f"{shorten(self.column, 40)!r} is not used: {self.why}. {self.condition}: {options}"

    @property
    def condition(self) -> str:
        """When it may be read so."""
        if MAJORITY in self.mappings[0]:
            return "To judge it by the majority of the samples"
        return f"If it is {_COULD_BE.get(self.could_be, self.could_be)}"


_NO_CONFIDENCE: Final = "no column says how sure the model was"
_NO_TRUTH: Final = "no column says what is right"
_COULD_BE: Final = MappingProxyType(
    {
        "correct": "the outcome",
        "gold": "the right answer",
        "prediction": "the model's answer",
        "confidence": "the confidence",
    }
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileReport(Value):
    """What one file holds, what is wrong with it, and what each of its runs can give.

    Attributes
    ----------
    file, format : str
    status : {"loads", "asks", "refused"}
        "asks" if some rows are bad, so that a person decides whether to leave them out.
    message : str
        The report in one paragraph.
    n_rows, n_bad_rows : int
    problems : tuple[Problem, ...]
    runs : tuple[RunReport, ...]
    columns, unused_columns : tuple[str, ...]
        All columns, and those nothing is read from.
    proposed_mapping : Mapping[str, str]
        Column → the role it seems to have.
    group_columns : tuple[str, ...]
        Columns without a role that sort the rows into groups.
    column_roles : Mapping[str, str]
        Column → the role it is read as.
    notes : tuple[str, ...]
        What else a person has to know about how the file was read.
    warnings : tuple[str, ...]
        What suggests that it means something else than it was taken for.
    suspicions : tuple of Suspicion
        Those of the warnings that concern columns no run is made of.
    proposal : Proposal or None
        A mapping with which it was tried and loads, where without one nothing in it can be used.
    said_columns : Mapping[str, str]
        Columns that are not read → what their names say that they are, the likeliest of each name.
    columns_not_used : tuple of UnusedColumn
        Columns that could hold a confidence, an answer or an outcome, with why they are not used.
    candidates, preview, needs_gold
        As in `calib_core.readers.format.Reading`.
    """

    file: str
    format: str
    status: FileStatus
    message: str
    n_rows: int
    n_bad_rows: int
    problems: tuple[Problem, ...]
    runs: tuple[RunReport, ...]
    columns: tuple[str, ...]
    unused_columns: tuple[str, ...]
    proposed_mapping: Mapping[str, str]
    group_columns: tuple[str, ...] = ()
    column_roles: Mapping[str, str] = field(default_factory=dict[str, str])
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    proposal: Proposal | None = None
    said_columns: Mapping[str, str] = field(default_factory=dict[str, str])
    columns_not_used: tuple[UnusedColumn, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    preview: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    needs_gold: bool = False

    def __repr__(self) -> str:
        return f"<FileReport {self.status}: {single_line(self.message, 120)}>"

    @property
    def notes_of_all_runs(self) -> tuple[str, ...]:
        """The notes on the file that each of its runs has, to be said once; () for a single run."""
        if len(self.runs) < 2:
            return ()
        return tuple(
            note for note in self.notes if all(note in run.run.row_counts.notes for run in self.runs)
        )

    @property
    def supporting_columns(self) -> dict[str, str]:
        """Those of `said_columns` that decide on no number, such as the model."""
        return {column: name for column, name in self.said_columns.items() if name in SUPPORTING}

    @property
    def advice(self) -> str:
        """What to name, or to decide, a line each; "" for nothing."""
        lines = [one.line for one in self.columns_not_used[:MAX_ADVISED_COLUMNS]]
        if self.proposal is not None:
            lines.insert(0, self.proposal.summary)
        elif self.supporting_columns:
            lines.insert(0, f"Possible columns; if right, add: {Advice(columns=self.supporting_columns)}")
        return "\n".join(lines)

    @property
    def full_message(self) -> str:
        """The message, and for a file that is refused the advice, which is never cut off."""
        advice = f"\n{self.advice}" if self.status == "refused" and self.advice else ""
        return shorten(self.message, MAX_MESSAGE_CHARS - len(advice)) + advice

    def to_frame(self) -> pl.DataFrame:
        """One row for each run and method: run, method, used, missing, left_out, reason."""
        records = [
            {
                "run": report.run.label,
                "method": id_,
                "used": report.usable.get(id_, 0),
                "missing": sum(report.missing.get(id_, {}).values()),
                "left_out": report.run.row_counts.n_left_out,
                "reason": report.survey.unavailable.get(id_),
            }
            for report in self.runs
            for id_ in (*report.survey.usable, *report.survey.unavailable)
        ]
        return pl.DataFrame(records, schema=_REPORT_SCHEMA)


_REPORT_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = MappingProxyType(
    {
        "run": pl.String,
        "method": pl.String,
        "used": pl.Int64,
        "missing": pl.Int64,
        "left_out": pl.Int64,
        "reason": pl.String,
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class SurveyedFile:
    """What a file holds and what every method makes of its runs, as plain data that can be kept on disk.

    Attributes
    ----------
    reading : Reading
    confidences : tuple of (Mapping[str, Confidences] or None)
        For each good run, method id → what the method computes with its default options; None for a run
        that is sums already.
    unavailable : tuple of Mapping[str, str]
        For each good run, method id → why the run does not support it.
    verdicts : tuple of Mapping[str, Verdict]
        For each good run, the id of the method that stands for it → its verdict; empty without methods.
    proposal : Proposal or None
        As `FileReport.proposal`.
    """

    reading: Reading
    confidences: tuple[Mapping[str, Confidences] | None, ...]
    unavailable: tuple[Mapping[str, str], ...]
    verdicts: tuple[Mapping[str, Verdict], ...]
    proposal: Proposal | None = None

    def report(self) -> FileReport:
        """The report on the file."""
        runs = zip(self.reading.good_runs, self.confidences, self.unavailable, self.verdicts, strict=True)
        return _file_report(
            self.reading,
            tuple(
                RunReport(run, survey_methods(run).with_verdicts(verdicts))
                if confidences is None or isinstance(run, TokenRun)
                else RunReport(run, restored_survey(run, confidences, unavailable, verdicts))
                for run, confidences, unavailable, verdicts in runs
            ),
            self.proposal,
        )


def survey_file(reading: Reading, read_again: ReadAgain | None = None) -> SurveyedFile:
    """Try every method, with its default options, on the runs of a file that was read, and judge each run.

    A run is judged by the method that stands for it. `read_again` is as in `check_file`.
    """
    surveys = [survey_methods(run) for run in reading.good_runs]
    is_usable = any(survey.usable for survey in surveys) or any(map(_has_judge_and_people, reading.good_runs))
    return SurveyedFile(
        reading,
        tuple(
            None
            if isinstance(run, TokenRun)
            else {
                id_: evidence.confidences
                for id_, evidence in survey.usable.items()
                if isinstance(evidence, AnswerEvidence)
            }
            for run, survey in zip(reading.good_runs, surveys, strict=True)
        ),
        tuple(survey.unavailable for survey in surveys),
        tuple(_default_verdict(survey) for survey in surveys),
        None if read_again is None else _proposal(reading, read_again, is_usable=is_usable),
    )


def _default_verdict(survey: MethodSurvey) -> dict[str, Verdict]:
    """The id of the method that stands for a run → its verdict; empty where no method can be used."""
    if not survey.usable:
        return {}
    method = default_method(survey.usable)
    return {method: survey.usable[method].verdict}


def check_file(
    reading: Reading, options: MethodOptions | None = None, read_again: ReadAgain | None = None
) -> FileReport:
    """The report on a file that was read.

    Its status is "refused" where no run supports any confidence method.

    Parameters
    ----------
    reading : Reading
        What the file holds.
    options : MethodOptions, optional
        Options of the confidence methods.
    read_again : callable, optional
        Reads the file again with further columns named, to try what its columns may mean where nothing in it
        can be used without.
    """
    runs = tuple(run_report(run, options) for run in reading.good_runs)
    is_usable = any(report.usable or report.has_judge_and_people for report in runs)
    proposal = None if read_again is None else _proposal(reading, read_again, is_usable=is_usable)
    return _file_report(reading, runs, proposal)


def _file_report(reading: Reading, runs: tuple[RunReport, ...], proposal: Proposal | None) -> FileReport:
    usable = any(report.usable or report.has_judge_and_people for report in runs)
    disagreeing = tuple(_disagreeing_outcomes(reading))
    warnings = tuple(
        found.text
        for found in dict.fromkeys(found for report in runs for found in (*report.suspicions, *disagreeing))
    )
    status: FileStatus = "refused" if not usable else "asks" if reading.n_bad_rows else "loads"
    message = _reading_summary(reading) if usable else _unusable_message(reading, runs)
    return FileReport(
        file=reading.file,
        format=reading.format,
        status=status,
        message=shorten(message, MAX_MESSAGE_CHARS),
        n_rows=reading.n_rows,
        n_bad_rows=reading.n_bad_rows,
        problems=reading.problems,
        runs=runs,
        columns=reading.columns,
        unused_columns=reading.unused_columns,
        proposed_mapping=reading.proposed_mapping,
        group_columns=reading.group_columns,
        column_roles=reading.column_roles,
        notes=reading.notes,
        warnings=warnings,
        suspicions=disagreeing,
        proposal=proposal,
        said_columns=said_columns(reading.candidates, reading.column_roles),
        columns_not_used=(*_not_judged(reading, runs), *columns_not_used(reading, proposal)),
        candidates=reading.candidates,
        preview=reading.preview,
        needs_gold=reading.needs_gold,
    )


def _disagreeing_outcomes(reading: Reading) -> Iterator[Suspicion]:
    """Columns of outcomes that are not read and differ from the one that is."""
    read = next((column for column, name in reading.column_roles.items() if role_of(name) == "correct"), "")
    for one in reading.candidates:
        if one.n_differing and one.compared_with in (read, ANSWER_AND_GOLD):
            other = next(iter(one.names))
            found = outcomes_disagree(one.compared_with, other, one.n_differing, one.n_compared, one.example)
            yield from () if found is None else (found,)


Needs: TypeAlias = Literal["outcomes", "confidences", "judge"]
"""What a run has to have: confidences with outcomes, confidences, or a judge's labels or the first."""


def usable_runs(
    reading: Reading,
    *,
    skip_bad_rows: bool = False,
    read_again: ReadAgain | None = None,
    needs: Needs = "outcomes",
) -> tuple[Run, ...]:
    """The runs to compute with; `read_again` as in `check_file`.

    Where only confidences are needed, a run whose rows have no outcome is usable, too; where a judge's labels
    are enough, one that has nothing but these.

    Raises
    ------
    BadRowsFound
        Where rows are bad and `skip_bad_rows` is False.
    Refused
        Where no method has a usable row, even if bad rows could be left out.
    """
    if needs == "judge" and any(map(has_judge, reading.good_runs)):
        return reading.runs(skip_bad_rows=skip_bad_rows)
    if not any(
        _supports_method(with_assumed_outcomes(run) if needs == "confidences" else run, method_id)
        for run in reading.good_runs
        for method_id in methods_of(run)
    ):
        if any(map(_has_judge_and_people, reading.good_runs)):
            raise Refused(
                f"{reading.file} holds a judge's labels beside people's, but no confidence: "
                + worded(
                    "compare them with calib judge.",
                    in_python="compare them with calib_core.judge.",
                    on_page="compare them on the page Judge.",
                )
            )
        raise Refused(check_file(reading, read_again=read_again).full_message)
    return reading.runs(skip_bad_rows=skip_bad_rows)


def _has_judge_and_people(run: Run) -> bool:
    return isinstance(run, AnswerRun) and run.has_judge_and_people


def _supports_method(run: Run, method_id: str) -> bool:
    try:
        gather_evidence(run, method_id)
    except Unavailable:
        return False
    return True


def run_report(run: Run, options: MethodOptions | None = None) -> RunReport:
    """What one run can give."""
    return RunReport(run, survey_methods(run, options))


def _outcome_counts(run: Run) -> tuple[int, int]:
    """How many answers are right, and of how many that is known."""
    if isinstance(run, TokenRun):
        return run.sums.top_label.n_correct, run.sums.n_rows
    correct = greedy_correct(run).drop_nulls()
    return int(correct.sum()), correct.len()


def _confidence_spikes(evidence: Evidence) -> tuple[ConfidenceSpike, ...]:
    """Values that many rows share, except for confidences that are fractions k/N by construction."""
    if evidence.method.uses_samples:
        return ()
    value, count = evidence.value_counts()
    least = max(SPIKE_ROWS, SPIKE_SHARE * evidence.n_used)
    if count.max(initial=0) < least:
        return ()
    spikes = np.flatnonzero(count >= least)
    order = spikes[np.argsort(-count[spikes], kind="stable")]
    return tuple(ConfidenceSpike(float(value[index]), int(count[index])) for index in order)


def joined_reports(reports: Sequence[FileReport]) -> tuple[FileReport, ...]:
    """The reports of files that are read together: those with parts of one run become one report.

    Parameters
    ----------
    reports : Sequence[FileReport]
        Of files that are loaded, in the order of the files.

    Returns
    -------
    tuple of FileReport
        In the order of their first files; the others are as they were. Columns are described as in the first
        file, and the message names all files.
    """
    of_file = [(position, run) for position, report in enumerate(reports) for run in report.runs]
    parts = tables_as_parts(run.run for _, run in of_file)
    origin = {id(part): pair for part, pair in zip(parts, of_file, strict=True)}
    groups = group_parts(parts)
    first = list(range(len(reports)))  # file → the first of the files that it shares a run with
    for group in groups:
        joined = {first[origin[id(part)][0]] for part in group}
        first = [min(joined) if position in joined else position for position in first]
    runs: dict[int, list[RunReport]] = {}
    for group in groups:
        position, alone = origin[id(group[0])]
        runs.setdefault(first[position], []).append(
            alone if len(group) == 1 else run_report(merge_parts(group))
        )
    return tuple(
        _joined_report([reports[at] for at, to in enumerate(first) if to == position], tuple(of_files))
        for position, of_files in sorted(runs.items())
    )


def _joined_report(reports: Sequence[FileReport], runs: tuple[RunReport, ...]) -> FileReport:
    if len(reports) == 1:
        return reports[0]
    names = [report.file for report in reports]
    shown = ", ".join(names[:MAX_FILES_NAMED]) + (", …" if len(names) > MAX_FILES_NAMED else "")
    n_rows, n_bad = sum(report.n_rows for report in reports), sum(report.n_bad_rows for report in reports)
    bad_text = f", {plural(n_bad, 'bad row')}" if n_bad else ""
    return replace(
        reports[0],
        file=f"{names[0]} and {len(names) - 1:,} other{'s' if len(names) > 2 else ''}",
        message=f"{plural(len(names), 'file')} read together ({shown}): {plural(n_rows, 'row')}{bad_text}, "
        f"{plural(len(runs), 'run')}.",
        n_rows=n_rows,
        n_bad_rows=n_bad,
        problems=tuple(problem for report in reports for problem in report.problems),
        runs=runs,
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        warnings=tuple(dict.fromkeys(warning for report in reports for warning in report.warnings)),
    )


def _reading_summary(reading: Reading) -> str:
    runs, bad = len(reading.good_runs), reading.n_bad_rows
    bad_text = f", {plural(bad, 'bad row')}" if bad else ""
    counts = f"{plural(reading.n_rows, 'row')}{bad_text}, {plural(runs, 'run')}"
    return " ".join((f"{reading.file}: {counts}, read as {reading.format}.", *reading.notes))


def _accuracy_text(report: RunReport) -> str | None:
    """The accuracy with the number of rows behind it; None where no outcome is known."""
    if report.accuracy is None:
        return None
    run = report.run
    n_known = run.sums.n_rows if isinstance(run, TokenRun) else greedy_correct(run).drop_nulls().len()
    counts = f"{round(report.accuracy * n_known):,} of {n_known:,}{report.unweighted_note}"
    return f"{report.accuracy:.4f} ({counts})"


def _unusable_message(reading: Reading, runs: tuple[RunReport, ...]) -> str:
    """Why nothing in the file can be calibrated, although it could be read."""
    if reading.refusal is not None:
        return reading.refusal
    if any(isinstance(report.run, AnswerRun) and report.run.has_columns("judge") for report in runs):
        return (
            f"{reading.file}: {plural(reading.n_rows, 'row')}, read as {reading.format}, with a judge's "
            "labels but none of people to compare them with. These are in a column "
            f"({Advice(columns={'COLUMN': 'human'})}; most rows may lack one), or in a separate table "
            f"({Advice(gold='TABLE', gold_columns={'COLUMN': 'human'})})."
        )
    accuracies = [text for report in runs if (text := _accuracy_text(report))]
    accuracy_text = f" Accuracy where outcomes are known: {', '.join(accuracies[:3])}." if accuracies else ""
    notes = "".join(f" {note}" for note in reading.notes[:5])
    reasons: dict[str, None] = {}
    for report in runs:
        reasons.update(dict.fromkeys(_unavailable_reasons(report)))
    listed = "".join(f"\n- {reason}" for reason in reasons)
    return (
        f"{reading.file}: read as {reading.format}, {plural(reading.n_rows, 'row')}, but no row has both a "
        f"confidence and an outcome, so Calib cannot use this file.{accuracy_text}{notes}{listed}"
    )


def _unavailable_reasons(report: RunReport) -> list[str]:
    """Why no method can be used, the plainest first; of methods without a column only the first in full."""
    run, unavailable = report.run, report.survey.unavailable
    plainest_first = sorted(unavailable, key=lambda id_: (id_ in METHODS, id_ != SIMPLEST_METHOD))
    without_column = [id_ for id_ in plainest_first if _has_no_column(run, id_)]
    named = [name for id_ in without_column for name in METHODS[id_].columns]
    others = list(dict.fromkeys(named))[len(METHODS[without_column[0]].columns) :] if named else []
    reasons = {id_: unavailable[id_] for id_ in plainest_first if id_ not in without_column[1:]}
    if others:
        reasons[without_column[0]] += (
            f"\n- nor a column that another method needs: {join_names(others, 'or')}"
        )
    return list(reasons.values())


def _has_no_column(run: Run, method_id: str) -> bool:
    """Whether a run of answers has none of the columns of a method, or the method is for token-level runs."""
    columns = METHODS[method_id].columns
    return not isinstance(run, TokenRun) and not any(name in run.rows.columns for name in columns)


# --- Proposals: which columns are probably meant? ---------------------------------------------------------


def _proposal(reading: Reading, read_again: ReadAgain, *, is_usable: bool) -> Proposal | None:
    """What is proposed for a file of which nothing is usable, or only the first row of each question."""
    if not is_usable:
        return find_proposal(reading, read_again)
    return _try(Plan({}), {}, read_again) if _repeated_ids(reading) else None


def find_proposal(reading: Reading, read_again: ReadAgain) -> Proposal | None:
    """Try what the columns of a file may mean, and return the best of what loads.

    What names say is tried first. Of several columns for one name, the one with which the answers agree best
    with the file's own outcomes is taken; what is as likely is listed beside it (`Proposal.alternatives`). Of
    what loads, that with the fewest bad rows is taken, and systems side by side in each row come before a
    single system. Where names say no confidence or no outcome, what they hint at is asked
    (`Proposal.unsaid`), as is that with which something suggests a misreading.

    Parameters
    ----------
    reading : Reading
        The file as it was read, without a usable row.
    read_again : callable
        Reads the file with further columns named; may raise `errors.Refused`.
    """
    if reading.proposed_rows:
        return _propose_rows(reading.proposed_rows, read_again)
    read_as = reading.column_roles
    trials = [_try(plan, {}, read_again) for plan in plans(reading.candidates, read_as)[:MAX_TRIALS]]
    said = said_columns(reading.candidates, read_as)
    golds = {column: name for column, name in said.items() if name in GOLD_COLUMNS}
    for plan in pattern_plans(reading.wide_candidates)[:MAX_TRIALS]:
        supporting = {} if "correct" in map(role_of, plan.columns.values()) else golds
        trials.append(_try(replace(plan, columns=supporting), plan.columns, read_again))
    differences = {next(iter(one.names)): one.difference for one in reading.candidates if one.difference}
    found = [
        replace(one, difference=next((differences[c] for c in one.mapping if c in differences), ""))
        for one in trials
        if one is not None
    ]
    best = max(map(_merit, found), default=())
    likeliest: dict[object, Proposal] = {}
    for one in found:
        if _merit(one) == best:
            likeliest.setdefault(_comes_to(one), one)
    if not likeliest:
        return None
    first, *others = likeliest.values()
    return replace(first, alternatives=tuple(others))


def _merit(one: Proposal) -> tuple[float, ...]:
    return -one.n_bad_rows, bool(one.wide), not one.unsaid, 0.0 if one.unsaid else one.agreement


def _comes_to(one: Proposal) -> tuple[object, ...]:
    return one.outcome, one.n_bad_rows, one.pairs_hash


def _propose_rows(places: Iterable[str], read_again: ReadAgain) -> Proposal | None:
    """Try each place with rows, as it is or with what its columns may mean; all that load are as likely.

    Where all places can be read at once, as one run or more each, that alone is proposed.
    """
    found: list[Proposal] = []
    for place in places:
        if any(has_wildcard(one.rows) for one in found) and not has_wildcard(place):
            break

        def read_place(further: ReadOptions, /, place: str = place) -> Reading:
            return read_again(further if further.rows else replace(further, rows=place))

        try:
            reading = read_place(AS_IT_LIES)
            proposal = _try(Plan({}), {}, read_place) or find_proposal(reading, read_place)
        except Refused:
            continue
        if proposal is not None:
            found += [replace(one, rows=place, row_columns=reading.columns) for one in proposal.readings]
    return replace(found[0], alternatives=tuple(found[1:])) if found else None


def _try(plan: Plan, wide: Mapping[str, str], read_again: ReadAgain) -> Proposal | None:
    """Read the file with a plan, without the columns that do not fit; None if that is of no use.

    Ids that repeat are ids within another column if they are unique there, or else the question that each row
    asks, or else no ids: rows are given up only where every other way loses more.
    """
    columns = dict(plan.columns)

    def read(columns: Mapping[str, str]) -> Reading:
        return read_again(ReadOptions(columns, wide=wide, missing=plan.missing, finds_candidates=False))

    def read_with_ids(columns: dict[str, str]) -> tuple[Reading, dict[str, str]]:
        reading = read(columns)
        for other in _other_ids(reading, columns):
            if (again := read(other)).n_bad_rows < reading.n_bad_rows:
                return again, other
        return reading, columns

    try:
        reading, columns = read_with_ids(columns)
        report = check_file(reading)
        unfit = {
            cell.column
            for problem in reading.problems
            for cell in problem.first_cells
            if problem.count > MAX_BAD_SHARE * reading.n_rows
            or confidence_name(columns.get(cell.column, "")) is not None
        }
        if unfit & columns.keys() and (
            kept := {column: name for column, name in columns.items() if column not in unfit}
        ):
            fitting, kept = read_with_ids(kept)
            without = check_file(fitting)
            if without.n_bad_rows < report.n_bad_rows and without.status != "refused":
                reading, report, columns = fitting, without, kept
    except Refused:
        return None
    if report.status == "refused":
        return None
    agreements = [value for run in reading.good_runs if (value := _agreement(run)) is not None]
    return Proposal(
        MappingProxyType(columns),
        MappingProxyType(dict(wide)),
        _outcome_text(report),
        run_figures(report),
        report.n_bad_rows,
        float(np.mean(agreements)) if agreements else 0.0,
        missing=plan.missing,
        unsaid=plan.unsaid or _doubts(report),
        pairs_hash=_pairs_hash(report),
    )


def _pairs_hash(report: FileReport) -> int:
    """Hash what the first method makes of each run; equal figures of the first run may be chance."""
    firsts = (next(iter(run.survey.usable.values()), None) for run in report.runs)
    pairs = (one.pairs for one in firsts if isinstance(one, AnswerEvidence))
    return hash(tuple(values.tobytes() for one in pairs for values in (one.confidence, one.correct)))


def _doubts(report: FileReport) -> tuple[str, ...]:
    """What suggests that columns were taken for what they are not; that rows repeat does not."""
    found = (one for run in report.runs for one in run.suspicions if one.kind != "rows_repeat")
    return tuple(dict.fromkeys(one.text for one in found))


def _other_ids(reading: Reading, columns: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Other readings of ids that repeat, the likeliest first."""
    repeated = {
        cell.column
        for problem in reading.problems
        if problem.kind == REPEATED_ID
        for cell in problem.first_cells
    }
    if not repeated:
        return
    for column in reading.unique_within:
        said = name_within(column)
        yield {**{other: name for other, name in columns.items() if name != said}, column: said}
    if any(problem.count == reading.n_rows - 1 for problem in reading.problems):
        yield {**columns, **dict.fromkeys(repeated, "")}  # all the same
    if _repeated_ids(reading):
        yield {**columns, **dict.fromkeys(repeated, "trial_of")}
    if repeated & columns.keys():
        yield {column: name for column, name in columns.items() if column not in repeated}


def _repeated_ids(reading: Reading) -> set[str]:
    """The column of ids, where many of them repeat; else empty."""
    return {
        cell.column
        for problem in reading.problems
        if problem.kind == REPEATED_ID and problem.count > MAX_BAD_SHARE * reading.n_rows
        for cell in problem.first_cells
    }


def columns_not_used(reading: Reading, proposal: Proposal | None) -> tuple[UnusedColumn, ...]:
    """The columns that could hold a confidence, an answer or an outcome and are not used, with why.

    Parameters
    ----------
    reading : Reading
    proposal : Proposal or None
        What is proposed; what it uses or asks is not listed.
    """
    readings = () if proposal is None else proposal.readings
    used = {*reading.column_roles, *(column for one in readings for column in one.mapping)}
    patterns = {pattern for one in readings for pattern in one.wide}
    names = {*reading.column_roles.values(), *(name for one in readings for name in one.mapping.values())}
    taken = {role_of(name) for name in names}
    lacks_truth = "" if taken & TRUTH_COLUMNS or patterns else _NO_TRUTH
    lacks_confidence = "" if taken & CONFIDENCE_SOURCES or patterns else _NO_CONFIDENCE
    found: dict[str, UnusedColumn] = {}
    for one in reading.candidates:
        role, column = role_of(one.name), next(iter(one.names))
        is_used = used & one.names.keys() or any(fits_pattern(name, patterns) for name in one.names)
        if is_used or role not in CONFIDENCE_SOURCES | TRUTH_COLUMNS | {"prediction"}:
            continue
        before = found.get(column)
        if before is not None and before.could_be == role:
            if one.names not in before.mappings:  # it may differ in what counts as missing alone
                found[column] = replace(before, mappings=(*before.mappings, one.names))
        elif before is None:
            lacking = lacks_truth if role in CONFIDENCE_SOURCES else lacks_confidence or lacks_truth
            why = _why_unused(one, lacking, is_taken=role in taken)
            found[column] = UnusedColumn(column, role, why, (one.names,))
    return tuple(found.values())


def _not_judged(reading: Reading, runs: Sequence[RunReport]) -> Iterator[UnusedColumn]:
    """Columns of confidences that lack an answer to be judged, where there are samples, which have one."""
    for report in runs[:1]:
        if isinstance(report.run, TokenRun) or not report.run.has_columns("samples"):
            continue
        for column, name in reading.column_roles.items():
            needing = [METHODS[id_] for id_ in report.survey.unavailable if id_ in METHODS]
            if any(name in method.columns and not method.uses_samples for method in needing):
                why = "it needs an answer to judge, but the file has only samples"
                yield UnusedColumn(column, name, why, ({MAJORITY: "prediction"},))


def _why_unused(one: Candidate, lacking: str, *, is_taken: bool) -> str:
    """Why a candidate is not used, to follow a colon."""
    if one.clarity != "said":
        return one.why
    meant = _COULD_BE.get(role_of(one.name), role_of(one.name))
    if is_taken:
        return "; ".join(filter(None, (f"another column is read as {meant}", one.difference)))
    if lacking == _NO_TRUTH and role_of(one.name) in GOLD_COLUMNS:
        lacking = "no column is known to be the model's answer"
    return f"by {one.why}, it is {meant}, but {lacking or 'the file can be read without it'}"


def _agreement(run: Run) -> float | None:
    """Share of rows whose answer, compared with gold, has the outcome that is stored; None without both."""
    if isinstance(run, TokenRun) or not run.has_columns("correct", "gold", "prediction"):
        return None
    judged = greedy_correct(replace(run, rows=run.rows.drop("correct")))
    return cast("float | None", (judged == run.rows["correct"]).mean())


def _outcome_text(report: FileReport) -> str:
    """What the first run of a file comes to."""
    figures = run_figures(report)
    n_runs = f", in the first of {figures.n_runs:,} runs" if figures.n_runs > 1 else ""
    if not figures.method:
        return f"{report.runs[0].judge_text}{n_runs}"
    evidence = report.runs[0].survey.usable[figures.method]
    terms, text = evidence.terms, _accuracy_text(report.runs[0])
    facts = [f"accuracy {text}"] if text and terms.of == "answer" else []
    if not facts and figures.accuracy is not None:
        n_right = round(figures.accuracy * evidence.n_used)
        judged = "" if terms.of == "event" else f", {evidence.judged} judged"
        counts = f"{n_right:,} of {evidence.n_used:,}{judged}"
        facts = [f"{terms.accuracy} {figures.accuracy:.4f} ({counts})"]
    if figures.mean_confidence is not None:
        facts.append(f"mean {terms.confidence} {figures.mean_confidence:.4f} ({figures.method})")
    facts += [remark for remark in evidence.remarks if remark.endswith(COMPARED_WHOLE)]
    return f"{', '.join(facts) or 'no outcome'}{n_runs}"
