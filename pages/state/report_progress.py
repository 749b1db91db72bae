"""moved."""

from __future__ import annotations

from threading import Lock


class ReportProgress:
    """How far the report of one session is. told: what came of the last one, "" while there is none."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.share = 0.0
        self.doing = ""
        self.told = ""
        self.trouble = ""

    def update(self, share: float, activity: str) -> None:
        """Called by the thread that makes it."""
        self.share, self.doing = share, activity
