"""Which exit code says what?  0: done; 2: refused; 3: bad rows found and no choice made."""

from __future__ import annotations

from typing import Final

REFUSED: Final = 2
"""A file, method or metric that was asked for cannot be given; the message says why."""

BAD_ROWS: Final = 3
"""Rows are bad, and neither `--skip-bad-rows` was given nor the file mended."""
