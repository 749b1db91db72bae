"""How large is the ECE when every bin holds about the same number of rows?"""

from __future__ import annotations

from typing import Final

from calib_core.metrics.ece import ece
from calib_core.metrics.metric import Metric

ACE: Final = Metric(
    id="ace",
    title="ACE",
    title_in_sentence="ACE",
    recipe_name="ACE-L1",
    meaning=(
        "Adaptive calibration error: ECE over bins of about equally many rows, so that no bin is "
        "thin and rows of equal confidence stay together; lower is better."
    ),
    source="after Nixon et al. 2019: ECE with ⌈M·r/n⌉ bins, of one confidence a row, weighted by count",
    needs="pairs",
    low=0.0,
    high=1.0,
    direction="lower",
    binned=True,
    compute=ece,
    binning="mass",
    required_sums="values",
    all_labels=True,
)
