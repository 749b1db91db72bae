"""What is a metric?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from calib_core.binned import Binning, Scheme, Sums

Better = Literal["lower", "higher", "zero"]

Reads = Literal["bins", "squares", "classes", "values"]
"""What sums have to keep: n, Σy and Σc of the bins; Σc² and Σcy as well; each class apart; or every value."""


NAMED: Final = ("Brier", "Full-ECE", "cw-ECE", "K·cw-ECE")
"""Names with which titles begin, and which stay as they are within a sentence, as abbreviations do."""


def _no_remark(_sums: Sums) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Metric:
    """One number read off the sums.

    id: as in addresses and on the command line; title: for people; recipe: its name in a recipe line
    ("ECE-L1"); meaning: one plain sentence for the help text, which says what direction is better; source:
    paper and equation, or formula;
    needs: "pairs" (one confidence a row) or "distribution" (every choice's, sums kept by class);
    low, high: range (None = unbounded); better: which direction is better; binned: whether the
    number depends on the scheme; of: the number, or None where it is not defined (no rows, one
    outcome only …); remark: something a reader must know of this value, or None; binning: the one
    binning the metric is defined on, None = any; reads: what sums must keep for it; ceiled: whether it
    cannot pass 2·mean(1 − p_y), p_y the probability of the right class. `of` does not look whether the
    scheme is of that binning, nor what the sums keep: `analysis` does, once for all metrics.

    low and high hold for distributions that sum to 1; one off by ε may pass `high` by as much.
    """

    id: str
    title: str
    recipe: str
    meaning: str
    source: str
    needs: Literal["pairs", "distribution"]
    low: float | None
    high: float | None
    better: Better
    binned: bool
    of: Callable[[Sums, Scheme], float | None]
    remark: Callable[[Sums], str | None] = _no_remark
    binning: Binning | None = None
    reads: Reads = "bins"
    ceiled: bool = False

    @property
    def inside(self) -> str:
        """The title within a sentence: "accuracy", but "ECE", "Full-ECE" and "Brier score" as they are."""
        first = self.title.split()[0].strip(",")
        return self.title if first in NAMED or first.isupper() else self.title[0].lower() + self.title[1:]

    @property
    def help(self) -> str:
        """What it is, its direction and its formula, for the help text wherever it is chosen or shown."""
        return f"{self.meaning} {self.source}."
