"""Which confidence method serves which run best?  The self-consistency paper's Table 1, of one's own runs.

Rows are methods, each run has ECE and Brier, and Brier leads (Wang et al., arXiv 2403.09849): ECE falls for
a method that says nothing but the average.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.edges import Scheme
from calib_core.errors import Unavailable
from calib_core.methods import METHODS
from calib_core.methods.answers.cluster import cluster_samples, has_samples
from calib_core.methods.answers.gold_match import gold_forms, row_positions
from calib_core.methods.answers.normalise import AnswerNormaliser
from calib_core.methods.answers.outcomes import JUDGED_ANSWER_NAMES
from calib_core.methods.answers.unparseable import UNPARSEABLE_PHRASES
from calib_core.methods.columns import column, first_reason, unanswered_reason
from calib_core.methods.method import Confidences, Method, MethodOptions
from calib_core.pairs import Pairs
from calib_core.results.concentration import measure_concentration
from calib_core.results.evidence import AnswerEvidence, restrict_rows
from calib_core.results.score import score
from calib_core.runs import AnswerRun
from calib_core.wording import ROUNDING_TOLERANCE, join_names, plural

# MERGED unanswered: What if a question whose samples all fail to parse counts as answered wrongly, and without confidence?
#
# By default such a row has no self-consistency and lowers n (decision 0004). Counting it is the stricter
# reading: a model that cannot write an answer down is not let off.

NO_SAMPLE_PARSES = "no sample parses"
"""The reason under which `missing` counts these rows."""


def unparsed_rows(evidence: AnswerEvidence) -> NDArray[np.intp]:
    """Positions of the rows that have samples, of which none parses, and something to be right about.

    Empty for a method that is not made from several samples.
    """
    if not evidence.method.uses_samples:
        return np.zeros(0, np.intp)
    run = evidence.run
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, evidence.options.unparseable)
    silent = (clusters.n_samples > 0) & (clusters.majority_size == 0) & _judgeable_rows(run, normaliser)
    return np.setdiff1d(np.flatnonzero(silent), evidence.confidences.pairs.rows).astype(np.intp)


def with_unparsed_as_wrong(evidence: AnswerEvidence) -> AnswerEvidence:
    """The evidence with those rows at confidence 0 and wrong; itself where there are none."""
    silent = unparsed_rows(evidence)
    if not silent.size:
        return evidence
    said = evidence.confidences
    order = np.argsort(np.concatenate([said.pairs.rows, silent]), kind="stable")
    zeros = np.zeros(silent.size, said.pairs.confidence.dtype)
    pairs = Pairs(
        np.concatenate([said.pairs.confidence, zeros])[order],
        np.concatenate([said.pairs.correct, np.zeros(silent.size, np.bool_)])[order],
        np.concatenate([said.pairs.rows, silent])[order],
        said.pairs.computed,
    )
    left = {reason: count for reason, count in said.missing.items() if reason != NO_SAMPLE_PARSES}
    remaining = said.missing.get(NO_SAMPLE_PARSES, silent.size) - silent.size
    confidences = replace(
        said,
        pairs=pairs,
        recipe=(*said.recipe, counted_wrong_text(silent.size)),
        missing=MappingProxyType(left | ({NO_SAMPLE_PARSES: remaining} if remaining else {})),
        answers=None if said.answers is None else _extend_answers(said.answers, silent.size, order),
    )
    return AnswerEvidence(evidence.run, evidence.method, evidence.options, confidences)


def evidence_of_unparsed_run(run: AnswerRun, method: Method, options: MethodOptions) -> AnswerEvidence | None:
    """What a method of several samples says of a run of which no sample parses: of no row anything.

    As such a run gives no confidence, `gather` refuses it; `with_unanswered` makes pairs of it. None where
    the method is another, a sample parses, or there is no row that could be counted.
    """
    if not method.uses_samples or not has_samples(run):
        return None
    normaliser = AnswerNormaliser.for_run(run)
    clusters = cluster_samples(run, normaliser, options.unparseable)
    if clusters.majority_size.any():
        return None
    why = first_reason(
        run.rows.height,
        ("no samples", pl.Series(clusters.n_samples == 0)),
        (NO_SAMPLE_PARSES, pl.Series(_judgeable_rows(run, normaliser))),
        ("no gold", row_positions(run) >= 0),
    )
    reasons = unanswered_reason(run).fill_null(why).to_list()
    if NO_SAMPLE_PARSES not in reasons:
        return None
    nothing = Pairs(np.zeros(0), np.zeros(0, np.bool_), np.zeros(0, np.intp), computed=True)
    said = Confidences(
        nothing,
        JUDGED_ANSWER_NAMES["majority"],
        (UNPARSEABLE_PHRASES[options.unparseable],),
        MappingProxyType(dict(Counter(reasons))),
        answers=pl.Series("answer", [], dtype=pl.String),
    )
    return AnswerEvidence(run, method, options, said)


def counted_wrong_text(n_rows: int) -> str:
    """What the recipe says of so many rows, at least one."""
    return f"no sample parses = confidence 0 and wrong ({n_rows:,} row{'s' if n_rows > 1 else ''})"


def _extend_answers(answers: pl.Series, n_added: int, order: NDArray[np.intp]) -> pl.Series:
    lengthened = pl.concat([answers, pl.repeat(None, n_added, dtype=answers.dtype, eager=True)])
    return lengthened[pl.Series(order, dtype=pl.UInt32)]


def _judgeable_rows(run: AnswerRun, normaliser: AnswerNormaliser) -> NDArray[np.bool_]:
    """Which rows have a right answer that a sample could have met, or a judgement of their samples.

    A row whose status says that there is nothing to judge has neither.
    """
    by_gold = row_positions(run).is_in(gold_forms(run, normaliser)["row"].implode())
    judged = column(run, "sample_correct").list.drop_nulls().list.len().fill_null(0) > 0
    known = by_gold | judged | column(run, "correct_majority").is_not_null()
    return (known & unanswered_reason(run).is_null()).to_numpy()


RowChoice = Literal["common", "own"]
"""Which rows a cell stands on: those every method shown can use in that run, or all that its own can."""

UnparsedChoice = Literal["missing", "wrong"]
"""What a question is of which no sample parses: without a confidence, or confidence 0 and wrong."""

MethodOrder = Literal["brier", "method"]

COMMON_ROWS: Final = "rows common to the methods shown"
NO_COMMON_ROWS: Final = "No row of this run has a confidence and an outcome for every method shown."


@dataclass(frozen=True, slots=True)
class MethodsCell:
    """One method on one run, both as numbers and as how they were made.

    accuracy: of the judged answer on these rows; n_used: rows these numbers stand on; warning: why the
    ECE is unreliable, or None; best_ece, best_brier: whether no other cell of the run is lower on the same
    rows (ties are all best); p: as in `score.Score`, of the ECE.
    """

    run: str
    method: str
    ece: float | None
    brier: float | None
    accuracy: float | None
    mean_confidence: float | None
    p: float | None
    n_used: int
    n_total: int
    judged: str
    warning: str | None
    recipe: str
    best_ece: bool = False
    best_brier: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MethodsTable:
    """The table. runs, methods: keys in the order of columns and rows; cells: by (run, method).

    refused: (run, method) → why there is no such cell; reading: which method has the lowest Brier where.
    """

    scheme: Scheme
    rows: RowChoice
    unparsed: UnparsedChoice
    runs: tuple[str, ...]
    methods: tuple[str, ...]
    cells: Mapping[tuple[str, str], MethodsCell]
    unavailable: Mapping[tuple[str, str], str]
    headline: str

    @property
    def one_method_per_run(self) -> bool:
        """Whether each run has one method at most, so that nothing is compared within it."""
        return _one_method_per_run(self.cells)

    def ordered(self, order: MethodOrder) -> MethodsTable:
        """The same table with its methods in another order.

        order: by their mean Brier over the runs that have every method of the table, best first ("brier"; as
        registered where no run has them all), or as they are registered.
        """
        methods = [id_ for id_ in METHODS if id_ in self.methods]
        whole = [run for run in self.runs if all((run, id_) in self.cells for id_ in methods)]
        if order == "brier" and whole:
            methods.sort(key=lambda id_: sum(self.cells[run, id_].brier or 0 for run in whole) / len(whole))
        return replace(self, methods=tuple(methods))

    def to_frame(self) -> pl.DataFrame:
        """One row a cell, runs side by side in order: the fields of `Cell`."""
        rows = [
            asdict(cell)
            for run in self.runs
            for method in self.methods
            if (cell := self.cells.get((run, method)))
        ]
        return pl.DataFrame(rows, schema=_CELL_SCHEMA)


_CELL_SCHEMA: Final[Mapping[str, type[pl.DataType]]] = {
    "run": pl.String,
    "method": pl.String,
    "ece": pl.Float64,
    "brier": pl.Float64,
    "accuracy": pl.Float64,
    "mean_confidence": pl.Float64,
    "p": pl.Float64,
    "n_used": pl.Int64,
    "n_total": pl.Int64,
    "judged": pl.String,
    "warning": pl.String,
    "recipe": pl.String,
    "best_ece": pl.Boolean,
    "best_brier": pl.Boolean,
}


def compare_methods(
    evidences_by_run: Mapping[str, Sequence[AnswerEvidence]],
    scheme: Scheme | None = None,
    *,
    rows: RowChoice = "common",
    unparsed: UnparsedChoice = "missing",
    order: MethodOrder = "brier",
) -> MethodsTable:
    """The table of these runs.

    seen: run key → what its methods say of it, each once; order: as in `MethodsTable.ordered`.
    """
    scheme = scheme or Scheme()
    cells: dict[tuple[str, str], MethodsCell] = {}
    refused: dict[tuple[str, str], str] = {}
    for run, evidences in evidences_by_run.items():
        counted = (
            [with_unparsed_as_wrong(each) for each in evidences] if unparsed == "wrong" else list(evidences)
        )
        if rows == "common":
            counted = _on_common_rows(counted, evidences)
        column = [_methods_cell(run, each, scheme) for each in counted if each.n_used]
        refused |= {(run, each.method.id): NO_COMMON_ROWS for each in counted if not each.n_used}
        for cell in _mark_best(column, counted):
            cells[run, cell.method] = cell
    return MethodsTable(
        scheme,
        rows,
        unparsed,
        tuple(evidences_by_run),
        tuple({method for _, method in cells}),
        cells,
        refused,
        _methods_headline(cells, tuple(evidences_by_run)),
    ).ordered(order)


def _on_common_rows(
    evidences: Sequence[AnswerEvidence], before_counting_wrong: Sequence[AnswerEvidence]
) -> list[AnswerEvidence]:
    """Every method on the rows that all of them can use; totals stay those of the run.

    before: the same without the rows that were counted as wrong.
    """
    if len(evidences) < 2:
        return list(evidences)
    used = [each.confidences.pairs.rows for each in evidences]
    both = used[0]
    for own in used[1:]:
        both = both[np.isin(both, own)]
    if all(rows.size == both.size for rows in used):
        return list(evidences)
    parts: list[AnswerEvidence] = []
    for each, own in zip(evidences, before_counting_wrong, strict=True):
        part = restrict_rows(each, both)
        wrong = both.size - int(np.isin(both, own.confidences.pairs.rows).sum())
        recipe = (*own.confidences.recipe, *([counted_wrong_text(wrong)] if wrong else []), COMMON_ROWS)
        said = replace(part.confidences, recipe=recipe)
        run = replace(part.run, row_counts=each.run.row_counts)
        parts.append(AnswerEvidence(run, part.method, part.options, said))
    return parts


def _methods_cell(run: str, evidence: AnswerEvidence, scheme: Scheme) -> MethodsCell:
    ece = score(evidence, "ece", scheme)
    return MethodsCell(
        run=run,
        method=evidence.method.id,
        ece=ece.value,
        brier=evidence.brier,
        accuracy=evidence.accuracy,
        mean_confidence=evidence.mean_confidence,
        p=ece.p,
        n_used=ece.n_used,
        n_total=ece.n_total,
        judged=ece.judged,
        warning=_concentration_warning(evidence, scheme),
        recipe=ece.recipe,
    )


def _concentration_warning(evidence: AnswerEvidence, scheme: Scheme) -> str | None:
    try:
        return measure_concentration(evidence, scheme).warning
    except Unavailable:  # more natural bins than are offered: spread out enough
        return None


def _mark_best(cells: Sequence[MethodsCell], evidences: Sequence[AnswerEvidence]) -> list[MethodsCell]:
    """The cells of one run, the lowest marked, where there are several and all stand on the same rows."""
    rows = [each.confidences.pairs.rows for each in evidences if each.n_used]
    if len(cells) < 2 or not all(np.array_equal(rows[0], own) for own in rows[1:]):
        return list(cells)
    ece, brier = _lowest([cell.ece for cell in cells]), _lowest([cell.brier for cell in cells])
    return [
        replace(cell, best_ece=_equals_lowest(cell.ece, ece), best_brier=_equals_lowest(cell.brier, brier))
        for cell in cells
    ]


def _lowest(values: Sequence[float | None]) -> float | None:
    return min((value for value in values if value is not None), default=None)


def _equals_lowest(value: float | None, lowest: float | None) -> bool:
    return value is not None and lowest is not None and value - lowest <= ROUNDING_TOLERANCE


def _one_method_per_run(cells: Collection[tuple[str, str]]) -> bool:
    """cells: run and method of each."""
    return len(cells) == len({run for run, _ in cells})


def _methods_headline(cells: Mapping[tuple[str, str], MethodsCell], runs: Sequence[str]) -> str:
    """Which method has the lowest Brier, on how many of the runs that can be compared within."""
    best = {run: [cell for (of, _), cell in cells.items() if of == run and cell.best_brier] for run in runs}
    compared = {run: found for run, found in best.items() if found}
    if not cells:
        return "No run here has a confidence and an outcome for every method shown."
    if not compared:
        told = (
            "each run has one method" if _one_method_per_run(cells) else "the methods stand on different rows"
        )
        return f"Nothing is compared: {told}."
    if len(compared) == 1:
        (found,) = compared.values()
        names = join_names([f"“{METHODS[cell.method].title}”" for cell in found])
        return f"Lowest Brier score: {names}, {found[0].brier:.4f} on {plural(found[0].n_used, 'row')}."
    wins = {
        id_: sum(any(cell.method == id_ for cell in found) for found in compared.values()) for id_ in METHODS
    }
    ranked = sorted((id_ for id_ in METHODS if wins[id_]), key=lambda id_: -wins[id_])
    told = "; ".join(f"“{METHODS[id_].title}” in {wins[id_]}" for id_ in ranked)
    return f"Lowest Brier score among {len(compared)} runs: {told}."
