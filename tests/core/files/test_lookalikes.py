"""Is a file of another make named, so that a refusal says what it is?"""

from __future__ import annotations

import pytest

from calib_core.files import lookalikes


@pytest.mark.parametrize(
    ("start", "title"),
    [
        (b"\x1f\x8b\x08", "gzip"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x93NUMPY", "NumPy array"),
        (b"PK\x03\x04  probs.npy", "NPZ"),
        (b"PK\x03\x04  _journal/start.json", "Inspect"),
        (b"PK\x03\x04  other", "zip"),
        (b"PK\x05\x06", "empty zip"),
        (b"%PDF-1.7", "PDF"),
        (b"SQLite format 3\x00", "SQLite"),
        (b"ARROW1\x00\x00", "Arrow"),
        (b"\x80\x04\x95", "pickle"),
        (b"version https://git-lfs.github.com/spec/v1\n", "LFS"),
        (b"\n<!DOCTYPE HTML>", "HTML"),
        (b"<?xml version", "XML"),
        (b"\x00\x01\x02PAR1", "Parquet file whose beginning is missing"),
    ],
)
def test_by_bytes(start: bytes, title: str) -> None:
    assert title in (lookalikes.of_bytes(start) or "")


@pytest.mark.parametrize("text", [b"id,confidence\n", b"{}", b"[", b"<b>,x\n", b"PARIS"])
def test_text_may_be_a_table(text: bytes) -> None:
    assert lookalikes.of_bytes(text) is None


def test_by_keys_of_any_of_the_objects() -> None:
    first = {"error": "timeout"}
    second = dict.fromkeys(["doc_id", "doc", "arguments", "resps", "target"], "")
    assert lookalikes.of_objects([first, second]) == "an lm-evaluation-harness samples log"
    assert lookalikes.of_objects([first]) is None
    assert lookalikes.of_objects([{"id": 1, "eval": "x", "status": "ok", "confidence": 0.5}]) is None


def test_answers_of_servers_by_what_their_keys_hold() -> None:
    batch = {"custom_id": "q1", "response": {"status_code": 200}}
    raw = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop"}]}
    assert lookalikes.of_objects([batch]) == "an OpenAI batch output"
    assert lookalikes.of_objects([raw]) == "a raw OpenAI response"
    assert lookalikes.of_objects([{"custom_id": "q1", "response": "B", "choices": ["A", "B"]}]) is None
    assert lookalikes.of_objects([{"choices": [{"text": "A", "label": 1}]}]) is None


def test_by_columns() -> None:
    assert lookalikes.of_columns(["instance_id", "split", "stats"]) == "HELM per-instance statistics"
    assert lookalikes.of_columns(["id", "confidence"]) is None


def test_the_refusal_names_the_file_its_kind_and_what_to_do() -> None:
    message = lookalikes.refusal("quiz.eval", "an Inspect log")
    assert message.startswith("quiz.eval looks like an Inspect log, which this version does not read. Export")
