"""The verb `sweep`: how much a binned metric depends on the number of bins M."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesAtScaleGroup
from calib_core.cli.json_output import JsonElement, sweep_element
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import MAX_BINS, Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.results.evidence import Evidence
from calib_core.results.robustness import PAPER_BINS, SWEPT_METRICS, Sweep, sweep_bins
from calib_core.runs import Run
from calib_core.views.robustness import values_view

DEFAULT_BINS: Final = ",".join(map(str, PAPER_BINS))


@takes_options
def sweep(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    bins_text: cli_options.BinsListOption = DEFAULT_BINS,
    ddof: cli_options.DdofOption = 0,
    binning: cli_options.BinningOption = "width",
    options: cli_options.MethodGroup,
    input_files: FilesAtScaleGroup,
) -> int:
    """Compute metrics over the number of bins M, compared with noise.

    Beside every value: what a perfectly calibrated model would score (median, 5th and 95th percentile of
    draws).
    """
    bin_counts = _parse_bins(bins_text)
    request = CommandRequest.from_options(choice, Scheme(binning, bin_counts[0]), options)
    runner, printer = Runner(choice.runs), ResultPrinter()
    reasons: list[str] = []

    def sweep_metric(evidence: Evidence, metric: str, _scheme: Scheme) -> Sweep:
        result = sweep_bins(evidence, (metric,), bin_counts, ddof, binning=binning)
        if result.unavailable:
            reasons.append(result.unavailable[metric])
            raise Unavailable(reasons[-1])
        return result

    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        reasons.clear()
        sweeps = runner.results(run, request, request.metrics or SWEPT_METRICS, sweep_metric)
        if not sweeps and reasons and not request.metrics:
            runner.refuse(
                f"{run.file}, {run.label}: no metric can be swept over M = {bins_text}: {reasons[-1]}"
            )
        elements += [sweep_element(run.file, result, curve) for result in sweeps for curve in result.curves]
        _report_refused(runner, run, sweeps)
        if sweeps and not as_json:
            printer.print_view(values_view(sweeps), heading(run.file, run.label))
    return runner.finish(elements, as_json=as_json)


def _report_refused(runner: Runner, run: Run, sweeps: Sequence[Sweep]) -> None:
    for curve in (curve for result in sweeps for curve in result.curves):
        for n_bins, why in curve.unavailable.items():
            runner.message(f"{run.file}, {run.label}: {curve.metric} at M={n_bins} is not available: {why}")


def _parse_bins(text: str) -> tuple[int, ...]:
    """Turns "5,10" into (5, 10); raises Refused unless the text lists whole numbers from 1 to MAX_BINS."""
    parts = [part.strip() for part in text.split(",")]
    all_integers = all(
        part.isascii() and part.isdecimal() and len(part) <= len(str(MAX_BINS)) for part in parts
    )
    if not all_integers or not all(1 <= int(part) <= MAX_BINS for part in parts):
        expected = f"expected whole numbers from 1 to {MAX_BINS}, as in 5,10,20"
        raise Refused(f"--bins: {expected}, found {shorten(text)!r}.")
    return tuple(dict.fromkeys(map(int, parts)))
