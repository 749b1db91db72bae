"""How good is each method, as one number or bin by bin?  The verbs `score` and `bins`."""

from __future__ import annotations

from calib_core.analysis.reliability import reliability
from calib_core.analysis.score import score as score_of
from calib_core.bins import Scheme
from calib_core.cli.desk import Desk, Wish
from calib_core.cli.elements import Element, bins_element, score_element
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
    SkipOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.sources import Source
from calib_core.cli.tables import Paper
from calib_core.confidence.method import Options
from calib_core.metrics import DEFAULT, METRICS


def score(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
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
    """How good is each method, as one number a metric?"""
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = Wish.of(methods, metrics, Scheme(binning, bins_asked), Options(renormalise, labels, unparseable))
    desk, paper = Desk(), Paper()
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        scores = desk.results(run, wish, wish.metrics or tuple(METRICS), score_of)
        elements += [score_element(run.file, score) for score in scores]
        if scores and not as_json:
            paper.scores(run.file, run.label, scores)
    return desk.leave(elements, as_json=as_json)


def bins(  # noqa: PLR0913  one parameter an option
    files: FilesArgument,
    *,
    as_json: JsonOption = False,
    methods: MethodOption = None,
    metrics: MetricOption = None,
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
    """Is it right as often as it says, bin by bin?

    --metric (ece if none is named) says which pairs are binned; empty bins are left out.
    """
    source = Source.of(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = Wish.of(methods, metrics, Scheme(binning, bins_asked), Options(renormalise, labels, unparseable))
    desk, paper = Desk(), Paper()
    elements: list[Element] = []
    for run in desk.runs(source, together=together):
        diagrams = desk.results(run, wish, wish.metrics or (DEFAULT,), reliability)
        elements += [bins_element(run.file, diagram) for diagram in diagrams]
        if not as_json:
            for diagram in diagrams:
                paper.bins(run.file, diagram)
    return desk.leave(elements, as_json=as_json)
