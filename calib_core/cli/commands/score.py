"""How good is each method, as one number or bin by bin?  The verbs `score` and `bins`."""

from __future__ import annotations

from calib_core.cli.input_files import InputFiles
from calib_core.cli.json_output import JsonElement, bins_element, score_element
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
    SkipBadRowsOption,
    TogetherOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.methods.method import MethodOptions
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.reliability import reliability_diagram
from calib_core.results.score import score as score_of


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
    skip_bad_rows: SkipBadRowsOption = False,
    format_id: FormatOption = None,
    maps: ColumnMappingOption = None,
    gold: GoldOption = None,
    together: TogetherOption = False,
) -> int:
    """How good is each method, as one number a metric?"""
    source = InputFiles.from_options(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = CommandRequest.from_options(
        methods, metrics, Scheme(binning, bins_asked), MethodOptions(renormalise, labels, unparseable)
    )
    desk, paper = Runner(), ResultPrinter()
    elements: list[JsonElement] = []
    for run in desk.runs(source, together=together):
        scores = desk.results(run, wish, wish.metrics or tuple(METRICS), score_of)
        elements += [score_element(run.file, score) for score in scores]
        if scores and not as_json:
            paper.print_scores(run.file, run.label, scores)
    return desk.finish(elements, as_json=as_json)


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
    skip_bad_rows: SkipBadRowsOption = False,
    format_id: FormatOption = None,
    maps: ColumnMappingOption = None,
    gold: GoldOption = None,
    together: TogetherOption = False,
) -> int:
    """Is it right as often as it says, bin by bin?

    --metric (ece if none is named) says which pairs are binned; empty bins are left out.
    """
    source = InputFiles.from_options(files, format_id, maps, skip_bad_rows=skip_bad_rows, gold=gold)
    wish = CommandRequest.from_options(
        methods, metrics, Scheme(binning, bins_asked), MethodOptions(renormalise, labels, unparseable)
    )
    desk, paper = Runner(), ResultPrinter()
    elements: list[JsonElement] = []
    for run in desk.runs(source, together=together):
        diagrams = desk.results(run, wish, wish.metrics or (DEFAULT_METRIC,), reliability_diagram)
        elements += [bins_element(run.file, diagram) for diagram in diagrams]
        if not as_json:
            for diagram in diagrams:
                paper.print_bins(run.file, diagram)
    return desk.finish(elements, as_json=as_json)
