"""Does the number depend on M?  The verb `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from calib_core.analysis.evidence import Evidence
from calib_core.analysis.sweep import PAPER_BINS, SWEPT, Sweep
from calib_core.analysis.sweep import sweep as sweep_of
from calib_core.bins import MAX_BINS, Binning, Scheme
from calib_core.cli.desk import Desk, Wish
from calib_core.cli.elements import Element, sweep_element
from calib_core.cli.options import (
    BinningOption,
    DdofOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MapOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    SkipOption,
    SweptOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.confidence.method import Options
from calib_core.problems import Refused, Unavailable, shorten
from calib_core.records import Run

PAPER: Final = ",".join(map(str, PAPER_BINS))


def sweep(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    bins_asked: SweptOption = PAPER,
    ddof: DdofOption = 0,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    skip_bad_rows: SkipOption = False,
    format_id: FormatOption = None,
    maps: MapOption = None,
    gold: GoldOption = None,
    together: TogetherOption = False,
) -> int:
    """Does the number depend on M, and by how much more than noise makes it?

    Every value stands beside what confidences that are exactly right would give (median, 5th and 95th
    percentile of draws).
    """
    numbers = _numbers(bins_asked)
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = Wish.of(methods, metrics, Scheme(binning, numbers[0]), Options(renormalise, labels, unparseable))
    desk, paper = Desk(), Paper()
    why: list[str] = []
    one = partial(_one, numbers, ddof, why, binning)
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        why.clear()
        made = desk.results(run, wish, wish.metrics or SWEPT, one)
        if not made and why and not wish.metrics:
            desk.refuse(f"{run.file}, {run.label}: nothing can be swept over M = {bins_asked}: {why[-1]}")
        elements += [sweep_element(run.file, result, curve) for result in made for curve in result.curves]
        _tell_of_refused(desk, run, made)
        if made and not as_json:
            paper.sweep(run.file, made)
    return desk.leave(elements, as_json=as_json)


def _one(
    numbers: Sequence[int],
    ddof: int,
    why: list[str],
    binning: Binning,
    evidence: Evidence,
    metric: str,
    _scheme: Scheme,
) -> Sweep:
    """One metric of one method; raises Unavailable where no M of it can be given, and notes `why`."""
    made = sweep_of(evidence, (metric,), numbers, ddof, binning=binning)
    if made.refused:
        why.append(made.refused[metric])
        raise Unavailable(why[-1])
    return made


def _tell_of_refused(desk: Desk, run: Run, made: Sequence[Sweep]) -> None:
    for curve in (curve for result in made for curve in result.curves):
        for number, why in curve.refused.items():
            desk.tell(f"{run.file}, {run.label}: {curve.metric} at M={number} cannot be given: {why}")


def _numbers(text: str) -> tuple[int, ...]:
    """"5,10" → (5, 10); raises Refused for what is no list of whole numbers from 1 to 1000."""
    parts = [part.strip() for part in text.split(",")]
    whole = all(part.isascii() and part.isdecimal() and len(part) <= len(str(MAX_BINS)) for part in parts)
    if not whole or not all(1 <= int(part) <= MAX_BINS for part in parts):
        asked = f"expected whole numbers from 1 to {MAX_BINS}, as in 5,10,20"
        raise Refused(f"--bins: {asked}, found {shorten(text)!r}.")
    return tuple(dict.fromkeys(map(int, parts)))
