"""The verbs `score` and `bins`: each method as one number a metric, or bin by bin."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from calib_core.cli import options as cli_options
from calib_core.cli.input_files import FilesAtScaleGroup, FilesGroup
from calib_core.cli.json_output import JsonElement, bins_element, score_element, verdict_element
from calib_core.cli.option_groups import takes_options
from calib_core.cli.rendering import ResultPrinter, element_value_text, heading
from calib_core.cli.runner import CommandRequest, Runner
from calib_core.edges import Scheme
from calib_core.inference.missingness import ROWS_WITH_ONE, Missingness, missing_caveat
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import DEFAULT_TOLERANCE
from calib_core.methods import METHODS
from calib_core.metrics import DEFAULT_METRIC, METRICS
from calib_core.results.corrections import CorrectionEffect, correction_effect
from calib_core.results.evidence import Evidence
from calib_core.results.reliability import reliability_diagram
from calib_core.results.run_verdict import RunVerdict, run_verdict
from calib_core.results.score import Score
from calib_core.results.uncertainty import score_with_interval
from calib_core.runs import TokenRun
from calib_core.views.reliability import reliability_view
from calib_core.views.score import scores_view
from calib_core.views.verdict import verdicts_view

if TYPE_CHECKING:  # as in json_output
    from calib_core.cli.json_elements import VerdictElement

VERDICT: Final = "verdict"
"""What --metric calls the verdict, which is not a metric."""


@takes_options
def score(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    scheme: cli_options.SchemeGroup,
    options: cli_options.MethodGroup,
    tolerance: cli_options.ToleranceOption = DEFAULT_TOLERANCE,
    input_files: FilesAtScaleGroup,
) -> int:
    """Compute every metric of every method, with intervals and a verdict.

    --metric verdict prints only the verdict: over, under, extreme, timid, uneven, unclear, tolerable,
    none or few. For several verdicts, q is p corrected for all of them (Benjamini–Hochberg).
    """
    request = CommandRequest.from_options(choice, scheme, options, besides=(VERDICT,))

    effect_of = lru_cache(maxsize=1)(correction_effect)  # the metrics of a method follow one another

    def score_or_verdict(
        evidence: Evidence, metric: str, scheme: Scheme
    ) -> tuple[Score, CorrectionEffect | None] | RunVerdict:
        if metric == VERDICT:
            return run_verdict(evidence.with_tolerance(tolerance))
        return score_with_interval(evidence, metric, scheme), effect_of(evidence)

    runner, printer = Runner(choice.runs, warns=False), ResultPrinter()
    elements: list[JsonElement] = []
    verdicts: list[VerdictElement] = []
    missing: list[tuple[str, Missingness | None]] = []
    for run in runner.runs(input_files):
        results = runner.results(run, request, request.metrics or (*METRICS, VERDICT), score_or_verdict)
        corrections = None if isinstance(run, TokenRun) else run.corrections
        scores: list[Score] = []
        for result in results:
            if isinstance(result, tuple):
                scores.append(result[0])
                elements.append(score_element(run.file, result[0], corrections, result[1]))
                continue
            verdicts.append(verdict_element(run.file, result))
            missing.append((f"in {result.run}, by “{METHODS[result.method].title}”", result.missing))
            elements.append(verdicts[-1])
        if scores and not as_json:
            printer.print_view(
                scores_view(scores),
                heading(run.file, run.label),
                file=run.file,
                notes=run.row_counts.notes,
            )
    q_values = benjamini_hochberg([element["p"] for element in verdicts])
    for element, q in zip(verdicts, q_values, strict=True):
        element["q"] = q
    if verdicts and not as_json:
        printer.print_view(verdicts_view(verdicts, tolerance, missing_caveat(missing, ROWS_WITH_ONE)))
    return runner.finish(elements, as_json=as_json)


@takes_options
def bins(
    *,
    as_json: cli_options.JsonOption = False,
    choice: cli_options.ChoiceGroup,
    scheme: cli_options.SchemeGroup,
    options: cli_options.MethodGroup,
    input_files: FilesGroup,
) -> int:
    """Print confidence and accuracy, bin by bin.

    --metric (ece if none is named) says which pairs are binned; empty bins are left out.
    """
    request = CommandRequest.from_options(choice, scheme, options)
    runner, printer = Runner(choice.runs, warns=False), ResultPrinter()
    elements: list[JsonElement] = []
    for run in runner.runs(input_files):
        diagrams = runner.results(run, request, request.metrics or (DEFAULT_METRIC,), reliability_diagram)
        elements += [bins_element(run.file, diagram) for diagram in diagrams]
        if not as_json:
            for diagram in diagrams:
                number = f"{diagram.score.metric} {element_value_text(diagram.score.value)}"
                title = f"{heading(run.file, run.label)}: {diagram.method}, {number}"
                printer.print_view(
                    reliability_view(diagram), title, file=run.file, notes=run.row_counts.notes
                )
    return runner.finish(elements, as_json=as_json)
