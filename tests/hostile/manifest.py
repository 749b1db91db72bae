"""Which hostile files are there, and where does this program decide otherwise than their manifest?"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from serving import ROOT

Case = dict[str, Any]
"""One entry; its keys are told in the README beside the manifest."""

FOLDER: Final = Path(os.environ.get("CALIB_SHARED") or ROOT.parent / "shared") / "hostile"
"""Where the manifest and the program that makes its files are, if they are there at all."""

MADE: Final = FOLDER / "make_hostile.py"


def cases() -> list[Case]:
    """The manifest's entries, in its order; none where the folder is not there."""
    manifest = FOLDER / "manifest.json"
    return json.loads(manifest.read_text(encoding="utf-8")) if manifest.is_file() else []


_BY_CONTENT: Final = "a file is recognised by its content, never by its name, and this content is sound"

LOADS: Final[dict[str, str]] = {
    "layout/tabs.csv": "tabs between plain numbers are read: the header tells them",
    "layout/pipes.csv": "vertical bars between plain numbers are read: the header tells them",
    "containers/parquet.csv": _BY_CONTENT,
    "containers/csv.parquet": _BY_CONTENT,
    "containers/jsonl.csv": _BY_CONTENT,
    "containers/csv.jsonl": _BY_CONTENT,
    "containers/npz.eval": _BY_CONTENT,
    "containers/no_extension": _BY_CONTENT,
}
"""Files that are read here although the manifest refuses them, and why: all hold four good rows."""

OTHERWISE: Final[dict[str, dict[str, Any]]] = {
    "inspect_logs/epochs.eval": {"rows": 3},
}
"""Entries of the manifest that hold otherwise here.

An epoch of an Inspect log is one more sampled answer to the same question, so three questions in two epochs
are three rows of two samples; the ledger tells of all six.
"""


def expected(case: Case) -> Case:
    """The entry as it holds here."""
    if case["name"] in LOADS:
        return {**case, "expect": "loads", "rows": 4, "values": {"n": 4}}
    return {**case, **OTHERWISE.get(case["name"], {})}


CASES: Final = [expected(case) for case in cases()]
