"""What is this file, if it is none that is read here? Told cheaply, so that a refusal can name it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

EXPORT_ADVICE: Final = (
    "Export one row a question as CSV, JSON lines or Parquet, with columns such as id, confidence, correct."
)

_MAGIC_TITLES: Final = (
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"%PDF", "a PDF document"),
    (b"SQLite format 3", "an SQLite database"),
    (b"ARROW1", "an Arrow or Feather file"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"version https://git-lfs", "a Git LFS pointer (fetch the file itself with git lfs pull)"),
)

_ZIP_MEMBER_TITLES: Final = (
    (b".npy", "a NumPy archive (NPZ)"),
    (b"xl/workbook.xml", "an Excel workbook (save the sheet as CSV)"),
    (b"data.pkl", "a PyTorch file"),
)

_TITLES_BY_KEYS: Final[tuple[tuple[frozenset[str], str], ...]] = (
    (
        frozenset({"results", "configs", "n-shot"}),
        "an lm-evaluation-harness results file (no rows: choose the samples_….jsonl of --log_samples)",
    ),
    (
        frozenset({"scenario_spec", "adapter_spec"}),
        "a HELM run specification (no rows: choose scenario_state.json or per_instance_stats.json)",
    ),
    (
        frozenset({"instance_id", "predicted_text", "stats"}),
        "HELM's predictions for its web pages (choose the scenario_state.json of the same run)",
    ),
    (
        frozenset({"instance_id", "train_trial_index", "request"}),
        "HELM's requests for its web pages (choose the scenario_state.json of the same run)",
    ),
    (
        frozenset({"id", "epoch", "input", "target", "messages", "output"}),
        "a sample taken out of an Inspect log (choose the .eval or .json log itself)",
    ),
    (
        frozenset({"id", "epoch", "input", "target", "scores"}),
        "the summaries of an Inspect log (no log-probabilities: choose the .eval or .json log itself)",
    ),
)

_TABLE_COLUMNS: Final = frozenset({"confidence", "correct"})
"""Columns of a table that somebody made to be read here, whatever else is in it."""

_YAML_LIST: Final = re.compile(rb"(?:#[^\n]*\n\s*)*(?:---\s+)?- [A-Za-z_]\w*:(?:\s|$)")
"""A list of objects in YAML, perhaps below remarks."""


def identify_bytes(data: bytes) -> str | None:
    """What a file that is neither Parquet nor text seems to be; None where it may be text."""
    if data.startswith(b"PK\x03\x04"):
        return next((title for mark, title in _ZIP_MEMBER_TITLES if mark in data), "a zip archive")
    if data.startswith(b"PK\x05\x06"):
        return "an empty zip archive"
    for magic, title in _MAGIC_TITLES:
        if data.startswith(magic):
            return title
    if data.endswith(b"PAR1") and b"\x00" in data:
        return "a Parquet file whose beginning is missing"
    return _identify_text(data[:512].lstrip())


def _identify_text(start: bytes) -> str | None:
    """What a text is that is no table, by its beginning."""
    if start[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "an HTML page (perhaps the error page of a download)"
    if start.startswith(b'data: {"'):
        return "a stream of server-sent events (save the whole response as JSON instead)"
    if _YAML_LIST.match(start):
        return "a YAML file"
    return "an XML file" if start.startswith(b"<?xml") else None


def identify_members(names: Iterable[str]) -> str:
    """What an archive with members of these names seems to be."""
    listed = "\n".join(names).encode("utf-8", "replace")
    return next((title for mark, title in _ZIP_MEMBER_TITLES if mark in listed), "a zip archive")


def identify_objects(objects: Iterable[Mapping[str, object]]) -> str | None:
    """The tool that wrote such JSON objects, by the keys one of them has; None where it is none known."""
    for record in objects:
        for keys, title in _TITLES_BY_KEYS:
            if keys <= record.keys() and not record.keys() & _TABLE_COLUMNS:
                return title
    return None


def identify_columns(names: Iterable[str]) -> str | None:
    """The tool that wrote a Parquet file or a table with such columns; None where it is none known."""
    return identify_objects([dict.fromkeys(names)])


def unsupported_message(file: str, title: str) -> str:
    """The message that names what a file is and says what would be read."""
    return f"{file} looks like {title}, which this version does not read. {EXPORT_ADVICE}"
