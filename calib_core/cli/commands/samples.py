"""The verb `samples`: how many samples are enough for self-consistency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Final

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement, samples_element
from calib_core.cli.option_groups import OptionGroup, takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import Runner
from calib_core.cli.terminal import terminal_progress
from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods.method import MethodOptions
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


@dataclass(frozen=True, slots=True)
class _Draws:
    """Which subsets of the samples are drawn."""

    sizes: cli_options.SizesOption = None
    repeats: cli_options.RepeatsOption = 100
    seed: cli_options.SeedOption = 0


@takes_options
def samples(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    draws: Annotated[_Draws, OptionGroup(_Draws)],
    tolerance: cli_options.WithinOption = BRIER_TOLERANCE,
    scheme: cli_options.SchemeGroup,
    options: cli_options.MethodGroup,
    input_files: FilesGroup,
) -> int:
    """Find how many samples are enough for self-consistency.

    Subsets of each question's samples are drawn without replacement; N' above half of the samples is greyed.
    """
    plan = SamplingPlan(
        _parse_sizes(draws.sizes),
        draws.repeats,
        draws.seed,
        tuple(choice.methods or SELF_CONSISTENCY_METHODS),
        tuple(choice.metrics or SHOWN_METRICS),
    )
    runner, printer = Runner(choice.runs), ResultPrinter()
    _check_options(runner, tolerance, options)
    options = replace(options, labels="top")
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


def _check_options(runner: Runner, tolerance: float, options: MethodOptions) -> None:
    """Prints which options have no effect; raises Refused unless the tolerance is above 0."""
    if not tolerance > 0:
        raise Refused(f"--within: expected a number above 0, found {tolerance:g}.")
    if options.labels != "top":
        runner.message("samples uses one confidence per row: --labels has no effect.")
    if options.renormalise is not None:
        switch = "--renormalise" if options.renormalise else "--no-renormalise"
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
