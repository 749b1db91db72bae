"""What do the runs at hand come to, in a headline and a sentence or two?"""

from __future__ import annotations

from collections.abc import Sequence

from calib_core.analysis.overview_look import RunSummary
from calib_core.analysis.tendency import VERDICT_WORDS, VerdictKind, verdict_phrase, count_verdicts
from calib_core.wording import ROUNDING_TOLERANCE, plural, both_or_all, format_percent


def overview_headline(summaries: Sequence[RunSummary]) -> tuple[str, str]:
    """What can be said of how many runs, and which is furthest off, nearest, and most often right.

    looks: one a run. The second is "" where the first says it all.
    """
    judged = sorted((look for look in summaries if look.verdict != "few"), key=lambda look: look.ece or 0.0)
    if not judged:
        return _too_few_rows_text(summaries), ""
    if len(summaries) == 1:
        return _single_run_headline(judged[0]), ""
    return _verdicts_sentence([look.verdict for look in summaries]), _extremes_sentence(judged, summaries)


def _verdicts_sentence(kinds: Sequence[VerdictKind]) -> str:
    """"Of 3 runs, 2 are over-confident and 1 is under-confident.", or "Both runs are over-confident."."""
    if len(set(kinds)) == 1:
        return f"{both_or_all(len(kinds)).capitalize()} runs {verdict_phrase(kinds[0], len(kinds))}."
    return f"Of {len(kinds)} runs, {count_verdicts(kinds)}."


def _too_few_rows_text(summaries: Sequence[RunSummary]) -> str:
    if not summaries:
        return "There is no run here."
    if len(summaries) == 1:
        return f"The one run here, {summaries[0].run}, has too few {summaries[0].unit} to be judged."
    which = "Neither" if len(summaries) == 2 else "None"
    return f"{which} of the {len(summaries)} runs here has rows enough to be judged."


def _single_run_headline(summary: RunSummary) -> str:
    """"model · quiz says 71.2 % on average and is right 60.0 % of the time: over-confident."."""
    by = f" with {summary.used:,} {summary.unit}" if summary.verdict == "neither" else ""
    return f"{summary.run} {_stated_and_observed(summary)}: {VERDICT_WORDS[summary.verdict]}{by}."


def _extremes_sentence(judged: Sequence[RunSummary], summaries: Sequence[RunSummary]) -> str:
    """The lowest ECE and the highest accuracy; answers and texts are not compared with one another.

    judged: those of `looks` with rows enough, the lowest ECE first.
    """
    answers = [look for look in judged if look.unit == "rows"]
    own = answers or judged
    said = ["answers"] if len(own) < len(judged) else []
    if len(own) == 1:
        return f"{own[0].run} {_stated_and_observed(own[0])}."
    honest, right = own[0], max(own, key=lambda look: look.accuracy or 0.0)
    if any(_beats(look, honest, right) for look in summaries if look.verdict == "few"):
        said.append("rows enough")
    which = f"Of the {len(own)} with {' and '.join(said)}, the" if said else "The"
    lowest = f"{honest.ece or 0.0:.4f}"
    equal = sum((look.ece or 0.0) - (honest.ece or 0.0) <= ROUNDING_TOLERANCE for look in own) - 1
    whose = f"{honest.run}{_ties_clause(equal, 'of ')}"
    opening = f"{which} lowest ECE, {lowest}, is that of {whose}, which {_stated_and_observed(honest)}"
    equal = [look.accuracy for look in own].count(right.accuracy) - 1
    if right.accuracy == honest.accuracy:
        return f"{opening}, {'as often as any' if equal else 'the most of all'}."
    return f"{opening}. Right most often is {right.run}{_ties_clause(equal)}, which {_stated_and_observed(right)}."


def _ties_clause(others: int, preposition: str = "") -> str:
    """Of how many others that is true as well."""
    return f" (and {preposition}{plural(others, 'other')})" if others else ""


def _beats(summary: RunSummary, lowest_ece: RunSummary, most_accurate: RunSummary) -> bool:
    """Whether one with too few rows has a lower ECE or a higher accuracy than those that are named."""
    if summary.ece is None or summary.accuracy is None:
        return False
    return summary.ece < (lowest_ece.ece or 0.0) or summary.accuracy > (most_accurate.accuracy or 0.0)


def _stated_and_observed(summary: RunSummary) -> str:
    """"says 71.2 % on average and is right 60.0 % of the time"."""
    return (
        f"says {format_percent(summary.confidence or 0.0)} on average and is right {format_percent(summary.accuracy or 0.0)} of "
        "the time"
    )
