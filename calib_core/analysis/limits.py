"""From how many rows on is something said, and how small a p is more than chance?"""

from __future__ import annotations

from typing import Final

from calib_core.bins import Scheme

MIN_ROWS: Final = 30
"""Fewer rows, positions or questions are too few to say, and a bin of fewer is drawn faded."""

SIGNIFICANCE_LEVEL: Final = 0.05
"""A number with p up to here is more than chance."""

DEFAULT_SCHEME: Final = Scheme()
"""The bins where nobody has chosen: ten of equal width, the usual ones of the papers."""
