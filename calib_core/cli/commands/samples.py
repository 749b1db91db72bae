"""The verb `samples`: how many samples are enough for self-consistency."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.cli.input_files import InputFiles, takes_files
from calib_core.cli.json_output import JsonElement, samples_element
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    RepeatsOption,
    RunOption,
    SeedOption,
    SizesOption,
    UnparseableOption,
    WithinOption,
)
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import Runner
from calib_core.cli.terminal import terminal_progress
from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.sampling import (
    BRIER_TOLERANCE,
    SELF_CONSISTENCY_METHODS,
    SHOWN_METRICS,
    SampleSizeSweep,
    SamplingPlan,
    sample_size_sweep,
)
from calib_core.runs import Run
from calib_core.views.sampling import sampling_view

MAX_SIZE_DIGITS: Final = 9
"""Longest number accepted by --sizes."""


@takes_files
def samples(  # noqa: PLR0913  one parameter an option
    input_files: InputFiles,
    *,
    as_json: JsonOption = False,
    run_labels: RunOption = None,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    sizes_text: SizesOption = None,
    repeats: RepeatsOption = 100,
    seed: SeedOption = 0,
    tolerance: WithinOption = BRIER_TOLERANCE,
    n_bins: BinsOption = 10,
    binning: BinningOption = "width",
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
) -> int:
    """Find how many samples are enough for self-consistency.

    Subsets of each question's samples are drawn without replacement; N' above half of the samples is greyed.
    """
    plan = _plan(_parse_sizes(sizes_text), repeats, seed, methods, metrics)
    runner, printer = Runner(run_labels), ResultPrinter()
    _check_options(runner, tolerance, labels, renormalise=renormalise)
    options, scheme = MethodOptions(renormalise, "top", unparseable), Scheme(binning, n_bins)
    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        try:
            result = _sample_with_progress(run, plan, options, tolerance, scheme)
        except Unavailable as reason:
            runner.refuse(f"{run.file}, {run.label}: {reason}")
            continue
        elements += [samples_element(run.file, result, curve) for curve in result.curves]
        _print_result(runner, None if as_json else printer, run, result)
    return runner.finish(elements, as_json=as_json)


def _plan(
    sizes: tuple[int, ...] | None,
    repeats: int,
    seed: int,
    methods: Sequence[str] | None,
    metrics: Sequence[str] | None,
) -> SamplingPlan:
    """Builds the plan, with the default methods and metrics where none is named."""
    return SamplingPlan(
        sizes, repeats, seed, tuple(methods or SELF_CONSISTENCY_METHODS), tuple(metrics or SHOWN_METRICS)
    )


def _check_options(runner: Runner, tolerance: float, labels: Labels, *, renormalise: bool | None) -> None:
    """Prints which options have no effect; raises Refused unless the tolerance is above 0."""
    if not tolerance > 0:
        raise Refused(f"--within: expected a number above 0, found {tolerance:g}.")
    if labels != "top":
        runner.message("samples uses one confidence per row: --labels has no effect.")
    if renormalise is not None:
        switch = "--renormalise" if renormalise else "--no-renormalise"
        runner.message(f"{switch} affects only p_true, if p_true is shown beside the samples.")


def _print_result(runner: Runner, printer: ResultPrinter | None, run: Run, result: SampleSizeSweep) -> None:
    for why in result.unavailable.values():
        runner.message(f"{run.file}, {run.label}: {why}")
    if printer is not None:
        metrics = tuple(dict.fromkeys(curve.metric for curve in result.curves))
        printer.print_view(sampling_view(result, metrics), heading(run.file, result.run))


def _sample_with_progress(
    run: Run, plan: SamplingPlan, options: MethodOptions, tolerance: float, scheme: Scheme
) -> SampleSizeSweep:
    """Computes the result, with progress on stderr if that is a terminal."""
    with terminal_progress(run.label) as progress:
        return sample_size_sweep(run, plan, options, tolerance=tolerance, scheme=scheme, progress=progress)


def _parse_sizes(text: str | None) -> tuple[int, ...] | None:
    """Turns "4,8" into (4, 8); raises Refused unless the text lists whole numbers of 2 or more."""
    if text is None:
        return None
    parts: Sequence[str] = [part.strip() for part in text.split(",")]
    all_integers = all(part.isascii() and part.isdecimal() and len(part) <= MAX_SIZE_DIGITS for part in parts)
    if not all_integers or not all(int(part) > 1 for part in parts):
        raise Refused(f"--sizes: expected whole numbers of 2 or more, as in 4,8,16, found {shorten(text)!r}.")
    return tuple(dict.fromkeys(map(int, parts)))
