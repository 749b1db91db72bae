"""The progress of a report moves with the work, never falls, and is whole only when the report is made."""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core import readers
from calib_core.reporting import build
from calib_core.reporting.build import build_report
from calib_core.reporting.progress import WorkProgress
from calib_core.results.files import check_file
from calib_core.views.inputs import ReportInput, ReportSettings, titled_runs
from calib_core.views.registry import SECTIONS
from core.reporting.test_document import MADE
from predictions import quiz, samples, write_csv, write_jsonl


def test_a_part_counts_by_its_length() -> None:
    seen: list[tuple[float, str]] = []
    work = WorkProgress(lambda share, text: seen.append((share, text)), [3, 0, 1])
    long = work.start_part("long")
    long(0.5, "half")
    long(0.2, "back")
    long(7, "")
    work.start_part("nothing")
    work.start_part("short")(1, "")
    work.finish()
    shares = [round(share, 2) for share, _ in seen]
    assert shares == [0, 0.37, 0.37, 0.75, 0.75, 0.75, 0.99, 1]
    assert [text for _, text in seen][:3] == ["long", "long: half", "long: back"]
    assert seen[-1] == (1, "done")


def test_the_whole_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write_csv(tmp_path / "quiz.csv", quiz(40)), write_jsonl(tmp_path / "ten.jsonl", samples(30))
    runs = titled_runs([run for path in paths for run in check_file(readers.read(path)).runs])
    report_input = ReportInput(runs, (), ReportSettings())
    seen: list[tuple[float, str]] = []
    made: list[float] = []
    render = build.render_document

    def record(*order: object) -> str:
        html = render(*order)  # type: ignore[arg-type]
        made.append(seen[-1][0])
        return html

    monkeypatch.setattr(build, "render_document", record)
    build_report(report_input, ("all",), MADE, lambda share, text: seen.append((share, text)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert [share for share in shares if share >= 1] == [1]
    assert seen[-1] == (1, "done")
    assert made[0] < 1, "while the document is written there is work left"
    starts = {text: share for share, text in reversed(seen)}
    costs = {id_: page.seconds(report_input) for id_, page in SECTIONS.items()}
    length = starts["Methods"] - starts["Sampling"]
    assert length == pytest.approx(
        costs["sampling"] / (sum(costs.values()) + build.WRITING_SECONDS), rel=0.01
    )
    assert costs["sampling"] == SECTIONS["sampling"].seconds_per_run, "one of the runs has samples"
