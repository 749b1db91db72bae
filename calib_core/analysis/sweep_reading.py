"""What does the variation over M come to, in plain sentences that claim no more than the null allows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.analysis.basis import Evidence
from calib_core.analysis.limits import CLEAR
from calib_core.analysis.null import Null
from calib_core.binned import Binned, Scheme
from calib_core.metrics.metric import Metric
from calib_core.wording import short

ONE_SIGN: Final = 0.99
"""A single bin that carries this part of the largest number: hardly any gap cancels another."""

NOTHING: Final = 1e-9
"""A number no larger is what rounding left of 0."""


def remarks_on(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], values: Sequence[float | None]
) -> tuple[str, ...]:
    """What makes this curve flat or final by construction. schemes: by M, those that are served."""
    told: list[str] = []
    known = [value for value in values if value is not None]
    if len(known) == len(values) > 1 and max(known) > NOTHING:
        one = Scheme("width", 1)
        whole = metric.of(evidence.sums_for(metric, one), one) if metric.binning != "mass" else None
        if whole is not None and whole >= ONE_SIGN * max(known):
            told.append(
                f"Nearly all gaps have one sign and do not cancel, so {metric.title} is nearly the same at "
                "every M: an RSD near 0 shows that, and not that the number is a good one."
            )
    alone = next((bins for bins, scheme in schemes.items() if _apart(evidence, metric, scheme)), None)
    if alone is not None:
        told.append(
            f"From M = {alone} on, every distinct confidence has a bin of its own: more bins change nothing."
        )
    several = [evidence.exactness(metric, scheme) for scheme in schemes.values()]
    return (*told, *dict.fromkeys(said for said in several if said))


def _apart(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether no bin holds two different confidences: seen from their spread, so that nothing is sorted."""
    if evidence.bounds(metric, scheme):
        return False
    sums = evidence.sums_for(metric, scheme)
    binned: Binned = (sums if metric.reads == "classes" else sums.pooled()).binned(scheme)
    return bool(binned.size) and bool(binned.of_one_value.all())


def read_sweep(
    title: str, bins: Sequence[int], values: Sequence[float], null: Null | None, counted: str
) -> str:
    """Two sentences on one curve; counted: "1,319 rows".

    Judged at the first and the last M alone, each at half of CLEAR, so that more M bring no more chances.
    """
    opening = f"{title} is {_at_ends(bins, [short(value) for value in values])}"
    if null is None:
        return f"{opening}. How much of it is chance is not known here."
    expected = " and ".join(short(null.median[at]) for at in dict.fromkeys((0, len(bins) - 1)))
    opening += f"; confidences that are exactly right would give about {expected} on {counted}"
    if len(bins) == 1:
        return f"{opening}. {_of_one(null)}"
    return f"{opening}. {_of_ends(bins, null, values[-1] - values[0])}"


def _at_ends(bins: Sequence[int], told: Sequence[str]) -> str:
    """"0.0312 at M = 5 and 0.0518 at M = 500"."""
    return " and ".join(f"{told[at]} at M = {bins[at]}" for at in dict.fromkeys((0, len(bins) - 1)))


def _of_one(null: Null) -> str:
    chance = null.p[0]
    if chance is None or chance > CLEAR:
        return f"That is within chance{_p(chance)}."
    return f"That is more than chance gives{_p(chance)}."


def _of_ends(bins: Sequence[int], null: Null, change: float) -> str:
    limit = max(CLEAR / 2, 1 / (1 + null.draws))  # of few draws the smallest p there is stands out
    clear = [p is not None and p <= limit for p in (null.p[0], null.p[-1])]
    if not any(clear):
        said = f"Both are within chance{_p(null.p[0], null.p[-1])}: neither speaks against these confidences"
        noise = null.change_p is not None and null.change_p > CLEAR
        return f"{said}, and the change over M is no more than noise." if noise else f"{said}."
    if all(clear):
        said = f"Both are more than chance gives{_p(null.p[0], null.p[-1])}"
    else:
        at = 0 if clear[0] else -1
        said = f"Only the number at M = {bins[at]} is more than chance gives{_p(null.p[at])}"
    by_chance = f"thinner bins bring by chance (about {short(null.median[-1] - null.median[0])})"
    if null.change_p is None or null.change_p > CLEAR:
        return f"{said}; the change of {short(change)} over M is no more than {by_chance}."
    found = f"more than {by_chance}{_p(null.change_p)}, as gaps that cancel in wider bins would have it"
    return f"{said}; the change of {short(change)} over M is {found}."


def _p(*chances: float | None) -> str:
    told = [f"p = {chance:.3f}" for chance in chances if chance is not None]
    return f" ({', '.join(dict.fromkeys(told))})" if told else ""
