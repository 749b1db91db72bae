"""Which confidence serves which model?  One block a data set: ECE and Brier of every run by every method."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Final

from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.families import short_names
from calib_core.analysis.methods_table import Cell, MethodsTable, methods_table
from calib_core.analysis.published import METHODS_SETTING, METHODS_SOURCE, QUESTIONS
from calib_core.analysis.recipe import scheme_text
from calib_core.confidence import METHODS
from calib_core.confidence.method import Options
from calib_core.metrics import METRICS
from calib_core.problems import Unavailable, shorten
from calib_core.records import RunInfo
from calib_core.report.paired_table import FLAG, PairedTable, of_paper, of_runs, runs_down
from calib_core.report.parts import Block, Progress, Section, Tile
from calib_core.report.subject import RunHere, Subject, by_dataset
from calib_core.wording import count, number, percent

ID, TITLE, QUESTION = "methods", "Methods", "Which confidence serves which model?"

ACROSS: Final = 3
"""So many runs stand side by side in one table: more are cut off on paper."""

OFFERED: Final = tuple(id_ for id_, method in METHODS.items() if method.reads == "answers")
PUBLISHED: Final = "Published figures, other models and data, not computed here"
FEW_BINS: Final = f"Marked {FLAG}: the ECE rests on one or two bins that hold most of the confidences."
LEGEND: Final = (
    "Bold and underlined: lowest of its run, where all methods stand on the same rows. A low ECE alone may "
    "only mean that a method says the average each time, so the Brier score leads; the page Comparison has "
    "the intervals."
)


def section(subject: Subject, tell: Progress) -> Section:
    """The table of every data set. Raises Unavailable where no run has two methods to compare."""
    if not any(len(run.usable) > 1 for run in subject.answers):
        raise Unavailable("No run here gives more than one confidence: no method is compared with another.")
    sets = by_dataset(subject.answers)
    blocks: list[Block] = []
    for at, (dataset, runs) in enumerate(sets.items()):
        tell(at / len(sets), dataset or "")
        block = _block(subject, dataset, runs)
        blocks += [block] if block else []
    if not blocks:
        raise Unavailable("None of the runs gives one of these confidences.")
    return Section(ID, TITLE, QUESTION, (*blocks, _published()))


def _published() -> Block:
    """The paper's tables, labelled as such."""
    tables = [part for dataset in QUESTIONS for part in _parts(of_paper(dataset))]
    return Block(PUBLISHED, paired=tuple(tables), captions=(f"{METHODS_SOURCE}: {METHODS_SETTING}.",))


def _block(subject: Subject, dataset: str | None, runs: Sequence[RunHere]) -> Block | None:
    able = {id_ for run in runs for id_ in run.usable if id_ in OFFERED}
    methods = [id_ for id_ in able if id_ in subject.asked.methods] or list(able)
    options = Options(unparseable=subject.asked.options.unparseable)
    keyed = {str(at): run for at, run in enumerate(runs)}
    seen: dict[str, list[AnswerEvidence]] = {}
    for key, run in keyed.items():
        own = [id_ for id_ in METHODS if id_ in methods and id_ in run.usable]
        found = [subject.evidence(run, id_, options) for id_ in own]
        seen[key] = [one for one in found if isinstance(one, AnswerEvidence)]
    result = methods_table(seen, subject.asked.scheme)
    if not result.cells:
        return None
    titles = {key: run.title for key, run in keyed.items()}
    table = of_runs(result, columns({key: run.report.run.info for key, run in keyed.items()}, titles))
    return Block(
        title=dataset or "",
        reading=result.reading,
        tiles=tuple(tiles(result, titles)),
        recipes=(recipe(result),),
        paired=tuple(_parts(table)),
        captions=tuple(legend(result)),
        remarks=tuple(f"{keyed[run].title}: {why}" for run, why in without(result).items()),
    )


