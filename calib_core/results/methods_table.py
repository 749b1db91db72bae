"""Which confidence method serves which run best? Methods by runs, with ECE and Brier score.

The layout of Table 1 in the self-consistency paper (Wang et al., arXiv 2403.09849). The Brier score decides,
because ECE also falls for a method that always states the average.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.inference.missingness import Missingness
from calib_core.inference.null import null_distribution, p_recipe
from calib_core.methods import METHODS, in_order
from calib_core.methods.answers.cluster import cluster_samples, has_samples
from calib_core.methods.answers.gold_match import gold_forms, row_positions
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import JUDGED_ANSWER_NAMES
from calib_core.methods.answers.unparseable import UNPARSEABLE_PHRASES
from calib_core.methods.columns import column, first_reason, unanswered_reason
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.methods.self_consistency import CLUSTER_NUMBER, NO_SAMPLE_PARSES, multiple_choice_note
from calib_core.metrics.brier import BRIER
from calib_core.metrics.ece import ECE
from calib_core.pairs import Pairs
from calib_core.results.best import PairedComparison, best_clause, compare_on_same_rows
from calib_core.results.columns import Column, frame_of
from calib_core.results.concentration import few_bins_warning
from calib_core.results.display import Displayable
from calib_core.results.evidence import AnswerEvidence, Evidence, restrict_rows, run_weights
from calib_core.results.judged_answer import JudgedChoice, judged_by
from calib_core.results.recipe import joint_rows_text
from calib_core.results.score import score
from calib_core.runs import AnswerRun
from calib_core.terms import Terms, common_terms
from calib_core.wording import join_names, plural

RowChoice = Literal["common", "own"]
"""The rows of a cell: those that every method shown for the run can use, or all that its own method can."""

UnparsedChoice = Literal["missing", "wrong"]
"""How a question counts if no sample parses: without a confidence, or as wrong with confidence 0."""

MethodOrder = Literal["brier", "method"]

COMMON_ROWS: Final = "rows common to the methods shown"

NO_COMMON_ROWS: Final = "No row of this run can be used by every method shown."


METHODS_COLUMNS: Final = (
    Column("run", "Run"),
    Column("method", "Method"),
    Column("ece", "ECE", "number"),
    Column("brier", "Brier score", "number"),
    Column("accuracy", "Accuracy", "share"),
    Column("mean_confidence", kind="share"),
    Column("p", kind="p"),
    Column("n_used", "Rows used", "count"),
    Column("n_total", kind="count"),
    Column("judged"),
    Column("warning", "ECE from few bins"),
    Column("recipe"),
    Column("best_ece", dtype=pl.Boolean),
    Column("best_brier", dtype=pl.Boolean),
)


@dataclass(frozen=True)
class MethodsCell:
    """One method on one run.

    Attributes
    ----------
    run, method : str
        The run's key and the method's id.
    ece, brier : float or None
    accuracy : float or None
        Of the judged answer, on these rows.
    mean_confidence : float or None
    n_used, n_total : int
        Rows used, and in the file.
    judged : str
        Which answer the outcome belongs to.
    warning : str or None
        Why the ECE is unreliable.
    recipe : str
    evidence : AnswerEvidence
        What the numbers are of.
    scheme : Scheme
        Bins of the ECE.
    best_ece, best_brier : bool
        Whether no other cell of the run is clearly lower on the same rows, nor always stating the accuracy.
    """

    run: str
    method: str
    ece: float | None
    brier: float | None
    accuracy: float | None
    mean_confidence: float | None
    n_used: int
    n_total: int
    judged: str
    warning: str | None
    recipe: str
    evidence: AnswerEvidence = field(repr=False, compare=False)
    scheme: Scheme = field(repr=False)
    best_ece: bool = False
    best_brier: bool = False

    @cached_property
    def p(self) -> float | None:
        """Of the ECE, as in `Score`; drawn when it is asked for, since only frames and files have it."""
        null = null_distribution(self.evidence, ECE, (self.scheme,), (self.ece,))
        return null and null.p[0]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MethodsTable(Displayable):
    """Methods by runs.

    Attributes
    ----------
    scheme : Scheme
        Bins of the ECE.
    row_choice : RowChoice
    unparsed_choice : UnparsedChoice
    runs, methods : tuple[str, ...]
        Keys in the order of columns and rows.
    cells : Mapping[tuple[str, str], MethodsCell]
        By (run, method).
    unavailable : Mapping[tuple[str, str], str]
        (run, method) → why there is no cell.
    judged_choice : JudgedChoice
    paired : Mapping[str, PairedComparison]
        Run key → its methods compared in pairs, where all stand on the same rows; keys are method ids.
    headline : str
        Which method has the lowest Brier score on which run, as far as can be told.
    datasets : Mapping[str, str or None]
        Run key → its data set.
    missing : Mapping[tuple[str, str], Missingness]
        (run, method) → how often rows without its confidence are right, where some lack one.
    order : MethodOrder
    rows_text : str
        As from `joint_rows_text`.
    """

    scheme: Scheme
    row_choice: RowChoice
    unparsed_choice: UnparsedChoice
    runs: tuple[str, ...]
    methods: tuple[str, ...]
    cells: Mapping[tuple[str, str], MethodsCell]
    unavailable: Mapping[tuple[str, str], str]
    judged_choice: JudgedChoice
    paired: Mapping[str, PairedComparison]
    headline: str
    datasets: Mapping[str, str | None]
    missing: Mapping[tuple[str, str], Missingness] = field(default_factory=dict[tuple[str, str], Missingness])
    order: MethodOrder = "brier"
    rows_text: str = ""

    @property
    def runs_with_cells(self) -> tuple[str, ...]:
        """The runs that have a number, in order."""
        with_cells = {run for run, _ in self.cells}
        return tuple(run for run in self.runs if run in with_cells)

    @property
    def one_method_per_run(self) -> bool:
        """Whether each run has at most one method, so that nothing is compared within a run."""
        return _one_method_per_run(self.cells)

    def ordered(self, order: MethodOrder) -> MethodsTable:
        """The same table with its methods in another order.

        Parameters
        ----------
        order : {"brier", "method"}
            By mean Brier score over the runs that have every method of the table, best first (registry
            order where no run has them all), or in registry order.
        """
        table = replace(self, order=order)
        return replace(table, methods=table.methods_of(self.runs))

    def methods_of(self, runs: Collection[str]) -> tuple[str, ...]:
        """The methods that some of these runs have, in the order of the table; by Brier score, of these."""
        among = frozenset(runs)
        cells = {key: cell for key, cell in self.cells.items() if key[0] in among}
        methods = in_order({method for _, method in cells})
        complete = [run for run in runs if all((run, id_) in cells for id_ in methods)]
        if self.order == "brier" and complete:
            methods.sort(key=lambda id_: sum(cells[run, id_].brier or 0 for run in complete) / len(complete))
        return tuple(methods)

    @property
    def terms(self) -> Terms:
        """The words for the probabilities and outcomes of all methods."""
        return common_terms(METHODS[method].terms for method in self.methods)

    @property
    def columns(self) -> tuple[Column, ...]:
        """`METHODS_COLUMNS` in these words."""
        title = self.terms.accuracy_title
        return tuple(replace(one, title=title) if one.name == "accuracy" else one for one in METHODS_COLUMNS)

    def to_frame(self) -> pl.DataFrame:
        """One row for each cell, run by run: `METHODS_COLUMNS`."""
        return self.frame_of(METHODS_COLUMNS)

    def frame_of(self, columns: Sequence[Column]) -> pl.DataFrame:
        """The same with some of the columns."""
        return frame_of(
            columns,
            (
                {column.name: getattr(cell, column.name) for column in columns}
                for run in self.runs
                for method in self.methods
                if (cell := self.cells.get((run, method)))
            ),
        )


def compare_methods(
    evidences_by_run: Mapping[str, Sequence[AnswerEvidence]],
    scheme: Scheme | None = None,
    *,
    row_choice: RowChoice = "common",
    unparsed_choice: UnparsedChoice = "missing",
    judged_choice: JudgedChoice = "own",
    order: MethodOrder = "brier",
) -> MethodsTable:
    """Compare the methods of these runs.

    Parameters
    ----------
    evidences_by_run : Mapping[str, sequence of AnswerEvidence]
        Run key → evidence of its methods, each method once.
    scheme : Scheme, optional
        Bins of the ECE; ten of equal width where omitted.
    row_choice : {"common", "own"}
        Whether a run's methods are compared on their common rows or each on its own.
    unparsed_choice : {"missing", "wrong"}
        How a question counts if no sample parses.
    judged_choice : {"own", "greedy", "majority"}
        Which answer's outcome the methods are judged by.
    order : {"brier", "method"}
        As in `MethodsTable.ordered`.
    """
    scheme = scheme or Scheme()
    cells: dict[tuple[str, str], MethodsCell] = {}
    unavailable: dict[tuple[str, str], str] = {}
    paired: dict[str, PairedComparison] = {}
    for run, own_evidences in evidences_by_run.items():
        try:
            evidences = [judged_by(evidence, judged_choice) for evidence in own_evidences]
        except Unavailable as reason:
            unavailable |= {(run, evidence.method.id): str(reason) for evidence in own_evidences}
            continue
        compared = (
            [with_unparsed_as_wrong(evidence) for evidence in evidences]
            if unparsed_choice == "wrong"
            else list(evidences)
        )
        if row_choice == "common":
            compared = _on_common_rows(compared, evidences)
        used = {evidence.method.id: evidence for evidence in compared if evidence.n_used}
        if len(used) > 1 and _are_comparable(list(used.values())):
            paired[run] = compare_on_same_rows(used, scheme)
        unavailable |= {
            (run, evidence.method.id): NO_COMMON_ROWS for evidence in compared if not evidence.n_used
        }
        best = {id_: paired[run].best(id_) if run in paired else frozenset[str]() for id_ in ("ece", "brier")}
        for id_, evidence in used.items():
            cell = _methods_cell(run, evidence, scheme)
            cells[run, id_] = replace(cell, best_ece=id_ in best["ece"], best_brier=id_ in best["brier"])
    return MethodsTable(
        scheme,
        row_choice,
        unparsed_choice,
        tuple(evidences_by_run),
        tuple({method for _, method in cells}),
        cells,
        unavailable,
        judged_choice,
        paired,
        _methods_headline(cells, paired, tuple(evidences_by_run)),
        {
            run: evidences[0].run.info.dataset if evidences else None
            for run, evidences in evidences_by_run.items()
        },
        {
            (run, evidence.method.id): missing
            for run, evidences in evidences_by_run.items()
            for evidence in evidences
            if (missing := evidence.missingness) is not None
        },
        rows_text=joint_rows_text(itertools.chain(*evidences_by_run.values())),
    ).ordered(order)


def _on_common_rows(
    evidences: Sequence[AnswerEvidence], before_counting_wrong: Sequence[AnswerEvidence]
) -> list[AnswerEvidence]:
    """Every method on the rows that all of them can use; totals remain those of the run.

    `before_counting_wrong` is the same evidence without the rows counted as wrong.
    """
    if len(evidences) < 2:
        return list(evidences)
    used_rows = [evidence.confidences.pairs.rows for evidence in evidences]
    common = used_rows[0]
    for original in used_rows[1:]:
        common = common[np.isin(common, original)]
    if all(rows.size == common.size for rows in used_rows):
        return list(evidences)
    parts: list[AnswerEvidence] = []
    for evidence, original in zip(evidences, before_counting_wrong, strict=True):
        part = restrict_rows(evidence, common)
        n_wrong = common.size - int(np.isin(common, original.confidences.pairs.rows).sum())
        recipe = (
            *original.confidences.recipe,
            *([counted_wrong_text(n_wrong)] if n_wrong else []),
            COMMON_ROWS,
        )
        confidences = replace(part.confidences, recipe=recipe)
        run = replace(part.run, row_counts=evidence.run.row_counts)
        parts.append(AnswerEvidence(run, part.method, part.options, confidences))
    return parts


def _methods_cell(run: str, evidence: AnswerEvidence, scheme: Scheme) -> MethodsCell:
    ece = score(evidence, ECE.id, scheme, with_remark=False, with_p=False)
    has_p = ece.value is not None and evidence.has_null(ECE, scheme)
    return MethodsCell(
        run=run,
        method=evidence.method.id,
        ece=ece.value,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        n_used=ece.n_used,
        n_total=ece.n_total,
        judged=ece.judged,
        warning=_concentration_warning(evidence, scheme),
        recipe=f"{ece.recipe}, {p_recipe()}" if has_p else ece.recipe,
        evidence=evidence,
        scheme=scheme,
    )


def _concentration_warning(evidence: AnswerEvidence, scheme: Scheme) -> str | None:
    try:
        return few_bins_warning(evidence, scheme)
    except Unavailable:  # more natural bins than are offered, so not concentrated
        return None


def _are_comparable(evidences: Sequence[AnswerEvidence]) -> bool:
    """Whether methods stand on the same rows, and none expects an event that another does not."""
    outcomes = {evidence.judged if evidence.terms.of == "event" else "answer" for evidence in evidences}
    rows = [evidence.confidences.pairs.rows for evidence in evidences]
    return len(outcomes) == 1 and all(np.array_equal(rows[0], other) for other in rows[1:])


def _one_method_per_run(cells: Collection[tuple[str, str]]) -> bool:
    """Whether no run occurs twice among these (run, method) keys."""
    return len(cells) == len({run for run, _ in cells})


def _methods_headline(
    cells: Mapping[tuple[str, str], MethodsCell],
    paired: Mapping[str, PairedComparison],
    runs: Sequence[str],
) -> str:
    """Which method has the lowest Brier score as far as can be told, and on how many of the runs."""
    if not cells:
        return "No run has a row that every method shown can use."
    if not paired:
        summary = (
            "each run has only one method"
            if _one_method_per_run(cells)
            else "the methods use different rows or outcomes"
        )
        return f"No comparison: {summary}."
    best_sets = {run: paired[run].best_sets(BRIER.id)[0] for run in runs if run in paired}
    if len(best_sets) == 1:
        ((run, best_set),) = best_sets.items()
        cell = next(cell for (cell_run, _), cell in cells.items() if cell_run == run)
        if best_set.leader is None:
            return f"No method wins by Brier score: {best_set.no_best_reason} ({plural(cell.n_used, 'row')})."
        value = f"{cells[run, best_set.leader].brier:.4f}"
        names = {id_: f"“{METHODS[id_].title}”" for (cell_run, id_) in cells if cell_run == run}
        clause = best_clause(best_set, names, value, "lowest Brier score", "method")
        return f"{clause} ({plural(cell.n_used, 'row')})."
    n_runs = len(best_sets)
    wins = Counter(best_set.best[0] for best_set in best_sets.values() if best_set.has_winner)
    if not wins:
        return f"By Brier score, no method wins on any of {n_runs} runs."
    (leader, n_won), *others = sorted(
        wins.items(), key=lambda item: (-item[1], in_order(wins).index(item[0]))
    )
    counts = [
        f"{METHODS[leader].short_title} wins on {n_won} of {n_runs} runs",
        *(f"{METHODS[id_].short_title} on {count}" for id_, count in others),
    ]
    n_without = n_runs - wins.total()
    rest = f"; {n_without} {'have' if n_without > 1 else 'has'} no winner" if n_without else ""
    return f"By Brier score, {join_names(counts)}{rest}."


def multiple_choice_notes(evidences: Iterable[Evidence]) -> tuple[str, ...]:
    """What to know about F_CN on multiple choice, as sentences; () where no run has both."""
    runs_by_note: dict[str, dict[str, None]] = {}
    for evidence in evidences:
        if not isinstance(evidence, AnswerEvidence) or evidence.method.id != CLUSTER_NUMBER.id:
            continue
        if note := multiple_choice_note(evidence.run):
            runs_by_note.setdefault(note, {})[evidence.run.label] = None
    if len(runs_by_note) == 1:
        return (f"{next(iter(runs_by_note))}.",)
    return tuple(f"{join_names(list(runs))}: {note}." for note, runs in runs_by_note.items())


# --- Questions whose samples all fail to parse ----------------------------------------------------
#
# By default such a row has no self-consistency and lowers n (decision 0004). Counting it as wrong is the
# stricter reading, in which a model gains nothing by not writing an answer down.


def unparsed_rows(evidence: AnswerEvidence) -> NDArray[np.intp]:
    """Positions of rows whose samples all fail to parse although there is something to be right about.

    Empty for a method that does not use samples.
    """
    if not evidence.method.uses_samples:
        return np.zeros(0, np.intp)
    run = evidence.run
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, evidence.options.unparseable)
    unparsed = (clusters.n_samples > 0) & (clusters.majority_size == 0) & _judgeable_rows(run, normaliser)
    weight = run.weights(None)
    if weight is not None:
        unparsed &= weight > 0
    return np.setdiff1d(np.flatnonzero(unparsed), evidence.confidences.pairs.rows).astype(np.intp)


def with_unparsed_as_wrong(evidence: AnswerEvidence) -> AnswerEvidence:
    """The evidence with the `unparsed_rows` counted as wrong, with confidence 0."""
    unparsed = unparsed_rows(evidence)
    if not unparsed.size:
        return evidence
    confidences = evidence.confidences
    order = np.argsort(np.concatenate([confidences.pairs.rows, unparsed]), kind="stable")
    zeros = np.zeros(unparsed.size, confidences.pairs.confidence.dtype)
    pairs = Pairs(
        np.concatenate([confidences.pairs.confidence, zeros])[order],
        np.concatenate([confidences.pairs.correct, np.zeros(unparsed.size, np.bool_)])[order],
        np.concatenate([confidences.pairs.rows, unparsed])[order],
        confidences.pairs.computed,
        run_weights(evidence.run, np.concatenate([confidences.pairs.rows, unparsed])[order]),
    )
    missing = {reason: count for reason, count in confidences.missing.items() if reason != NO_SAMPLE_PARSES}
    n_still_missing = confidences.missing.get(NO_SAMPLE_PARSES, unparsed.size) - unparsed.size
    extended = replace(
        confidences,
        pairs=pairs,
        recipe=(*confidences.recipe, counted_wrong_text(unparsed.size)),
        missing=MappingProxyType(missing | ({NO_SAMPLE_PARSES: n_still_missing} if n_still_missing else {})),
        unpaired=confidences.unpaired and confidences.unpaired.not_in(unparsed),
        answers=None
        if confidences.answers is None
        else _extend_answers(confidences.answers, unparsed.size, order),
    )
    return AnswerEvidence(evidence.run, evidence.method, evidence.options, extended)


def evidence_of_unparsed_run(run: AnswerRun, method: Method, options: MethodOptions) -> AnswerEvidence | None:
    """Evidence without pairs, of a method that uses samples, for a run in which no sample parses.

    `gather_evidence` refuses such a run, as it has no confidence; `with_unparsed_as_wrong` then adds its
    rows.

    Returns
    -------
    AnswerEvidence or None
        None for another method, if a sample parses, or if there is no row to count.
    """
    if not method.uses_samples or not has_samples(run):
        return None
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, options.unparseable)
    if clusters.majority_size.any():
        return None
    reason = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.n_samples == 0)),
        (NO_SAMPLE_PARSES, pl.Series(_judgeable_rows(run, normaliser))),
        ("no gold", row_positions(run) >= 0),
    )
    reasons = unanswered_reason(run).fill_null(reason).to_list()
    if NO_SAMPLE_PARSES not in reasons:
        return None
    no_pairs = Pairs(np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.intp), computed=True)
    confidences = Confidences(
        no_pairs,
        JUDGED_ANSWER_NAMES["majority"],
        (UNPARSEABLE_PHRASES[options.unparseable],),
        MappingProxyType(dict(Counter(reasons))),
        answers=pl.Series("answer", [], dtype=pl.String),
    )
    return AnswerEvidence(run, method, options, confidences)


def counted_wrong_text(n_rows: int) -> str:
    """The recipe's note that this many rows, at least one, are counted as wrong."""
    return f"no sample parses = confidence 0 and wrong ({n_rows:,} row{'s' if n_rows > 1 else ''})"


def _extend_answers(answers: pl.Series, n_added: int, order: NDArray[np.intp]) -> pl.Series:
    lengthened = pl.concat([answers, pl.repeat(None, n_added, dtype=answers.dtype, eager=True)])
    return lengthened[pl.Series(order, dtype=pl.UInt32)]


def _judgeable_rows(run: AnswerRun, normaliser: AnswerNormaliser) -> NDArray[np.bool_]:
    """Which rows have a right answer for a sample to match, or a judgement of their samples.

    A row whose status says that there is nothing to judge is not among them.
    """
    has_gold = row_positions(run).is_in(gold_forms(run, normaliser)["row"].implode())
    judged = column(run, "sample_correct").list.drop_nulls().list.len().fill_null(0) > 0
    known = has_gold | judged | column(run, "correct_majority").is_not_null()
    return (known & unanswered_reason(run).is_null()).to_numpy()
