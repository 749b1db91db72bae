"""What do the browser tests share: one server on a folder of a good, a spoilt and a hostile file?"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import serving
from predictions import choices, quiz, write_csv, write_jsonl
from serving import Server

HOSTILE = (
    "![x](http://calib.invalid/a.png) <img src=http://calib.invalid/b.png> [l](http://calib.invalid) "
    "<script>fetch('http://calib.invalid/c')</script> <a href='http://calib.invalid'>a</a> :red[r] $x^2$"
)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server on four.jsonl, hostile.jsonl, quiz.csv (1,319 rows) and spoilt.csv (3 of 90 rows bad)."""
    data = tmp_path_factory.mktemp("predictions")
    write_jsonl(data / "four.jsonl", choices())
    write_csv(data / "quiz.csv", quiz())
    spoilt = quiz(90, seed=3)
    for row, found in zip(spoilt[40:43], ("85%", "nan", "1.5"), strict=True):
        row["confidence"] = found
    write_csv(data / "spoilt.csv", spoilt)
    write_jsonl(
        data / "hostile.jsonl",
        [
            {**row, "id": f"{row['id']} {HOSTILE}", HOSTILE: "x"}
            | dict.fromkeys(("subject", "question", "prediction", "gold", "model", "dataset"), HOSTILE)
            for row in quiz(60)
        ],
    )
    running = serving.start(data, tmp_path_factory.mktemp("home"))
    yield running
    running.stop()
