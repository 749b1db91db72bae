"""Which of its tool's own numbers does a canonical file hold?  So that it is audited as its source is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, cast

from calib_core.records import RUN_COLUMNS, AnswerRun, ReportedMetric

REPORTED_KEY: Final = "reported"
"""Metric → value, of several runs for each by its label: all that the format asks for."""
REPORTED_IN_FULL_KEY: Final = "reported_in_full"
"""A list of all numbers, each with what is known of it: the fields of `Reported` and what its run is."""
MAX_REPORTED: Final = 5_000
"""Numbers that are read."""


def reported_metrics(
    metadata: Mapping[str, object], runs: Sequence[AnswerRun]
) -> tuple[list[tuple[ReportedMetric, ...]], tuple[str, ...]]:
    """The numbers of each run, and a remark on those that cannot be read."""
    wrong = 0
    found: list[list[ReportedMetric]] = [[] for _ in runs]
    for said, label in _reported_entries(metadata):
        reported = _parse_reported(said)
        if reported is None:
            wrong += 1
            continue
        for run, numbers in zip(runs, found, strict=True):
            if len(runs) == 1 or (run.label == label if label else _belongs_to_run(said, run)):
                numbers.append(reported)
    note = f"Of the tool's own numbers in its metadata {wrong:,} cannot be read and are left out."
    return [tuple(each) for each in found], (note,) if wrong else ()


def _reported_entries(metadata: Mapping[str, object]) -> Iterator[tuple[object, str]]:
    """Each number as an object, and the label of its run where it is said by that."""
    in_full = metadata.get(REPORTED_IN_FULL_KEY)
    if isinstance(in_full, list):
        for said in cast("list[object]", in_full)[:MAX_REPORTED]:
            yield said, ""
        return
    told = metadata.get(REPORTED_KEY)
    for name, value in list(cast("dict[str, object]", told).items())[:MAX_REPORTED] if isinstance(told, dict) else ():
        if isinstance(value, dict):
            for inner, each in list(cast("dict[str, object]", value).items())[:MAX_REPORTED]:
                yield {"name": inner, "value": each}, name
        else:
            yield {"name": name, "value": value}, ""


def _belongs_to_run(entry: object, run: AnswerRun) -> bool:
    told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    return all(told.get(name) == getattr(run.info, name) for name in RUN_COLUMNS)


def _parse_reported(entry: object) -> ReportedMetric | None:
    """The number, None where something in it is of the wrong kind."""
    told = cast("dict[str, object]", entry) if isinstance(entry, dict) else {}
    name, value, rows = told.get("name"), told.get("value"), told.get("rows")
    texts = [told.get(key) for key in ("method", "why", "subject")]
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 2**63
    whole = rows is None or (isinstance(rows, int) and not isinstance(rows, bool) and 0 <= rows < 2**63)
    if not isinstance(name, str) or not number or not whole:
        return None
    if not all(text is None or isinstance(text, str) for text in texts):
        return None
    method, why, subject = cast("list[str | None]", texts)
    return ReportedMetric(name, float(cast("float", value)), cast("int | None", rows), method, why or "", subject)
