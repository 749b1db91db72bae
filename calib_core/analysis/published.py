"""What did the papers publish?  Reference figures to stand beside one's own, never asserted of them."""

from __future__ import annotations

from typing import Final

import polars as pl

SOURCE: Final = "Full-ECE paper (Liu et al. 2024), Table 1"


def published_rsd() -> pl.DataFrame:
    """RSD over the paper's seven M: metric id, model (of 2 and 7 billion parameters), rsd in [0, 1]."""
    return pl.DataFrame(
        [
            ("cw_ece", "2B", 0.4093), ("cw_ece", "7B", 0.4490), ("full_ece", "2B", 0.0756),
            ("full_ece", "7B", 0.0836),
        ],
        schema=["metric", "model", "rsd"], orient="row",
    )
