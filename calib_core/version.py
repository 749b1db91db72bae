"""The version of Calib."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
"""Also the version of the distribution, which the build reads from here."""
