"""The verb `cache`: what is kept of files that were read, and its end."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from typing import Annotated

import typer

from calib_core.cli.terminal import escape_unprintable
from calib_core.errors import Refused
from calib_core.user_cache import SIZE_VARIABLE, CacheFolder, max_cache_bytes, readings_folder


class CacheAction(StrEnum):
    """What to do with the cache."""

    SHOW = "show"
    CLEAR = "clear"


def cache(
    action: Annotated[
        CacheAction, typer.Argument(help="Show the cache folder and its size, or empty it.")
    ] = CacheAction.SHOW,
) -> int:
    """Show or clear the cache of files that were read.

    It is kept by content in the user's cache folder, up to the MiB that the variable CALIB_CACHE_MIB sets.
    """
    kept = CacheFolder(readings_folder(), max_cache_bytes())
    where = escape_unprintable(str(kept.folder))
    if action is CacheAction.CLEAR:
        try:
            n_bytes = kept.clear()
        except OSError as error:
            raise Refused(f"{where} cannot be emptied ({error.strerror}).") from None
        sys.stdout.write(f"{_mebibytes(n_bytes)} deleted from {where}.\n")
        return 0
    n_files, n_bytes = kept.size()
    entries = "1 entry" if n_files == 1 else f"{n_files:,} entries"
    setting = "set by" if SIZE_VARIABLE in os.environ else "unless set by"
    limit = f"{_mebibytes(kept.max_bytes)} at most, {setting} {SIZE_VARIABLE}"
    sys.stdout.write(f"{where}: {entries}, {_mebibytes(n_bytes)} ({limit})\n")
    return 0


def _mebibytes(n_bytes: int) -> str:
    return f"{n_bytes / 2**20:,.1f} MiB"
