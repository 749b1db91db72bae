"""How many samples are enough?  The verb `samples`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.cli.input_files import InputFiles
from calib_core.cli.json_output import JsonElement, samples_element
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    ColumnMappingOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    RepeatsOption,
    SeedOption,
    SizesOption,
    SkipBadRowsOption,
    TogetherOption,
    UnparseableOption,
    WithinOption,
)
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import Runner
from calib_core.cli.terminal import progress_bar
from calib_core.edges import Scheme
from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods.method import MethodOptions
from calib_core.pairs import Labels
from calib_core.results.sampling import (
    BRIER_TOLERANCE,
    SELF_CONSISTENCY_METHODS,
    SHOWN,
    SampleSizeSweep,
    SamplingPlan,
)
from calib_core.results.sampling import sample_size_sweep as samples_of
from calib_core.runs import Run

MAX_SIZE_DIGITS: Final = 9
"""A number of samples has no more."""


def samples(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    sizes_text: SizesOption = None,
    repeats: RepeatsOption = 100,
    seed: SeedOption = 0,
    within: WithinOption = BRIER_TOLERANCE,
    n_bins: BinsOption = 10,
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
    """How many samples are enough for self-consistency?

    Parts of each question's samples are drawn without replacement; N' above half of the samples is greyed.
    """
    plan = _plan(_parse_sizes(sizes_text), repeats, seed, methods, metrics)
    source = InputFiles.from_options(
        files, format_id, column_mappings, skip_bad_rows=skip_bad_rows, gold=gold
    )
    desk, paper = Runner(), ResultPrinter()
    _check_options(desk, within, labels, renormalise=renormalise)
    options, scheme = MethodOptions(renormalise, "top", unparseable), Scheme(binning, n_bins)
    elements: list[JsonElement] = []
    for run in desk.runs(source, together=together):
        try:
            result = _sample_with_progress(run, plan, options, within, scheme)
        except Unavailable as reason:
            desk.refuse(f"{run.file}, {run.label}: {reason}")
            continue
        elements += [samples_element(run.file, result, curve) for curve in result.curves]
        _print_result(desk, None if as_json else paper, run, result)
    return desk.finish(elements, as_json=as_json)


def _plan(
    sizes: tuple[int, ...] | None,
    repeats: int,
    seed: int,
    methods: Sequence[str] | None,
    metrics: Sequence[str] | None,
) -> SamplingPlan:
    """The usual methods and metrics where none is named."""
    return SamplingPlan(
        sizes, repeats, seed, tuple(methods or SELF_CONSISTENCY_METHODS), tuple(metrics or SHOWN)
    )


def _check_options(runner: Runner, within: float, labels: Labels, *, renormalise: bool | None) -> None:
    """Tells of switches that change nothing; raises Refused for a difference that none can be within."""
    if not within > 0:
        raise Refused(f"--within: expected a number above 0, found {within:g}.")
    if labels != "top":
        runner.message("samples is of one confidence a row: --labels changes nothing.")
    if renormalise is not None:
        switch = "--renormalise" if renormalise else "--no-renormalise"
        runner.message(f"{switch} changes nothing but p_true, where that stands beside the samples.")


def _print_result(runner: Runner, printer: ResultPrinter | None, run: Run, result: SampleSizeSweep) -> None:
    for why in result.unavailable.values():
        runner.message(f"{run.file}, {run.label}: {why}")
    if printer is not None:
        printer.print_samples(run.file, result)


def _sample_with_progress(
    run: Run, plan: SamplingPlan, options: MethodOptions, within: float, scheme: Scheme
) -> SampleSizeSweep:
    """The result, with progress on stderr if a person looks."""
    with progress_bar(run.label) as progress:
        return samples_of(run, plan, options, tolerance=within, scheme=scheme, progress=progress)


def _parse_sizes(text: str | None) -> tuple[int, ...] | None:
    """ "4,8" → (4, 8); raises Refused for what is no list of whole numbers of 2 or more."""
    if text is None:
        return None
    parts: Sequence[str] = [part.strip() for part in text.split(",")]
    whole = all(part.isascii() and part.isdecimal() and len(part) <= MAX_SIZE_DIGITS for part in parts)
    if not whole or not all(int(part) > 1 for part in parts):
        raise Refused(f"--sizes: expected whole numbers of 2 or more, as in 4,8,16, found {shorten(text)!r}.")
    return tuple(dict.fromkeys(map(int, parts)))