def _parts(table: PairedTable) -> Iterator[PairedTable]:
    """The table in parts that fit on paper."""
    left = iter(table.columns.items())
    while own := dict(islice(left, ACROSS)):
        given = {id_ for of, id_ in table.entries if of in own}
        rows = {id_: title for id_, title in table.rows.items() if id_ in given}
        yield replace(table, columns=own, rows=rows)


def columns(infos: Mapping[str, RunInfo], titles: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Run key → (data set, model and what else tells the runs of that data set apart)."""
    found: dict[str, tuple[str, str]] = {}
    for dataset in dict.fromkeys(info.dataset for info in infos.values()):
        own = {key: info for key, info in infos.items() if info.dataset == dataset}
        names = short_names(own, {key: titles[key] for key in own})
        found |= {key: (dataset or "", name) for key, name in names.items()}
    return found


def tiles(result: MethodsTable, names: Mapping[str, str]) -> list[Tile]:
    """How many, the lowest Brier score, and what warns; names: of the runs, by key."""
    cells = list(result.cells.values())
    known = [(cell.brier, cell) for cell in cells if cell.brier is not None]
    if not known:
        return []
    least, best = min(known, key=lambda one: one[0])
    few, many = _ends(cells)
    more = "" if few.n_used == many.n_used else f"fewest; most {many.n_used:,} / {many.n_total:,}"
    warned = sum(cell.warning is not None for cell in cells)
    return [
        Tile(
            "Methods", str(len(result.methods)),
            "Columns of the table; its rows are runs." if runs_down(result)
            else "Rows of the table; its columns are runs.",
            count(len({cell.run for cell in cells}), "run"),
        ),
        Tile(
            "Lowest Brier score", number(least), METRICS["brier"].help,
            shorten(f"{names[best.run]}, {METHODS[best.method].title}", 60),
        ),
        Tile("ECE on few bins", f"{warned} of {len(cells)}", FEW_BINS),
        Tile("Rows used / total", f"{few.n_used:,} / {few.n_total:,}", "Of a run and method.", more),
    ]


def _ends(cells: Sequence[Cell]) -> tuple[Cell, Cell]:
    """The cells on the smallest and on the largest share of their rows."""
    ordered = sorted(cells, key=lambda cell: cell.n_used / cell.n_total)
    most = ordered[-1].n_used / ordered[-1].n_total
    return ordered[0], next(cell for cell in cells if cell.n_used / cell.n_total == most)


def recipe(result: MethodsTable) -> str:
    """How all numbers were made."""
    which = "common to the methods of a run" if result.rows == "common" else "each method's own"
    return f"Brier; ECE-L1, {scheme_text(result.scheme)}; rows: {which}"


def legend(result: MethodsTable) -> list[str]:
    """What bold numbers and the mark behind an ECE mean, where there are any."""
    told = [LEGEND] if any(cell.best_brier or cell.best_ece for cell in result.cells.values()) else []
    flagged = [cell.warning for cell in result.cells.values() if cell.warning]
    if flagged:
        several = f", {len(flagged)} cells; one of them" if len(flagged) > 1 else ""
        told.append(f"{FLAG} An ECE that rests on one or two bins{several}: {flagged[0]}")
    return told


def rows(result: MethodsTable, titles: Mapping[str, str]) -> list[dict[str, object]]:
    """One row a run and method; titles: of the runs, by key."""
    return [
        {
            "Run": titles[cell.run],
            "Confidence method": METHODS[cell.method].title,
            "ECE": number(cell.ece) + FLAG * bool(cell.warning),
            "Brier score": number(cell.brier),
            "Accuracy": percent(cell.accuracy),
            "Rows used": f"{cell.n_used:,}",
        }
        for cell in result.cells.values()
    ]


def without(result: MethodsTable) -> dict[str, str]:
    """Runs without a single row to stand on → why."""
    return {run: why for (run, _), why in result.refused.items()}
