"""A file is read by the format that recognises it, under the caller's name for it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.annotations import ANNOTATION_TOOLS
from calib_core.readers.format import Reading
from calib_core.readers.presets import PRESETS

ReadText = Callable[..., Reading]

CSV = "id,confidence\nq1,0.5\nq2,2\n"


def test_the_registry_holds_each_format_under_its_id() -> None:
    of_tools = [*(preset.id for preset in PRESETS), *(tool.id for tool in ANNOTATION_TOOLS)]
    tables = ["canonical", *of_tools, "table"]
    assert list(readers.FORMATS)[-len(tables) :] == tables, "a log would be taken for a plain table"
    assert all(format_.id == id_ for id_, format_ in readers.FORMATS.items())


def test_a_format_asked_for_by_an_unknown_name_is_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"no format 'xlsx'.*canonical, .*, table"):
        read_text(CSV, format="xlsx")


def test_messages_call_the_file_what_the_caller_calls_it(read_text: ReadText) -> None:
    reading = read_text(CSV, "quiz.csv")
    assert (reading.file, reading.problems[0].first_cells[0].file) == ("quiz.csv", "quiz.csv")


def test_a_name_given_by_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text(CSV)
    reading = readers.read(path, name="folder/quiz.csv")
    assert (reading.file, reading.good_runs[0].file, reading.good_runs[0].label) == (
        "folder/quiz.csv",
        "folder/quiz.csv",
        "quiz",
    )


def test_a_name_that_is_not_utf8_can_still_be_shown(tmp_path: Path) -> None:
    with pytest.raises(Refused) as refusal:
        readers.read(tmp_path / "a\udcff.csv")
    assert str(refusal.value).startswith("a�.csv cannot be opened")


@pytest.mark.parametrize("name", ["*.csv", "[q]?.csv", "a b.csv", "-rf.csv", "=cmd.csv", "http:.csv"])
def test_a_name_is_never_taken_for_a_pattern_or_an_address(read_text: ReadText, name: str) -> None:
    read_text("id,confidence\nother,0.1\n", "other.csv")
    assert read_text(CSV, name).n_rows == 2


def test_an_unknown_json_object_is_refused(read_text: ReadText) -> None:
    with pytest.raises(Refused, match=r"looks like one JSON object"):
        read_text('{\n"a":\n1}')


def test_reading_needs_no_streamlit() -> None:
    code = "import sys, calib_core.readers; sys.exit('streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_column_may_be_left_out(read_text: ReadText) -> None:
    content = 'confidence,correct,choices\n0.5,1,not a list\n0.6,1,"[1, 2]"\n'
    assert read_text(content).n_bad_rows == 1
    reading = read_text(content, columns={"choices": ""})
    assert (reading.n_bad_rows, reading.unused_columns, dict(reading.proposed_mapping)) == (
        0,
        ("choices",),
        {},
    )


def test_what_describes_a_run_and_cannot_be_read_is_noted(read_text: ReadText) -> None:
    reading = read_text("confidence,correct,params_b,temperature\n0.5,1,8x7B,0\n0.6,0,8x7B,greedy\n")
    (run,) = reading.runs(skip_bad_rows=False)
    assert (run.info.params_b, run.info.temperature) == (None, 0.0)
    assert run.row_counts.notes == (
        "params_b cannot be read as a number in 2 rows (8x7B) and is unknown there.",
        "temperature cannot be read as a number in 1 row (greedy) and is unknown there.",
    )
    assert read_text("confidence,shots\n0.5,few\n0.6,5\n").n_bad_rows == 1


def test_one_based_gold_is_not_partly_loaded(read_text: ReadText) -> None:
    lines = [{"label": gold, "choice_probs": [0.5, 0.3, 0.2]} for gold in (1, 2, 3)]
    reading = read_text("\n".join(map(json.dumps, lines)), columns={"label": "gold"})
    assert (reading.n_rows, reading.n_bad_rows, reading.good_runs) == (3, 1, ())
    for word in ("column 'label' looks counted from 1", "--map label=gold_index:from1"):
        assert word in (reading.refusal or "")
