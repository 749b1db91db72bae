"""What does one element of the JSON list look like?  Names here are scripted against: add, never rename."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeAlias, cast

from calib_core.errors import Problem
from calib_core.results.files import FileReport, RunReport
from calib_core.results.reliability import Reliability
from calib_core.results.reported_metrics import compare_reported_metrics, reported_metrics_frame
from calib_core.results.robustness import Sweep, SweepCurve
from calib_core.results.sampling import SampleSizeCurve as SampleCurve
from calib_core.results.sampling import SampleSizeSweep
from calib_core.results.score import Score

JsonElement: TypeAlias = dict[str, Any]


def json_document(elements: Sequence[JsonElement]) -> str:
    """The list as JSON that every reader takes: ASCII, an infinite number as the text "inf", never NaN."""
    return json.dumps(_json_safe(list(elements)), indent=2, allow_nan=False)


def score_element(file: str, score: Score) -> JsonElement:
    """One number, or its bounds in its stead where only they are known."""
    absent = ("low", "high") if score.low is None else ("value",)
    return {"file": file, **{name: value for name, value in score.to_dict().items() if name not in absent}}


def sweep_element(file: str, sweep: Sweep, curve: SweepCurve) -> JsonElement:
    """One metric over M: by M as text the value, bounds as {"low", "high"}, null where M is refused."""
    null = curve.null
    names = tuple(map(str, curve.bins))

    def by_m(values: Sequence[Any] | None) -> JsonElement | None:
        return dict(zip(names, values, strict=True)) if values is not None else None

    values: list[float | JsonElement | None] = list(curve.values)
    for at, bins in enumerate(curve.bins):
        if bins in curve.bounds:
            low, high = curve.bounds[bins]
            values[at] = {"low": low, "high": high}
    return {
        "file": file,
        "run": sweep.run,
        "method": sweep.method,
        "metric": curve.metric,
        "values": by_m(values),
        "rsd": curve.rsd,
        "ddof": curve.ddof,
        "p": by_m(null and null.p),
        "null_median": by_m(null and null.median),
        "null_low": by_m(null and null.low),
        "null_high": by_m(null and null.high),
        "rsd_p": null and null.rsd_p,
        "rsd_null_median": null and null.rsd_median,
        "rsd_null_low": null and null.rsd_low,
        "rsd_null_high": null and null.rsd_high,
        "draws": null and null.n_draws,
        "seed": null and null.seed,
        "ceiling": curve.ceiling,
        "refused": {str(bins): why for bins, why in curve.unavailable.items()},
        "n_used": sweep.n_used,
        "n_total": sweep.n_total,
        "recipe": curve.recipe,
        "remarks": list(curve.remarks),
        "reading": sweep.headline,
        "chance": sweep.chance_note,
    }


def samples_element(file: str, result: SampleSizeSweep, curve: SampleCurve) -> JsonElement:
    """One metric of one method over N': by N' as text its mean and spread, null where N' is refused."""
    sizes: JsonElement = {
        str(size): {"mean": curve.mean[at], "std": curve.std[at], "draws": result.draws[size]}
        for at, size in enumerate(result.sizes)
    }
    sizes |= {str(size): {"mean": None, "std": None, "draws": 0} for size in result.unavailable}
    enough = next((each for each in result.sufficient_sizes if each.method == curve.method), None)
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
        if enough is None
        else {
            "size": enough.size,
            "against": enough.reference_size,
            "within": enough.tolerance,
            "differences": {
                str(size): {"value": gap.value, "low": gap.low, "high": gap.high}
                for size, gap in result.brier_differences[curve.method].items()
            },
        },
        "baselines": {
            each.method: {
                "value": each.value,
                "judged": each.judged,
                "n": each.n_questions,
                "recipe": each.recipe,
            }
            for each in result.baselines
            if each.metric == curve.metric
        },
        "judged": result.judged,
        "recipe": curve.recipe,
        "reading": result.headline,
        "measure": result.sufficiency_definition,
    }


def bins_element(file: str, diagram: Reliability) -> JsonElement:
    """One table of non-empty bins; accuracy_low and _high are null where pairs depend on one another."""
    columns = (
        "bin",
        "low",
        "high",
        "count",
        "confidence",
        "accuracy",
        "accuracy_low",
        "accuracy_high",
        "gap",
    )
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
        "bins": diagram.table.select(columns).to_dicts(),
    }


def check_elements(report: FileReport) -> list[JsonElement]:
    """One element a run; problems and bad_rows are of the whole file. A file without a run has one, too."""
    of_file: JsonElement = {
        "status": report.status,
        "message": report.message,
        "bad_rows": report.bad_rows,
        "problems": [_problem_element(problem) for problem in report.problems],
        "columns": list(report.columns),
        "unused": list(report.unused_columns),
        "groups": list(report.group_columns),
        "proposals": dict(report.proposals),
    }
    if not report.runs:
        return [{**_element_without_run(report.file, report.format, report.rows), **of_file}]
    return [
        {
            "file": report.file,
            "format": report.format,
            "run": run.run.label,
            "kind": run.kind,
            "rows": run.run.n_total,
            **_run_details(run),
            **of_file,
        }
        for run in report.runs
    ]


def refused_element(file: str, message: str) -> JsonElement:
    """A file that could not be read."""
    return {**_element_without_run(file, None, None), "status": "refused", "message": message, "problems": []}


def _element_without_run(file: str, format_id: str | None, rows: int | None) -> JsonElement:
    return {"file": file, "format": format_id, "run": None, "kind": None, "rows": rows, "usable": {}}


def _run_details(report: RunReport) -> JsonElement:
    ledger = report.run.row_counts
    return {
        "usable": report.usable,
        "not_usable": dict(report.survey.unavailable),
        "missing": report.missing,
        "judged": {id_: evidence.judged for id_, evidence in report.survey.usable.items()},
        "remarks": {id_: list(evidence.remarks) for id_, evidence in report.survey.usable.items()},
        "accuracy": report.accuracy,
        "left_out": ledger.n_left_out,
        "clipped": dict(ledger.clipped),
        "off_sum": ledger.n_off_sum,
        "spikes": {method: [asdict(spike) for spike in spikes] for method, spikes in report.spikes.items()},
        "notes": list(ledger.notes),
        "reported": reported_metrics_frame(
            compare_reported_metrics(report.run, report.survey.usable)
        ).to_dicts(),
    }


def _problem_element(problem: Problem) -> JsonElement:
    first = [
        {
            "row": cell.row,
            "line": cell.line,
            "column": cell.column,
            "expected": cell.expected,
            "found": cell.found,
            "fix": cell.fix,
        }
        for cell in problem.first
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
