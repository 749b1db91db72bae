"""From a file's bytes to runs: which formats are there, and what does this file hold?

A format is one module and one line in `FORMATS`. A file is recognised by its content, never by its
name (but a single NumPy array, whose name alone says what it holds), and read once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from calib_core.errors import Refused
from calib_core.readers.companions import existing_companions
from calib_core.readers.detect import identify_columns, identify_objects, read_head, unsupported_message
from calib_core.readers.folder import list_files, list_folder
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.helm.reader import HELM
from calib_core.readers.inspect.reader import INSPECT
from calib_core.readers.lm_eval.reader import LM_EVAL
from calib_core.readers.sandbox.worker_pool import read_in_worker
from calib_core.readers.servers.openai import OPENAI
from calib_core.readers.servers.tgi import TGI
from calib_core.readers.table.canonical import CANONICAL
from calib_core.readers.table.raw import ReadProgress
from calib_core.readers.table.reader import TABLE
from calib_core.readers.token.npz import NPZ
from calib_core.readers.token.sums import SUMS
from calib_core.readers.token.topk import TOPK

__all__ = ["FORMATS", "Format", "Reading", "list_files", "list_folder", "read", "read_in_this_process"]

FORMATS: Final[dict[str, Format]] = {
    format_.id: format_
    for format_ in (
        TOPK,
        SUMS,
        NPZ,
        INSPECT,
        LM_EVAL,
        HELM,
        OPENAI,
        TGI,
        CANONICAL,
        TABLE,
    )
}
"""Format id → format; the first that recognises a file reads it."""


def read(
    path: Path,
    *,
    name: str | None = None,
    format: str | None = None,  # noqa: A002  the word people use on the command line
    columns: Mapping[str, str] | None = None,
    gold: Path | None = None,
    root: Path | None = None,
    progress: ReadProgress | None = None,
) -> Reading:
    """What a file holds. It is opened here, and read in a process of its own, within limits.

    name: how messages call the file, by default its own name; format: an id of `FORMATS`, by default
    recognised; columns: the file's column → the contract's name for it, beside those that have their
    name already; gold: a table of right answers by id, for a log that holds none; within: a folder out of
    which no link may lead; progress: told the share done and a short text.

    Several columns may have the name of one list (samples, choices, choice_probs …): they become its
    elements, in the file's order, an empty cell an unknown one. A column with the empty name
    (`{"choices": ""}`; on the command line `--map choices=`) is left out.

    Raises Refused where the file cannot be read, or not as is wished, or reading it takes more than a file
    of its size may take. Bad rows, and a table of which nothing can be used, raise nothing here: see
    `Reading`.
    """
    return read_in_worker(
        path,
        file=(name or path.name).encode("utf-8", "surrogateescape").decode("utf-8", "replace"),
        format_id=format,
        columns=dict(columns or {}),
        gold_path=gold,
        root=root,
        progress=progress or _ignore_progress,
    )


def read_in_this_process(
    path: Path,
    *,
    file: str,
    format: str | None = None,  # noqa: A002  the word people use on the command line
    columns: Mapping[str, str] | None = None,
    companions: Mapping[str, Path] | None = None,
    gold: Path | None = None,
    progress: ReadProgress | None = None,
) -> Reading:
    """What a file holds, read in this process; the rest as in `read`.

    For files that are known to be sound: a bad one may end the process, or never be done.
    file: as messages call it; beside: name → path of the files that are read with it, None = those there.
    """
    tell = progress or _ignore_progress
    tell(0.0, "opening")
    found = existing_companions(path) if companions is None else companions
    head = replace(read_head(path, file, tell), companions=found, gold_path=gold)
    return _choose_format(head, format).read(head, dict(columns or {}), tell)


def _choose_format(head: Head, format_id: str | None) -> Format:
    if format_id is not None:
        if format_id not in FORMATS:
            known = ", ".join(FORMATS)
            raise Refused(f"{head.file}: there is no format {format_id!r}. This version reads {known}.")
        return FORMATS[format_id]
    for candidate in FORMATS.values():
        if candidate.recognises(head):
            return candidate
    title = identify_objects(head.first_objects) or identify_columns(head.names) or "one JSON object"
    raise Refused(unsupported_message(head.file, title))


def _ignore_progress(_share: float, _text: str) -> None:
    """Tells nobody."""
