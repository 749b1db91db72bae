"""How many samples are enough?  Squared errors of each question at each N' → the smallest N' that will do.

Paired: both sizes judge the same questions, and what differs from one question to the next is taken out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from calib_core.analysis.bootstrap import BOOTSTRAP_DRAWS
from calib_core.analysis.limits import MIN_ROWS
from calib_core.wording import plural, join_names

BRIER_TOLERANCE: Final = 0.005
"""A Brier score no farther off is as good as the same."""


@dataclass(frozen=True, slots=True)
class BrierDifference:
    """Mean over the questions of the squared error at one N' less that at the reference, and its interval.

    value, low, high: the basic bootstrap's 95 % over `questions`.
    """

    value: float
    low: float
    high: float
    n_questions: int

    def within_tolerance(self, tolerance: float) -> bool:
        """Whether the whole interval is within ± `within`."""
        return -tolerance <= self.low and self.high <= tolerance


@dataclass(frozen=True, slots=True)
class SufficientSize:
    """The smallest N' of one method that does as well as the reference, None where none below it does."""

    method: str
    size: int | None
    reference_size: int
    tolerance: float


def brier_differences(
    squared_error: Mapping[int, NDArray[np.float64]], sizes: Sequence[int], reference_size: int, seed: int
) -> list[dict[int, BrierDifference]]:
    """Size → gap to `against`, one mapping a method; sizes: those that are compared.

    squares: size → float64 of shape (methods, questions), NaN where a question has none. A question counts
    where both sizes have it; a size with fewer than two such questions has no gap. The same questions are
    drawn for all methods and sizes.
    """
    reference = squared_error[reference_size]
    columns = [squared_error[size] - reference for size in sizes]
    if not columns:
        return [{} for _ in reference]
    stacked = np.concatenate(columns)
    known = ~np.isnan(stacked)
    ends = _bootstrap_means(np.where(known, stacked, 0.0), known, seed)
    found: list[dict[int, BrierDifference]] = [{} for _ in reference]
    for at, (value, low, high) in enumerate(ends):
        if (questions := int(known[at].sum())) > 1 and np.isfinite(low):
            place, method = divmod(at, len(found))
            found[method][sizes[place]] = BrierDifference(value, low, high, questions)
    return found


def _bootstrap_means(
    values: NDArray[np.float64], defined: NDArray[np.bool_], seed: int
) -> list[tuple[float, float, float]]:
    """Mean and reflected 95 % ends of each row of values; NaN ends where a draw has not one known value."""
    random = np.random.default_rng(seed)
    questions: int = values.shape[1]
    both = np.concatenate([values, defined])
    sums = np.empty((BOOTSTRAP_DRAWS, both.shape[0]))
    for draw in range(BOOTSTRAP_DRAWS):
        drawn = random.integers(questions, size=questions)
        sums[draw] = both @ np.bincount(drawn, minlength=questions)
    count = sums[:, len(values) :]
    drawn_means = sums[:, : len(values)] / np.where(count, count, np.nan)
    total = defined.sum(1)
    mean = values.sum(1) / np.where(total, total, np.nan)
    low, high = np.quantile(drawn_means, (0.025, 0.975), axis=0)
    ends = zip(mean, 2 * mean - high, 2 * mean - low, strict=True)
    return [(float(value), float(below), float(above)) for value, below, above in ends]


def sufficient_size(method: str, differences: Mapping[int, BrierDifference], reference_size: int, tolerance: float) -> SufficientSize:
    """The smallest size whose gap is within; within: above 0."""
    size = next((size for size, gap in sorted(differences.items()) if gap.within_tolerance(tolerance)), None)
    return SufficientSize(method, size, reference_size, tolerance)


def sufficient_size_headline(
    sufficient_sizes: Sequence[SufficientSize], differences: Mapping[str, Mapping[int, BrierDifference]], names: Mapping[str, str]
) -> str:
    """What is enough, in one sentence; gaps: by method and size; names: method → "F_CS"."""
    if not sufficient_sizes:
        return "Every N' here is more than half of the samples, so there is none to compare the others with."
    against = sufficient_sizes[0].reference_size
    if not any(differences.values()):
        return f"Only N' = {against} is not greyed, so there is no smaller N' to compare with it."
    whom: dict[int, list[str]] = {}
    for each in sufficient_sizes:
        if each.size is not None:
            whom.setdefault(each.size, []).append(names[each.method])
    parts = [f"{size} samples are enough for {join_names(methods)}" for size, methods in sorted(whom.items())]
    lower = _sizes_with_lower_brier([each for each in sufficient_sizes if each.size is None], differences, names)
    parts += [
        f"{join_names(methods)} {'do' if len(methods) > 1 else 'does'} better with {size} than with {against}"
        for size, methods in lower.items()
    ]
    better = {name for methods in lower.values() for name in methods}
    lacking = [names[each.method] for each in sufficient_sizes if each.size is None]
    if lacking := [name for name in lacking if name not in better]:
        parts.append(f"fewer than {against} are not enough for {join_names(lacking)}")
    said = "; ".join(parts)
    return f"{said[0].upper()}{said[1:]}."


def sufficiency_definition(
    sufficient_sizes: Sequence[SufficientSize], differences: Mapping[str, Mapping[int, BrierDifference]], names: Mapping[str, str], n_questions: int
) -> str:
    """What `read_enough` calls enough, over how many questions, and where fewer samples do better."""
    if not any(differences.values()) or not sufficient_sizes:
        return ""
    against, within = sufficient_sizes[0].reference_size, sufficient_sizes[0].tolerance
    on = f"{plural(n_questions, 'question')}{', too few to rely on' if n_questions < MIN_ROWS else ''}"
    how = f"within ±{within:g} of that at N' = {against}, by its paired 95 % interval over {on}"
    better = "".join(
        f" That of {join_names(methods)} is lower, so better, at N' = {size}."
        for size, methods in _sizes_with_lower_brier(sufficient_sizes, differences, names).items()
    )
    return f"Enough is a Brier score {how}.{better}"


def _sizes_with_lower_brier(
    sufficient_sizes: Sequence[SufficientSize], differences: Mapping[str, Mapping[int, BrierDifference]], names: Mapping[str, str]
) -> dict[int, list[str]]:
    """Where fewer samples do better than the reference: the smallest such N' of each method, ascending."""
    whom: dict[int, list[str]] = {}
    for each in sufficient_sizes:
        lower = [size for size, gap in sorted(differences[each.method].items()) if gap.high < 0]
        if lower:
            whom.setdefault(lower[0], []).append(names[each.method])
    return dict(sorted(whom.items()))
