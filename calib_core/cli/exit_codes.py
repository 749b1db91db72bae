"""Exit codes of the command line: 0 is success, the others are named here."""

from __future__ import annotations

from typing import Final

BROKEN: Final = 1
"""A rule of `gate` is broken."""

REFUSED: Final = 2
"""A requested file, method or metric is not available; the message on stderr says why."""

BAD_ROWS: Final = 3
"""A file has bad rows, and `--skip-bad-rows` was not given."""

CLOSED_PIPE: Final = 141
"""Who reads standard output has gone, as in `calib … | head`: what a shell reports of SIGPIPE, 128 + 13."""
