"""What does the variation over M come to, in plain sentences that claim no more than the null allows?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from calib_core.analysis.basis import Evidence
from calib_core.analysis.limits import SIGNIFICANCE_LEVEL
from calib_core.analysis.null import NullDistribution
from calib_core.analysis.tendency import WITHIN_CHANCE
from calib_core.binned import Binned, Scheme
from calib_core.metrics.metric import Metric
from calib_core.wording import ROUNDING_TOLERANCE, p_value_phrase, format_short

ONE_SIGN_SHARE: Final = 0.99
"""A single bin that carries this part of the largest number: hardly any gap cancels another."""

BEYOND_CHANCE: Final = "more than chance gives"


def sweep_remarks(
    evidence: Evidence, metric: Metric, schemes: Mapping[int, Scheme], values: Sequence[float | None]
) -> tuple[str, ...]:
    """What makes this curve flat or final by construction. schemes: by M, those that are served."""
    told: list[str] = []
    known = [value for value in values if value is not None]
    if len(known) == len(values) > 1 and max(known) > ROUNDING_TOLERANCE:
        one = Scheme("width", 1)
        whole = metric.compute(evidence.sums_for(metric, one), one) if metric.binning != "mass" else None
        if whole is not None and whole >= ONE_SIGN_SHARE * max(known):
            told.append(
                f"Nearly all gaps have one sign and do not cancel, so {metric.title} is nearly the same at "
                "every M: an RSD near 0 shows that, and not that the number is a good one."
            )
    alone = next((bins for bins, scheme in schemes.items() if _one_value_per_bin(evidence, metric, scheme)), None)
    if alone is not None:
        told.append(
            f"From M = {alone} on, every distinct confidence has a bin of its own: more bins change nothing."
        )
    several = [evidence.exactness_note(metric, scheme) for scheme in schemes.values()]
    return (*told, *dict.fromkeys(said for said in several if said))


def _one_value_per_bin(evidence: Evidence, metric: Metric, scheme: Scheme) -> bool:
    """Whether no bin holds two different confidences: seen from their spread, so that nothing is sorted."""
    if evidence.bounds(metric, scheme):
        return False
    sums = evidence.sums_for(metric, scheme)
    binned: Binned = (sums if metric.required_sums == "classes" else sums.pooled()).binned(scheme)
    return bool(binned.size) and bool(binned.has_single_value.all())


def sweep_headline(title: str, bins: Sequence[int], values: Sequence[float], null: NullDistribution | None) -> str:
    """One sentence on one curve: what the number does over M, and whether that is more than chance.

    Judged at the first and the last M alone, each at half of CLEAR, so that more M bring no more chances.
    """
    told, ends = [format_short(value) for value in values], (f"M = {bins[0]}", f"M = {bins[-1]}")
    judged = [] if null is None else [BEYOND_CHANCE if each else WITHIN_CHANCE for each in _significant_ends(null)]
    if len(set(told)) == 1:
        where = ends[0] if len(bins) == 1 else "every M"
        said = f", {judged[0]}" if judged else ""
        if len(set(judged)) > 1:
            said = f": {judged[0]} at {ends[0]}, {judged[1]} at {ends[1]}"
        return f"{title} is {told[0]} at {where}{said}."
    if WITHIN_CHANCE not in judged or (BEYOND_CHANCE in judged and _rise_significant(null)):
        return f"{title} {_change_clause(told, ends, values[-1] - values[0], null)}."
    if BEYOND_CHANCE not in judged:
        return f"{title} is {told[0]} at {ends[0]} and {told[-1]} at {ends[1]}, both {WITHIN_CHANCE}."
    return f"{title} is {told[0]} at {ends[0]}, {judged[0]}, and {told[-1]} at {ends[1]}, {judged[1]}."


def _change_clause(value_texts: Sequence[str], ends: tuple[str, str], change: float, null: NullDistribution | None) -> str:
    """"rises from 0.2348 (M = 5) to 0.3012 (M = 500), no more than thinner bins bring by chance"."""
    same = value_texts[0] == value_texts[-1]
    verb = "rises" if change > 0 else "falls"
    opening = (
        f"is {value_texts[0]} at {ends[0]} as at {ends[1]}" if same
        else f"{verb} from {value_texts[0]} ({ends[0]}) to {value_texts[-1]} ({ends[1]})"
    )
    if null is None:
        return opening
    if change > 0 and not same:
        return f"{opening}, {'more' if _rise_significant(null) else 'no more'} than thinner bins bring by chance"
    by_chance = null.median[-1] - null.median[0]
    if abs(by_chance) <= ROUNDING_TOLERANCE:
        return f"{opening}; by chance it would not change"
    return f"{opening}; by chance it would {'rise' if by_chance > 0 else 'fall'} by {format_short(abs(by_chance))}"


def sweep_chance_note(bins: Sequence[int], values: Sequence[float], null: NullDistribution | None, rows_text: str) -> str:
    """What chance alone would give, and what of number and change is more; counted: "1,319 rows"."""
    if null is None:
        return "How much of it is chance is not known here."
    medians = dict.fromkeys(format_short(null.median[at]) for at in (0, -1))
    opening = f"Confidences that are exactly right would give about {' and '.join(medians)} on {rows_text}"
    if len(bins) == 1:
        return f"{opening}{_p_text(null, null.p[0])}."
    change = "" if format_short(values[0]) == format_short(values[-1]) else format_short(values[-1] - values[0])
    return f"{opening}. {_ends_sentence(bins, null, change)}"


def _significant_ends(null: NullDistribution) -> list[bool]:
    """Whether the number is more than chance gives: of one M, or of the first and the last."""
    if len(null.p) == 1:
        return [null.p[0] is not None and null.p[0] <= SIGNIFICANCE_LEVEL]
    limit = max(SIGNIFICANCE_LEVEL / 2, 1 / (1 + null.n_draws))  # of few draws the smallest p there is stands out
    return [p is not None and p <= limit for p in (null.p[0], null.p[-1])]


def _rise_significant(null: NullDistribution | None) -> bool:
    """Whether the number rises over M by more than it does by chance."""
    return null is not None and null.change_p is not None and null.change_p <= SIGNIFICANCE_LEVEL


def _ends_sentence(bins: Sequence[int], null: NullDistribution, change: str) -> str:
    """change: of the number from the first to the last M, "" where it is none."""
    clear = _significant_ends(null)
    if not any(clear):
        said = f"Both are {WITHIN_CHANCE}{_p_text(null, null.p[0], null.p[-1])}: neither speaks against these confidences"
        noise = change and null.change_p is not None and not _rise_significant(null)
        return f"{said}, and the change over M is no more than noise." if noise else f"{said}."
    if all(clear):
        said = f"Both numbers are {BEYOND_CHANCE}{_p_text(null, null.p[0], null.p[-1])}"
    else:
        at = 0 if clear[0] else -1
        said = f"Only the number at M = {bins[at]} is {BEYOND_CHANCE}{_p_text(null, null.p[at])}"
    if not change:
        return f"{said}."
    by_chance = f"thinner bins bring by chance (about {format_short(null.median[-1] - null.median[0])})"
    if not _rise_significant(null):
        return f"{said}; the change of {change} over M is no more than {by_chance}."
    found = f"more than {by_chance}{_p_text(null, null.change_p)}, as gaps that cancel in wider bins would have it"
    return f"{said}; the change of {change} over M is {found}."


def _p_text(null: NullDistribution, *chances: float | None) -> str:
    """" (p ≤ 0.005, p = 0.010)"."""
    told = [p_value_phrase(p, null.n_draws) for p in chances if p is not None]
    return f" ({', '.join(dict.fromkeys(told))})" if told else ""
