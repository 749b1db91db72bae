"""The progress of work that has parts of different lengths."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from calib_core.views.view import ProgressCallback

_LARGEST_UNFINISHED: Final = 0.99
"""The largest share shown while there is work left."""

_SMALLEST_PART: Final = 0.01
"""Every part counts for at least this many seconds, so that none stands still or is divided by zero."""


class WorkProgress:
    """Turns the progress of each part into that of the whole, which never falls and ends at 1.

    Parameters
    ----------
    report : ProgressCallback
        Called with the share of the whole and a description.
    seconds : Sequence[float]
        About how long each part takes, in the order of `start_part`.

    Examples
    --------
    >>> work = WorkProgress(lambda share, text: print(f"{share:.2f} {text}"), [3, 1])
    >>> reading = work.start_part("reading")
    0.00 reading
    >>> reading(0.5, "a.csv")
    0.38 reading: a.csv
    >>> _ = work.start_part("writing")
    0.75 writing
    >>> work.finish()
    1.00 done
    """

    def __init__(self, report: ProgressCallback, seconds: Sequence[float]) -> None:
        self._report = report
        self._seconds = [max(part, _SMALLEST_PART) for part in seconds]
        self._part = -1
        self._share = 0.0

    def start_part(self, title: str) -> ProgressCallback:
        """Begins the next part; returns what takes its progress, a share in [0, 1] and a description."""
        self._part += 1
        begin = sum(self._seconds[: self._part])
        length = self._seconds[self._part]

        def part_progress(share: float, text: str) -> None:
            done = (begin + min(max(share, 0.0), 1.0) * length) / sum(self._seconds)
            self._share = max(self._share, min(done, _LARGEST_UNFINISHED))
            self._report(self._share, f"{title}: {text}" if text else title)

        part_progress(0.0, "")
        return part_progress

    def finish(self) -> None:
        """Says that all is done."""
        self._report(1.0, "done")
