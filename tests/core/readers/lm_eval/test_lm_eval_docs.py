"""Is a record whose fields hold something else than they should read as far as it goes, or asked about?"""

from __future__ import annotations

from pathlib import Path

import pytest

from calib_core import readers
from calib_core.errors import Refused
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun
from core.readers.harness_logs import choice_record, write_log

THIRDS = [-0.5, -1.5, -2.5, -3.5]


@pytest.mark.parametrize(
    "value",
    [None, 7, "text", [], [[]], [[[]]], [None], [[None]], [[["-1"]]], {"a": 1}, [[[{}, []]], [[{}, []]]]],
)
@pytest.mark.parametrize(
    "key", ["doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_id"]
)
def test_any_value_anywhere_is_read_or_asked_about(tmp_path: Path, key: str, value: object) -> None:
    try:
        records = [choice_record(0, THIRDS, "0"), choice_record(1, THIRDS, "1") | {key: value}]
        reading = readers.read(write_log(tmp_path, "quiz", records))
    except Refused:
        return
    assert reading.n_rows == 2
    (run,) = reading.good_runs
    assert isinstance(run, AnswerRun)
    assert run.rows["choice_logprobs"].to_list()[0] == THIRDS
    check_file(reading)
