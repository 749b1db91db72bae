"""Does the table of files name each once, also one that is read with several?"""

from __future__ import annotations

from calib_core.report.sections import files
from calib_core.report.subject import Asked, FileBytes, FileHere, Subject

WITH = FileBytes("results.json", 7, "b" * 64)


def states(*names: str) -> list[tuple[str, str]]:
    here = tuple(FileHere(name, None, None, (FileBytes(name, 5, "a" * 64), WITH)) for name in names)
    frame = files.section(Subject((), here, Asked()), lambda *_: None).blocks[0].tables[0].frame
    return list(zip(frame["File"], frame["State"], strict=True))


def test_a_file_that_is_read_with_another_says_with_which() -> None:
    assert states("a.jsonl") == [("a.jsonl", "loaded"), ("results.json", "read with a.jsonl")]


def test_a_file_that_is_read_with_several_stands_once() -> None:
    assert states("a.jsonl", "b.jsonl") == [
        ("a.jsonl", "loaded"), ("b.jsonl", "loaded"), ("results.json", "read with 2 of these files"),
    ]
