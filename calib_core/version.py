"""Which version of Calib is this?"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
"""The distribution's version too: the build reads it here."""
