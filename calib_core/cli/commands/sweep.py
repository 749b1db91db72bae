"""Does the number depend on M?  The verb `sweep`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from calib_core.cli.input_files import InputFiles
from calib_core.cli.json_output import JsonElement, sweep_element
from calib_core.cli.options import (
    BinningOption,
    BinsListOption,
    ColumnMappingOption,
    DdofOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    SkipBadRowsOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import MAX_BINS, Binning, Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import Evidence
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep
from calib_core.results.robustness import sweep_bins as sweep_of
from calib_core.runs import Run

DEFAULT_BINS: Final = ",".join(map(str, PAPER_BINS))


def sweep(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    bins_text: BinsListOption = DEFAULT_BINS,
    ddof: DdofOption = 0,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    skip_bad_rows: SkipBadRowsOption = False,
    format_id: FormatOption = None,
    column_mappings: ColumnMappingOption = None,
    gold: GoldOption = None,
    together: TogetherOption = False,
) -> int:
    """Does the number depend on M, and by how much more than noise makes it?

    Every value stands beside what confidences that are exactly right would give (median, 5th and 95th
    percentile of draws).
    """
    numbers = _parse_bins(bins_text)
    source = InputFiles.from_options(
        files, format_id, column_mappings, skip_bad_rows=skip_bad_rows, gold=gold
    )
    wish = CommandRequest.from_options(
        methods, metrics, Scheme(binning, numbers[0]), MethodOptions(renormalise, labels, unparseable)
    )
    desk, paper = Runner(), ResultPrinter()
    why: list[str] = []
    one = partial(_sweep_metric, numbers, ddof, why, binning)
    elements: list[JsonElement] = []
    for run in desk.runs(source, together=together):
        why.clear()
        made = desk.results(run, wish, wish.metrics or SWEPT_METRICS, one)
        if not made and why and not wish.metrics:
            desk.refuse(f"{run.file}, {run.label}: nothing can be swept over M = {bins_text}: {why[-1]}")
        elements += [sweep_element(run.file, result, curve) for result in made for curve in result.curves]
        _report_refused(desk, run, made)
        if made and not as_json:
            paper.print_sweep(run.file, made)
    return desk.finish(elements, as_json=as_json)


def _sweep_metric(
    bins: Sequence[int],
    ddof: int,
    reasons: list[str],
    binning: Binning,
    evidence: Evidence,
    metric: str,
    _scheme: Scheme,
) -> Sweep:
    """One metric of one method; raises Unavailable where no M of it can be given, and notes `why`."""
    made = sweep_of(evidence, (metric,), bins, ddof, binning=binning)
    if made.unavailable:
        reasons.append(made.unavailable[metric])
        raise Unavailable(reasons[-1])
    return made


def _report_refused(runner: Runner, run: Run, sweeps: Sequence[Sweep]) -> None:
    for curve in (curve for result in sweeps for curve in result.curves):
        for number, why in curve.unavailable.items():
            runner.message(f"{run.file}, {run.label}: {curve.metric} at M={number} cannot be given: {why}")


def _parse_bins(text: str) -> tuple[int, ...]:
    """ "5,10" → (5, 10); raises Refused for what is no list of whole numbers from 1 to 1000."""
    parts = [part.strip() for part in text.split(",")]
    whole = all(part.isascii() and part.isdecimal() and len(part) <= len(str(MAX_BINS)) for part in parts)
    if not whole or not all(1 <= int(part) <= MAX_BINS for part in parts):
        asked = f"expected whole numbers from 1 to {MAX_BINS}, as in 5,10,20"
        raise Refused(f"--bins: {asked}, found {shorten(text)!r}.")
    return tuple(dict.fromkeys(map(int, parts)))
