"""The elements of the JSON list that `--json` prints; their keys and types are in `json_elements`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from calib_core.errors import Problem, Suspicion
from calib_core.results.recalibration_map import plain_parameters
from calib_core.results.reported_metrics import compare_reported_metrics, reported_metrics_frame
from calib_core.runs import TokenRun

if TYPE_CHECKING:  # a verb waits for the modules of its own question alone
    from calib_core.cli import json_elements as elements
    from calib_core.results.audit import ConventionAudit, ConventionValue
    from calib_core.results.corrections import CorrectionEffect
    from calib_core.results.files import FileReport, Proposal, RunReport
    from calib_core.results.recalibration import Recalibration
    from calib_core.results.reliability import Reliability
    from calib_core.results.robustness import Sweep, SweepCurve
    from calib_core.results.run_verdict import RunVerdict
    from calib_core.results.sampling import SampleSizeCurve, SampleSizeSweep
    from calib_core.results.score import Score
    from calib_core.runs import Corrections

JsonElement: TypeAlias = Mapping[str, Any]


def json_document(listed: Sequence[JsonElement]) -> str:
    """Writes the list as JSON that every parser reads.

    The text is ASCII; an infinite number is the text "inf" or "-inf".

    Raises
    ------
    ValueError
        If a number is NaN.

    Examples
    --------
    >>> print(json_document([{"value": float("inf")}]))
    [
      {
        "value": "inf"
      }
    ]
    """
    return json.dumps(_json_safe(list(listed)), indent=2, allow_nan=False)


def score_element(
    file: str, score: Score, corrections: Corrections | None = None, effect: CorrectionEffect | None = None
) -> elements.ScoreElement | elements.BoundsElement:
    """One score: `value`, or `low` and `high` where only bounds are known; its interval is a list or null."""
    corrected = None if corrections is None or effect is None else _counts(corrections) | effect.to_dict()
    omitted = ("low", "high") if score.low is None else ("value",)
    fields = {name: value for name, value in score.to_dict().items() if name not in omitted}
    element = {"file": file, **fields, "corrections": corrected}
    return cast("elements.ScoreElement | elements.BoundsElement", element)


def _counts(corrections: Corrections) -> dict[str, Any]:
    return {
        "file": corrections.file,
        "left_out": corrections.n_left_out,
        "corrected": corrections.n_corrected,
    }


def _run_corrections(report: RunReport) -> elements.RunCorrections | None:
    """What corrections changed in a run; None without corrections."""
    run = report.run
    if isinstance(run, TokenRun) or run.corrections is None:
        return None
    corrections = run.corrections
    effects = [effect.to_dict() for effect in report.correction_effects]
    element = {**_counts(corrections), "effects": effects, "changes": corrections.changes.to_dicts()}
    return cast("elements.RunCorrections", element)


def verdict_element(file: str, verdict: RunVerdict) -> elements.VerdictElement:
    """The verdict on one run and method; `q` is set when all verdicts are known."""
    return cast("elements.VerdictElement", {"file": file, **verdict.to_dict(), "q": None})


def sweep_element(file: str, sweep: Sweep, curve: SweepCurve) -> elements.SweepElement:
    """One metric over M; `values` maps M as text to a number, {"low", "high"}, or null if refused."""
    null = curve.null
    bin_keys = tuple(map(str, curve.bins))

    def by_m(values: Sequence[Any] | None) -> dict[str, Any] | None:
        return dict(zip(bin_keys, values, strict=True)) if values is not None else None

    values: list[float | elements.Bounds | None] = list(curve.values)
    for index, n_bins in enumerate(curve.bins):
        if n_bins in curve.bounds:
            low, high = curve.bounds[n_bins]
            values[index] = {"low": low, "high": high}
    return {
        "file": file,
        "run": sweep.run,
        "method": sweep.method,
        "metric": curve.metric,
        "values": dict(zip(bin_keys, values, strict=True)),
        "rsd": curve.rsd,
        "ddof": curve.ddof,
        "p": by_m(null and null.p),
        "null_median": by_m(null and null.median),
        "null_low": by_m(null and null.low),
        "null_high": by_m(null and null.high),
        "fitted_median": by_m(curve.fitted and curve.fitted.median),
        "fitted_low": by_m(curve.fitted and curve.fitted.low),
        "fitted_high": by_m(curve.fitted and curve.fitted.high),
        "rise_by_noise": curve.fitted and curve.fitted.change_median,
        "rise_p": curve.fitted and curve.fitted.change_p,
        "rsd_p": null and null.rsd_p,
        "rsd_null_median": null and null.rsd_median,
        "rsd_null_low": null and null.rsd_low,
        "rsd_null_high": null and null.rsd_high,
        "draws": null and null.n_draws,
        "seed": null and null.seed,
        "ceiling": curve.ceiling,
        "refused": {str(n_bins): why for n_bins, why in curve.unavailable.items()},
        "n_used": sweep.n_used,
        "n_total": sweep.n_total,
        "recipe": curve.recipe,
        "remarks": list(curve.remarks),
        "reading": sweep.headline,
        "chance": sweep.chance_note,
    }


def audit_element(file: str, audit: ConventionAudit, value: ConventionValue) -> elements.AuditElement:
    """The calibration error under one convention; what a convention does not have is null."""
    convention = value.convention
    return {
        "file": file,
        "run": audit.run,
        "method": audit.method,
        "metric": audit.metric,
        "convention": convention.id,
        "title": convention.title,
        "tool": convention.tool,
        "version": convention.version,
        "bins": convention.bins,
        "binning": convention.binning,
        "closed": convention.closed,
        "norm": convention.norm,
        "value": value.value,
        "default": convention.is_default,
        "verified": convention.check,
        "source": convention.source,
        "n_used": audit.n_used,
        "n_total": audit.n_total,
        "recipe": audit.recipe,
    }


def recalibration_element(file: str, result: Recalibration) -> elements.RecalibrationElement:
    """A run before and after recalibration; a difference that has no interval is null."""
    differences = {metric: result.differences.get(metric) for metric in result.before}
    difference = {
        **{metric: each and each.value for metric, each in differences.items()},
        "interval": {metric: each and [each.low, each.high] for metric, each in differences.items()},
        "p": {metric: each and each.p for metric, each in differences.items()},
    }
    return {
        "file": file,
        "run": result.run,
        "method": result.method,
        "by": result.by,
        "before": dict(result.before),
        "after": dict(result.after),
        "difference": cast("elements.Difference", difference),
        "gain": result.gains,
        "folds": result.folds,
        "seed": result.seed,
        "target": result.map.target,
        "parameters": plain_parameters(result.map.parameters),
        "n_used": result.n_used,
        "n_total": result.n_total,
        "recipe": result.recipe,
        "reading": result.headline,
    }


def samples_element(file: str, result: SampleSizeSweep, curve: SampleSizeCurve) -> elements.SamplesElement:
    """One metric of one method over N'; `sizes` maps N' as text to mean and std, null if refused."""
    sizes: dict[str, elements.SizeMean] = {
        str(size): {"mean": curve.mean[index], "std": curve.std[index], "draws": result.n_draws[size]}
        for index, size in enumerate(result.sizes)
    }
    sizes |= {str(size): {"mean": None, "std": None, "draws": 0} for size in result.unavailable}
    sufficient = next((found for found in result.sufficient_sizes if found.method == curve.method), None)
    return {
        "file": file,
        "run": result.run,
        "method": curve.method,
        "metric": curve.metric,
        "sizes": sizes,
        "repeats": result.repeats,
        "seed": result.seed,
        "samples": {"fewest": result.sample_range[0], "most": result.sample_range[1]},
        "n_used": result.n_used,
        "n_total": result.n_total,
        "absent": {str(size): count for size, count in result.n_without_confidence.items()},
        "greyed": {str(size): why for size, why in result.spread_caveats.items()},
        "refused": {str(size): why for size, why in result.unavailable.items()},
        "enough": None
        if sufficient is None
        else {
            "size": sufficient.size,
            "against": sufficient.reference_size,
            "within": sufficient.tolerance,
            "differences": {
                str(size): {"value": difference.value, "low": difference.low, "high": difference.high}
                for size, difference in result.brier_differences[curve.method].items()
            },
        },
        "baselines": {
            baseline.method: {
                "value": baseline.value,
                "judged": baseline.judged,
                "n": baseline.n_questions,
                "recipe": baseline.recipe,
            }
            for baseline in result.baselines
            if baseline.metric == curve.metric
        },
        "judged": result.judged,
        "recipe": curve.recipe,
        "reading": result.headline,
        "measure": result.sufficiency_definition,
    }


def bins_element(file: str, diagram: Reliability) -> elements.BinsElement:
    """The non-empty bins of one diagram; the accuracy interval is null where pairs are not independent."""
    columns = (
        "bin",
        "low",
        "high",
        "count",
        "effective",
        "confidence",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "gap",
    )
    bins = [{name: row.get(name) for name in columns} for row in diagram.table.to_dicts()]
    return {
        "file": file,
        "run": diagram.run,
        "method": diagram.method,
        "metric": diagram.score.metric,
        "value": diagram.score.value,
        "binning": diagram.scheme.binning,
        "n_used": diagram.score.n_used,
        "n_total": diagram.score.n_total,
        "recipe": diagram.recipe,
        "judged": diagram.judged,
        "remarks": list(diagram.remarks),
        "reading": diagram.headline,
        "bins": cast("list[elements.Bin]", bins),
    }


def _question_element(question: Proposal) -> elements.Question:
    """What a person has to decide, with what each reading comes to."""
    return {
        "text": question.question,
        "readings": [
            {
                "map": dict(one.mapping),
                "wide": dict(one.wide),
                "rows": one.rows,
                "missing": list(one.missing),
                "accuracy": one.figures.accuracy,
                "mean_confidence": one.figures.mean_confidence,
                "auroc": one.figures.auroc,
                "bad_rows": one.n_bad_rows,
            }
            for one in question.readings
        ],
    }


def check_elements(report: FileReport) -> Sequence[elements.RunElement | elements.FileElement]:
    """One element for each run, or one for a file without runs; bad rows are those of the whole file."""
    question = report.proposal if report.proposal is not None and report.proposal.is_question else None
    proposed = report.proposal if question is None else None
    file_details: elements.FileDetails = {
        "status": report.status,
        "message": report.full_message,
        "bad_rows": report.n_bad_rows,
        "problems": [_problem_element(problem) for problem in report.problems],
        "columns": list(report.columns),
        "unused": list(report.unused_columns),
        "groups": list(report.group_columns),
        "proposals": dict(report.proposed_mapping),
        "proposed": None if proposed is None else dict(proposed.mapping),
        "proposed_rows": None if proposed is None else proposed.rows,
        "proposed_wide": None if proposed is None else dict(proposed.wide),
        "proposed_missing": None if proposed is None else list(proposed.missing),
        "question": None if question is None else _question_element(question),
        "columns_not_used": [
            {
                "column": one.column,
                "could_be": one.could_be,
                "why": one.why,
                "map": [dict(names) for names in one.mappings],
            }
            for one in report.columns_not_used
        ],
    }
    if not report.runs:
        return [{**_element_without_run(report.file, report.format, report.n_rows), **file_details}]
    return [
        {
            "file": report.file,
            "format": report.format,
            "run": run.run.label,
            "kind": run.kind,
            "rows": run.run.n_total,
            **_run_details(run),
            **file_details,
            "warnings": [_warned(suspicion) for suspicion in (*run.suspicions, *report.suspicions)],
        }
        for run in report.runs
    ]


def refused_element(file: str, message: str) -> elements.RefusedElement:
    """A file that could not be read."""
    return {**_element_without_run(file, None, None), "status": "refused", "message": message, "problems": []}


def _warned(suspicion: Suspicion) -> elements.Warned:
    return {"kind": suspicion.kind, "message": suspicion.message, "example": suspicion.example}


def _element_without_run(file: str, format_id: str | None, rows: int | None) -> elements.WithoutRun:
    return {
        "file": file,
        "format": format_id,
        "run": None,
        "kind": None,
        "rows": rows,
        "usable": {},
        "warnings": [],
    }


def _run_details(report: RunReport) -> elements.RunDetails:
    row_counts = report.run.row_counts
    reported = reported_metrics_frame(compare_reported_metrics(report.run, report.survey.usable))
    return {
        "usable": report.usable,
        "not_usable": dict(report.survey.unavailable),
        "missing": report.missing,
        "judged": {id_: evidence.judged for id_, evidence in report.survey.usable.items()},
        "remarks": {id_: list(evidence.remarks) for id_, evidence in report.survey.usable.items()},
        "accuracy": report.accuracy,
        "left_out": row_counts.n_left_out,
        "clipped": dict(row_counts.clipped),
        "off_sum": row_counts.n_inexact_sums,
        "spikes": {
            method: [{"value": spike.value, "count": spike.count} for spike in spikes]
            for method, spikes in report.spikes.items()
        },
        "notes": list(row_counts.notes),
        "reported": cast("list[elements.Reported]", reported.to_dicts()),
        "corrections": _run_corrections(report),
    }


def _problem_element(problem: Problem) -> elements.ProblemOfCells:
    first: list[elements.Cell] = [
        {
            "row": cell.row,
            "line": cell.line,
            "column": cell.column,
            "expected": cell.expected,
            "found": cell.found,
            "fix": cell.fix,
        }
        for cell in problem.first_cells
    ]
    return {"kind": problem.kind, "count": problem.count, "first": first}


def _json_safe(value: object) -> object:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _json_safe(part) for key, part in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_json_safe(part) for part in cast("list[object]", value)]
    return value
