"""What the benchmarks share that write a page of tables: shares, tables, and the page beside the script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path


def percent(share: float) -> str:
    """A share in percent."""
    return f"{100 * share:.1f} %"


def points_known(share: float, repeats: int) -> str:
    """Half the width of the 95 % interval of a share found in so many data sets, in percentage points."""
    return f"{100 * 1.96 * (share * (1 - share) / repeats) ** 0.5:.1f}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]], n_texts: int = 1) -> Iterator[str]:
    """A Markdown table, line by line while its rows are measured; columns after `n_texts` are numbers."""
    yield "| " + " | ".join(titles) + " |"
    yield "|" + " --- |" * n_texts + " --: |" * (len(titles) - n_texts)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def date_line() -> str:
    """When the page was written, and with what."""
    return f"{datetime.now(UTC).date()}, Python and numpy as pinned."


def write_page(script: str, lines: Iterable[str]) -> None:
    """Prints the lines as they come, and writes them beside the script, as NAME.md.

    Parameters
    ----------
    script : str
        The script's `__file__`.
    lines : iterable of str
        The page, without line ends.
    """
    text = ""
    for line in lines:
        print(line, flush=True)
        text += line + "\n"
    Path(script).with_suffix(".md").write_text(text, encoding="utf-8")
