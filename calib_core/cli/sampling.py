"""How many samples are enough?  The verb `samples`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.analysis.samples import samples as samples_of
from calib_core.analysis.samples_draws import SELF_CONSISTENCY, SHOWN, Plan
from calib_core.analysis.samples_enough import WITHIN
from calib_core.analysis.samples_result import Sampled
from calib_core.bins import Scheme
from calib_core.cli.desk import Desk
from calib_core.cli.elements import Element, samples_element
from calib_core.cli.options import (
    BinningOption,
    BinsOption,
    FilesArgument,
    FormatOption,
    GoldOption,
    JsonOption,
    LabelsOption,
    MapOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    RepeatsOption,
    SeedOption,
    SizesOption,
    SkipOption,
    TogetherOption,
    UnparseableOption,
    WithinOption,
)
from calib_core.cli.progress import progress_of
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.confidence.method import Options
from calib_core.pairs import Labels
from calib_core.problems import Refused, Unavailable, shorten
from calib_core.records import Run

DIGITS: Final = 9
"""A number of samples has no more."""


def samples(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    sizes_asked: SizesOption = None,
    repeats: RepeatsOption = 100,
    seed: SeedOption = 0,
    within: WithinOption = WITHIN,
    bins_asked: BinsOption = 10,
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
    """How many samples are enough for self-consistency?

    Parts of each question's samples are drawn without replacement; N' above half of the samples is greyed.
    """
    plan = _plan(_numbers(sizes_asked), repeats, seed, methods, metrics)
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    desk, paper = Desk(), Paper()
    _check_switches(desk, within, labels, renormalise=renormalise)
    options, scheme = Options(renormalise, "top", unparseable), Scheme(binning, bins_asked)
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        try:
            result = _drawn(run, plan, options, within, scheme)
        except Unavailable as reason:
            desk.refuse(f"{run.file}, {run.label}: {reason}")
            continue
        elements += [samples_element(run.file, result, curve) for curve in result.curves]
        _show(desk, None if as_json else paper, run, result)
    return desk.leave(elements, as_json=as_json)


def _plan(
    sizes: tuple[int, ...] | None, repeats: int, seed: int,
    methods: Sequence[str] | None, metrics: Sequence[str] | None,
) -> Plan:
    """The usual methods and metrics where none is named."""
    return Plan(sizes, repeats, seed, tuple(methods or SELF_CONSISTENCY), tuple(metrics or SHOWN))


def _check_switches(desk: Desk, within: float, labels: Labels, *, renormalise: bool | None) -> None:
    """Tells of switches that change nothing; raises Refused for a difference that none can be within."""
    if not within > 0:
        raise Refused(f"--within: expected a number above 0, found {within:g}.")
    if labels != "top":
        desk.tell("samples is of one confidence a row: --labels changes nothing.")
    if renormalise is not None:
        switch = "--renormalise" if renormalise else "--no-renormalise"
        desk.tell(f"{switch} changes nothing but p_true, where that stands beside the samples.")


def _show(desk: Desk, paper: Paper | None, run: Run, result: Sampled) -> None:
    for why in result.refused.values():
        desk.tell(f"{run.file}, {run.label}: {why}")
    if paper is not None:
        paper.samples(run.file, result)


def _drawn(run: Run, plan: Plan, options: Options, within: float, scheme: Scheme) -> Sampled:
    """The result, with progress on stderr if a person looks."""
    with progress_of(run.label) as progress:
        return samples_of(run, plan, options, within=within, scheme=scheme, progress=progress)


def _numbers(text: str | None) -> tuple[int, ...] | None:
    """"4,8" → (4, 8); raises Refused for what is no list of whole numbers of 2 or more."""
    if text is None:
        return None
    parts: Sequence[str] = [part.strip() for part in text.split(",")]
    whole = all(part.isascii() and part.isdecimal() and len(part) <= DIGITS for part in parts)
    if not whole or not all(int(part) > 1 for part in parts):
        raise Refused(
            f"--sizes: expected whole numbers of 2 or more, as in 4,8,16, found {shorten(text)!r}."
        )
    return tuple(dict.fromkeys(map(int, parts)))
