"""What does one element of the JSON list look like?  Names here are scripted against: add, never rename."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeAlias, cast

from calib_core.analysis.check import FileReport, RunReport
from calib_core.analysis.reliability import Reliability
from calib_core.analysis.reported import compared, to_frame
from calib_core.analysis.samples_result import Curve as SampleCurve
from calib_core.analysis.samples_result import Sampled
from calib_core.analysis.score import Score
from calib_core.analysis.sweep import Curve, Sweep
from calib_core.problems import Problem

Element: TypeAlias = dict[str, Any]


def document(elements: Sequence[Element]) -> str:
    """The list as JSON that every reader takes: ASCII, an infinite number as the text "inf", never NaN."""
    return json.dumps(_strict(list(elements)), indent=2, allow_nan=False)


def score_element(file: str, score: Score) -> Element:
    """One number, or its bounds in its stead where only they are known."""
    absent = ("low", "high") if score.low is None else ("value",)
    return {"file": file, **{name: value for name, value in score.to_dict().items() if name not in absent}}


def sweep_element(file: str, sweep: Sweep, curve: Curve) -> Element:
    """One metric over M: by M as text the value, bounds as {"low", "high"}, null where M is refused."""
    null = curve.null
    names = tuple(map(str, curve.bins))

    def by_m(values: Sequence[Any] | None) -> Element | None:
        return dict(zip(names, values, strict=True)) if values is not None else None

    values: list[float | Element | None] = list(curve.values)
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
        "draws": null and null.draws,
        "seed": null and null.seed,
        "ceiling": curve.ceiling,
        "refused": {str(bins): why for bins, why in curve.refused.items()},
        "n_used": sweep.n_used,
        "n_total": sweep.n_total,
        "recipe": curve.recipe,
        "remarks": list(curve.remarks),
        "reading": sweep.reading,
        "chance": sweep.chance,
    }


def samples_element(file: str, result: Sampled, curve: SampleCurve) -> Element:
    """One metric of one method over N': by N' as text its mean and spread, null where N' is refused."""
    sizes: Element = {
        str(size): {"mean": curve.mean[at], "std": curve.std[at], "draws": result.draws[size]}
        for at, size in enumerate(result.sizes)
    }
    sizes |= {str(size): {"mean": None, "std": None, "draws": 0} for size in result.refused}
    enough = next((each for each in result.enough if each.method == curve.method), None)
    return {
        "file": file,
        "run": result.run,
        "method": curve.method,
        "metric": curve.metric,
        "sizes": sizes,
        "repeats": result.repeats,
        "seed": result.seed,
        "samples": {"fewest": result.samples[0], "most": result.samples[1]},
        "n_used": result.n_used,
        "n_total": result.n_total,
        "absent": {str(size): count for size, count in result.absent.items()},
        "greyed": {str(size): why for size, why in result.greyed.items()},
        "refused": {str(size): why for size, why in result.refused.items()},
        "enough": None if enough is None else {
            "size": enough.size,
            "against": enough.against,
            "within": enough.within,
            "differences": {
                str(size): {"value": gap.value, "low": gap.low, "high": gap.high}
                for size, gap in result.gaps[curve.method].items()
            },
        },
        "baselines": {
            each.method: {"value": each.value, "judged": each.judged, "n": each.n, "recipe": each.recipe}
            for each in result.baselines
            if each.metric == curve.metric
        },
        "judged": result.judged, "recipe": curve.recipe,
        "reading": result.reading, "measure": result.measure,
    }


def bins_element(file: str, diagram: Reliability) -> Element:
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
        "reading": diagram.reading,
        "bins": diagram.table.select(columns).to_dicts(),
    }


def check_elements(report: FileReport) -> list[Element]:
    """One element a run; problems and bad_rows are of the whole file. A file without a run has one, too."""
    of_file: Element = {
        "status": report.status,
        "message": report.message,
        "bad_rows": report.bad_rows,
        "problems": [_problem(problem) for problem in report.problems],
        "columns": list(report.columns),
        "unused": list(report.unused),
        "groups": list(report.groups),
        "proposals": dict(report.proposals),
    }
    if not report.runs:
        return [{**_no_run(report.file, report.format, report.rows), **of_file}]
    return [
        {
            "file": report.file,
            "format": report.format,
            "run": run.run.label,
            "kind": run.kind,
            "rows": run.run.n_total,
            **_given(run),
            **of_file,
        }
        for run in report.runs
    ]


def refused_element(file: str, message: str) -> Element:
    """A file that could not be read."""
    return {**_no_run(file, None, None), "status": "refused", "message": message, "problems": []}


def _no_run(file: str, format_id: str | None, rows: int | None) -> Element:
    return {"file": file, "format": format_id, "run": None, "kind": None, "rows": rows, "usable": {}}


def _given(report: RunReport) -> Element:
    ledger = report.run.ledger
    return {
        "usable": report.usable,
        "not_usable": dict(report.survey.refused),
        "missing": report.missing,
        "judged": {id_: evidence.judged for id_, evidence in report.survey.usable.items()},
        "remarks": {
            id_: list(evidence.remarks) for id_, evidence in report.survey.usable.items()
        },
        "accuracy": report.accuracy,
        "left_out": ledger.left_out,
        "clipped": dict(ledger.clipped),
        "off_sum": ledger.off_sum,
        "spikes": {method: [asdict(spike) for spike in spikes] for method, spikes in report.spikes.items()},
        "notes": list(ledger.notes),
        "reported": to_frame(compared(report.run, report.survey.usable)).to_dicts(),
    }


def _problem(problem: Problem) -> Element:
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


def _strict(value: object) -> object:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, dict):
        return {key: _strict(part) for key, part in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_strict(part) for part in cast("list[object]", value)]
    return value
