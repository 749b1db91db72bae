"""The verb `audit`: the ECE of a run under every convention in use."""

from __future__ import annotations

from calib_core.cli.input_files import InputFiles, takes_files
from calib_core.cli.json_output import JsonElement, audit_element
from calib_core.cli.options import (
    HeldOutOption,
    JsonOption,
    LabelsOption,
    MethodOption,
    MetricOption,
    RenormaliseOption,
    RunOption,
    UnparseableOption,
)
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.methods.method import MethodOptions
from calib_core.results.audit import AUDITED_METRIC, ConventionAudit, audit_conventions
from calib_core.results.evidence import Evidence
from calib_core.views.robustness import audit_view


@takes_files
def audit(  # noqa: PLR0913  one parameter an option
    input_files: InputFiles,
    *,
    as_json: JsonOption = False,
    run_labels: RunOption = None,
    methods: MethodOption = None,
    metrics: MetricOption = None,
    labels: LabelsOption = "top",
    renormalise: RenormaliseOption = None,
    unparseable: UnparseableOption = "own",
    held_out: HeldOutOption = False,
) -> int:
    """Compute the ECE under every convention in use, by tool.

    Bins closed on the left or the right, 10 or 15, of equal width or mass; gaps averaged, squared or the
    largest; and the conventions of torchmetrics, netcal, scikit-learn, relplot, uncertainty-calibration,
    HELM, Humanity's Last Exam and RLCR. --metric takes ece only.
    """
    request = CommandRequest.from_options(
        methods, metrics, Scheme(), MethodOptions(renormalise, labels, unparseable, held_out=held_out)
    )
    runner, printer = Runner(run_labels), ResultPrinter()
    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        for result in runner.results(run, request, request.metrics or (AUDITED_METRIC,), _audit):
            elements += [audit_element(run.file, result, value) for value in result.values]
            if not as_json:
                printer.print_view(audit_view(result), f"{heading(run.file, result.run)}: {result.method}")
    return runner.finish(elements, as_json=as_json)


def _audit(evidence: Evidence, metric: str, _scheme: Scheme) -> ConventionAudit:
    return audit_conventions(evidence, metric)
