"""A process that imports files as the app's server does, controlled over a pipe.

It reads and writes one JSON object per line. It lives as long as the session, so that a crash is noticed.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from calib_core import readers
from calib_core.errors import BadRowsFound, CalibError, Unavailable
from calib_core.readers.format import Reading, ReadOptions
from calib_core.reporting.export.table import safe_csv
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import FileReport, check_file, usable_runs
from calib_core.results.questions import questions_in_bin
from calib_core.results.score import score
from calib_core.runs import AnswerRun, Run
from hostile.expected_figures import figures

Answer = dict[str, Any]

PREFERRED: Final[Mapping[str, tuple[str, ...]]] = {
    "samples": ("cluster_size",),
    "helm": ("given", "choice_softmax"),
    "conf": ("given",),
}
"""Shape of a file → the methods its manifest's figures speak of, the first usable one of them."""


def load(folder: Path, name: str, shape: str, columns: Mapping[str, str], *, good: bool) -> Answer:
    """One file of the folder, read and judged; good: its bad rows are left out."""
    reading = readers.read(folder / name, name=name, options=ReadOptions(columns), root=folder)
    report = check_file(reading)
    if report.status == "refused" and report.proposed_mapping and not columns:
        return load(folder, name, shape, dict(report.proposed_mapping), good=good)
    told = _told(report)
    try:
        runs = usable_runs(reading, skip_bad_rows=good)
    except BadRowsFound as asked:
        return {**told, "loaded": False, "message": str(asked)}
    return {**told, "loaded": True, "message": report.message, **_scored(reading, report, runs, shape)}


def _told(report: FileReport) -> Answer:
    """What is said of a file whether it loads or asks."""
    cells = [cell for problem in report.problems for cell in problem.first_cells]
    return {
        "rows": report.n_rows,
        "bad_rows": report.n_bad_rows,
        "bad": sorted({cell.row for cell in cells})[:20],
        "places": [(cell.row, cell.line) for cell in cells],
        "texts": [
            report.file,
            report.message,
            *report.columns,
            *map(str, cells),
            *(each.run.label for each in report.runs),
        ],
    }


def _scored(reading: Reading, report: FileReport, runs: tuple[Run, ...], shape: str) -> Answer:
    usable = sorted({id_ for each in report.runs for id_ in each.usable})
    wished = (*PREFERRED.get(shape, ("choice_softmax",)), "cluster_size", "given")
    method = next((id_ for id_ in wished if id_ in usable), usable[0])
    found = [_run(run, method) for run in runs]
    return {
        "rows": reading.n_rows - reading.n_bad_rows,
        "usable": usable,
        "missing": sum(one["missing"] for one in found),
        "values": [one["values"] for one in found],
        "ids": [id_ for one in found for id_ in one["ids"]],
        "questions": [text for one in found for text in one["texts"]],
        "exported": [one["exported"] for one in found],
    }


def _run(run: Run, method: str) -> Answer:
    assert isinstance(run, AnswerRun)
    try:
        evidence = gather_evidence(run, method)
    except Unavailable:
        return {"missing": run.rows.height, "values": {}, "ids": [], "texts": [], "exported": ""}
    values: Answer = {"n": evidence.n_used}
    pairs = evidence.pairs
    values["accuracy"] = float(pairs.correct.mean())
    values["brier"] = values["brier_top"] = score(evidence, "brier").value
    if evidence.no_distribution_reason is None:
        values["brier_multi"] = score(evidence, "brier_multi").value
    asked = questions_in_bin(evidence)
    ids = asked.frame["id"].cast(pl.String).to_list() if "id" in asked.frame.columns else []
    return {
        "missing": run.rows.height - evidence.n_used,
        "values": values | figures(run, evidence),
        "ids": ids,
        "texts": [*run.group_columns.columns, *_texts(asked.frame)],
        "exported": safe_csv(asked.frame).decode(),
    }


def _texts(frame: pl.DataFrame) -> list[str]:
    """Every text of a table."""
    texts = (values for values in frame if values.dtype == pl.String)
    return [text for values in texts for text in values.drop_nulls()]


def answer(folder: Path, wish: Mapping[str, Any]) -> Answer:
    """What one line in leads to; a person's error is an answer, anything else is told as a crash."""
    try:
        return load(folder, wish["path"], wish["shape"], {}, good=wish["good"])
    except CalibError as refusal:
        return {"loaded": False, "message": str(refusal)}
    except BaseException as crash:  # noqa: BLE001  a panic of polars is no Exception, and the host must live
        traceback.print_exc()
        return {"loaded": False, "message": f"CRASH Traceback {type(crash).__name__}: {crash}"}


def main(folder: Path) -> None:
    """Answers until the pipe is closed."""
    for line in sys.stdin:
        said = answer(folder, json.loads(line))
        sys.stdout.write(json.dumps({"message": "", "texts": [], "usable": [], "values": [], **said}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    os.getloadavg = lambda: (0.0, 0.0, 0.0)  # the limits of an idle machine, whatever runs beside
    main(Path(sys.argv[1]))
