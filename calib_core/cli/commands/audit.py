"""The verb `audit`: the ECE of a run under every convention in use."""

from __future__ import annotations

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesGroup
from calib_core.cli.json_output import JsonElement, audit_element
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.results.audit import AUDITED_METRIC, ConventionAudit, audit_conventions
from calib_core.results.evidence import Evidence
from calib_core.views.robustness import audit_view


@takes_options
def audit(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    options: cli_options.MethodGroup,
    input_files: FilesGroup,
) -> int:
    """Compute the ECE under every convention in use, by tool.

    Bins closed on the left or the right, 10 or 15, of equal width or mass; gaps averaged, squared or the
    largest; and the conventions of torchmetrics, netcal, scikit-learn, relplot, uncertainty-calibration,
    HELM, Humanity's Last Exam and RLCR. --metric takes ece only.
    """
    request = CommandRequest.from_options(choice, Scheme(), options)
    runner, printer = Runner(choice.runs), ResultPrinter()
    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        for result in runner.results(run, request, request.metrics or (AUDITED_METRIC,), _audit):
            elements += [audit_element(run.file, result, value) for value in result.values]
            if not as_json:
                printer.print_view(audit_view(result), f"{heading(run.file, result.run)}: {result.method}")
    return runner.finish(elements, as_json=as_json)


def _audit(evidence: Evidence, metric: str, _scheme: Scheme) -> ConventionAudit:
    return audit_conventions(evidence, metric)
