"""Measure lists of group verdicts, the scan for hidden groups, and stated changes: errors and power.

Draws data sets, judges each as the program does, and writes groups.md beside this script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray

from calib_core.inference.cluster_draws import correlated_uniforms
from calib_core.inference.group_difference import compare_groups, confidence_strata
from calib_core.inference.intervals import mean_interval
from calib_core.inference.multiplicity import benjamini_hochberg
from calib_core.inference.verdict import SIGNIFICANCE_LEVEL, judge
from calib_core.results.changes import correct_contrasts, measure_contrast
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.results.hidden_groups import TriedGroup, scan_groups, scanned_columns
from calib_core.runs import AnswerRun, RowCounts, RunInfo

SEED: Final = 20261124
REPEATS: Final = 200
REPEATS_OF_LISTS: Final = 80
REPEATS_OF_SCAN: Final = 100
REPEATS_OF_WORST: Final = 400
GROUP_SIZES: Final = tuple(np.geomspace(30, 600, 20).round().astype(int).tolist())
OFF: Final = 0.1
LEAST_TRUE: Final = 0.002
TRIALS: Final = 5

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Confidences = Callable[[np.random.Generator, int], Floats]


def expit(logit: Floats) -> Floats:
    """Inverse of the logit."""
    return 1 / (1 + np.exp(-logit))


def beta(first: float, second: float) -> Confidences:
    """Beta-distributed confidences."""
    return lambda random, n: random.beta(first, second, n)


CONFIDENCES: Final[dict[str, Confidences]] = {
    "beta(4, 2)": beta(4, 2),
    "beta(20, 1), mostly above .9": beta(20, 1),
}


def evidence_of(confidence: Floats, correct: Flags, **columns: list[str]) -> AnswerEvidence:
    """A run of these rows; `columns` other than id and trial_of are group columns."""
    own = {name: pl.Series(name, values) for name, values in columns.items() if name in ("id", "trial_of")}
    rows = pl.DataFrame(
        [
            pl.Series("row", np.arange(1, confidence.size + 1)),
            pl.Series("confidence", confidence),
            pl.Series("correct", correct),
            *own.values(),
        ]
    )
    groups = pl.DataFrame({name: values for name, values in columns.items() if name not in own})
    run = AnswerRun("rows", "table", "rows", RunInfo(), rows, RowCounts(rows.height), groups)
    return gather_evidence(run, "given")


# --- Lists of verdicts ------------------------------------------------------------------------------------


def verdict_lists() -> Iterator[list[str]]:
    """Groups of unequal size, none or a quarter of them over-confident."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for n_off in (0, 5):
            random = np.random.default_rng([SEED, place, n_off])
            n_any, shares_false, n_found = 0, [], 0
            for _ in range(REPEATS_OF_LISTS):
                is_off = np.arange(len(GROUP_SIZES)) % 4 == 1 if n_off else np.zeros(len(GROUP_SIZES), bool)
                ps: list[float | None] = []
                for size, off in zip(GROUP_SIZES, is_off, strict=True):
                    c = confidences(random, size)
                    ps.append(judge(c, random.random(size) < np.clip(c - OFF * off, 0, 1)).p)
                clear = np.array([q is not None and q <= SIGNIFICANCE_LEVEL for q in benjamini_hochberg(ps)])
                n_any += bool((clear & ~is_off).any())
                shares_false.append((clear & ~is_off).sum() / max(1, clear.sum()))
                n_found += int((clear & is_off).sum())
            power = percent(n_found / REPEATS_OF_LISTS / n_off) if n_off else ""
            yield [
                title,
                str(n_off),
                percent(n_any / REPEATS_OF_LISTS),
                percent(float(np.mean(shares_false))),
                power,
            ]


# --- The gap of the worst ---------------------------------------------------------------------------------


def worst_gaps() -> Iterator[list[str]]:
    """How often the interval of the group that is named the worst holds the true gap, alone and with all."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for n_off, means in {"0": (0.0, 0.0), "all": (OFF, OFF), "all, unequally": (0.0, 2 * OFF)}.items():
            random = np.random.default_rng([SEED, 140 + place, len(n_off)])
            n_named = n_in_single = n_in_wide = n_all = 0
            for _ in range(REPEATS_OF_WORST):
                ps: list[float | None] = []
                gaps: list[tuple[float, float]] = []
                ends: list[tuple[tuple[float, float], tuple[float, float]]] = []
                for size in GROUP_SIZES:
                    c = confidences(random, size)
                    chance = np.clip(c - random.uniform(*means), 0, 1)
                    right = random.random(size) < chance
                    ps.append(judge(c, right).p)
                    gaps.append((float((c - right).mean()), float((c - chance).mean())))
                    added = float((c - 1).mean()), float(c.mean())
                    ends.append(
                        (
                            mean_interval(c - right, np.ones(size), added),
                            mean_interval(c - right, np.ones(size), added, len(GROUP_SIZES)),
                        )
                    )
                held = [
                    [low <= true <= high for low, high in both]
                    for (_, true), both in zip(gaps, ends, strict=True)
                ]
                n_all += all(wide for _, wide in held)
                q_values = enumerate(benjamini_hochberg(ps))
                clear = [at for at, q in q_values if q is not None and q <= SIGNIFICANCE_LEVEL]
                if clear:
                    single, wide = held[max(clear, key=lambda at: abs(gaps[at][0]))]
                    n_named, n_in_single, n_in_wide = n_named + 1, n_in_single + single, n_in_wide + wide
            shares = [percent(1 - (n_named - n) / REPEATS_OF_WORST) for n in (n_in_single, n_in_wide)]
            yield [
                title,
                n_off,
                percent(n_named / REPEATS_OF_WORST),
                *shares,
                percent(n_all / REPEATS_OF_WORST),
            ]


# --- The group against the rest ---------------------------------------------------------------------------


def rest_intervals() -> Iterator[list[str]]:
    """One of eight groups, or none, is less often right: size of the test, and coverage of its interval."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for off in (0.0, OFF):
            cells: list[str] = []
            for n in (300, 1_000, 3_000, 10_000):
                random = np.random.default_rng([SEED, 20 + place, n, int(100 * off)])
                n_clear = n_held = n_tested = 0
                for _ in range(REPEATS):
                    c = confidences(random, n)
                    group = random.integers(0, 8, n)
                    chance = np.clip(c - off * (group == 0), 0, 1)
                    stratum = confidence_strata(c)
                    _, found = compare_groups(stratum, random.random(n) < chance, group, 8)
                    truth = float((chance - c)[group == 0].mean())
                    n_tested += not np.isnan(found.p[0])
                    n_clear += found.p[0] <= SIGNIFICANCE_LEVEL
                    n_held += found.low[0] <= truth <= found.high[0]
                cells.append(f"{percent(n_clear / n_tested)}, {percent(n_held / n_tested)}")
            yield [title, f"{off:g}", *cells]


def rest_families() -> Iterator[list[str]]:
    """Eight groups, some of them right less often: intervals that agree with q."""
    for place, (title, confidences) in enumerate(CONFIDENCES.items()):
        for n_off in (0, 2, 8):
            cells: list[str] = []
            for n in (1_000, 3_000):
                random = np.random.default_rng([SEED, 80 + place, n, n_off])
                n_found = n_held = n_agree = 0
                missed = 0.0
                for _ in range(REPEATS):
                    c = confidences(random, n)
                    group = random.integers(0, 8, n)
                    excess = np.array([OFF * (1 + at % 2) / 2 if at < n_off else 0.0 for at in range(8)])
                    chance = np.clip(c - excess[group], 0, 1)
                    stratum = confidence_strata(c)
                    _, found = compare_groups(stratum, random.random(n) < chance, group, 8)
                    corrected, q = found.of_family()
                    gap = chance - c
                    truth = np.array([gap[group == at].mean() - gap[group != at].mean() for at in range(8)])
                    held = (corrected.low <= truth) & (truth <= corrected.high)
                    clear = q <= SIGNIFICANCE_LEVEL
                    n_agree += ((corrected.low > 0) | (corrected.high < 0)).tolist() == clear.tolist()
                    n_found += bool(clear.any())
                    n_held += int(held.sum())
                    missed += float((~held[clear]).mean()) if clear.any() else 0.0
                cells += [
                    percent(n_found / REPEATS),
                    percent(n_held / (8 * REPEATS)),
                    percent(missed / REPEATS),
                    percent(n_agree / REPEATS),
                ]
            yield [title, f"{n_off} of 8", *cells]


def families() -> Iterator[str]:
    """Intervals against the rest beside their q."""
    yield from ("", "## Intervals against the rest, beside q", "")
    yield (
        "Of eight groups none, two or all are over-confident, by 0.05 and 0.1 in turn. Share of data sets in "
        "which a group is clear; share of all intervals that hold; the mean over data sets of the share of "
        "intervals of clear groups that miss, as q is corrected for; and in how many data sets an interval "
        "leaves out 0 exactly where q ≤ 0.05."
    )
    yield ""
    titles = ("any clear", "hold", "missed share", "agree")
    columns = [f"n = {n:,}: {title}" for n in (1_000, 3_000) for title in titles]
    yield from table(["confidences", "off", *columns], rest_families(), n_texts=2)


# --- The scan ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scan:
    """What the rows of a scanned run are like.

    Attributes
    ----------
    title : str
    n : int
        Number of rows, or of questions with `TRIALS` trials each where `shared` is given.
    confidences : callable
        Logits are shifted by subject and level, so that groups differ in their confidences.
    chance : callable
        Confidences → probability of being right, the same in all groups.
    off : float
        How over-confident the planted group is, one twentieth of the rows: two subjects in one language.
    shared : float or None
        How alike the trials of a question are.
    """

    title: str
    n: int
    confidences: Confidences
    chance: Callable[[Floats], Floats] = lambda c: c
    off: float = 0.0
    shared: float | None = None


def curved(c: Floats) -> Floats:
    """Over-confident at the top and under-confident below, with a bend no logistic curve has."""
    return np.clip(c - 0.12 * np.sin(np.pi * c) + 0.05 * np.cos(6 * np.pi * c), 0, 1)


SCANS: Final = (
    Scan("calibrated", 1_000, beta(4, 2)),
    Scan("calibrated", 10_000, beta(4, 2)),
    Scan("calibrated, mostly above .9", 1_000, beta(20, 1)),
    Scan("calibrated, mostly above .9", 10_000, beta(20, 1)),
    Scan("miscalibrated by one bent curve", 1_000, beta(4, 2), curved),
    Scan("miscalibrated by one bent curve", 10_000, beta(4, 2), curved),
    Scan("calibrated, 300 questions of 5 identical trials", 300, beta(4, 2), shared=1.0),
    Scan("calibrated, 2,000 questions of 5 partly alike trials", 2_000, beta(4, 2), shared=0.7),
    Scan("planted", 3_000, beta(4, 2), off=OFF),
    Scan("planted", 10_000, beta(4, 2), off=OFF),
    Scan("planted, mostly above .9", 10_000, beta(20, 1), off=OFF),
    Scan("planted, miscalibrated by one bent curve", 10_000, beta(4, 2), curved, off=OFF),
    Scan("planted, 2,000 questions of 5 partly alike trials", 2_000, beta(4, 2), off=OFF, shared=0.7),
)


def drawn(scan: Scan, random: np.random.Generator) -> tuple[AnswerEvidence, Floats]:
    """A run with overlapping columns, and by how much each row is less often right than others like it.

    Category is made of subjects, level depends on the subject, and language and flag on nothing.
    """
    n_rows = scan.n * (TRIALS if scan.shared is not None else 1)
    question = np.repeat(np.arange(scan.n), n_rows // scan.n)
    subject = random.choice(12, scan.n, p=np.arange(12, 0, -1) / 78)[question]
    level = np.minimum(2, random.integers(0, 2, scan.n)[question] + subject // 5)
    language, flag = random.choice(4, n_rows, p=(0.4, 0.3, 0.2, 0.1)), random.integers(0, 2, n_rows)
    base = np.clip(scan.confidences(random, scan.n), 1e-6, 1 - 1e-6)[question]
    c = expit(np.log(base / (1 - base)) + 0.15 * (subject % 4 - 1.5) - 0.3 * (level - 1))
    planted = (subject == 3) & (language == 0) | (subject == 10) & (language == 0)
    chance = np.clip(scan.chance(c) - scan.off * planted, 0, 1)
    columns = {
        "subject": subject,
        "category": subject // 3,
        "level": level,
        "language": language,
        "flag": flag,
    }
    texts = {name: [f"{name} {value}" for value in values] for name, values in columns.items()}
    if scan.shared is None:
        return evidence_of(c, random.random(n_rows) < chance, **texts), chance - np.clip(scan.chance(c), 0, 1)
    correct = correlated_uniforms(random, question, scan.shared) < chance
    return evidence_of(c, correct, **texts, trial_of=[f"q{number}" for number in question]), chance - np.clip(
        scan.chance(c), 0, 1
    )


def scans() -> Iterator[list[str]]:
    """Each scan: how often a false group is clear, the share of false ones, and whether the true is found."""
    for place, scan in enumerate(SCANS):
        random = np.random.default_rng([SEED, 40 + place])
        n_any, shares_false, n_found, n_first, n_tried = 0, [], 0, 0, []
        for _ in range(REPEATS_OF_SCAN):
            evidence, excess = drawn(scan, random)
            tried = scan_groups({"run": evidence}, {"run": scanned_columns(evidence)})
            is_true, is_planted = clear_groups(tried, excess)
            n_tried.append(len(tried))
            n_any += bool((~is_true).any())
            shares_false.append((~is_true).sum() / max(1, is_true.size))
            n_found += bool(is_planted.any())
            n_first += bool(is_planted.size and is_planted[0])
        shares = (n_found / REPEATS_OF_SCAN, n_first / REPEATS_OF_SCAN)
        found = list(map(percent, shares)) if scan.off else ["", ""]
        n_rows = scan.n * (TRIALS if scan.shared is not None else 1)
        row = [scan.title, f"{n_rows:,}", f"{np.mean(n_tried):.0f}", percent(n_any / REPEATS_OF_SCAN)]
        row += [percent(float(np.mean(shares_false))), *found]
        print(row, flush=True)
        yield row


def clear_groups(tried: Sequence[TriedGroup], excess: Floats) -> tuple[Flags, Flags]:
    """Whether each clear group truly differs, and whether it is one of those that hold planted rows.

    Parameters
    ----------
    tried : sequence of TriedGroup
    excess : NDArray[np.float64], shape (n,)
        Probability of being right less the mean probability at equal confidence.

    Returns
    -------
    is_true, is_planted : NDArray[np.bool_], shape (clear groups,)
        The true difference has the same sign and is at least `LEAST_TRUE` in size; it is also negative and
        at least a quarter of `OFF`.
    """
    clear = [group for group in tried if group.is_clear]
    truth = np.array([excess[group.meets].mean() - excess[~group.meets].mean() for group in clear])
    found = np.array([group.difference for group in clear])
    return (truth * found > 0) & (np.abs(truth) >= LEAST_TRUE), (truth <= -OFF / 4) & (found < 0)


# --- Stated changes ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """Two runs on the same questions.

    Attributes
    ----------
    title : str
    first, second : (float, float)
        Spread of the logit of the confidences, and how over-confident the run is.
    is_change : bool
        Whether the true ECE differs.
    """

    title: str
    first: tuple[float, float]
    second: tuple[float, float]
    is_change: bool = False


CHANGES: Final = (
    Change("both calibrated, alike", (1, 0), (1, 0)),
    Change("both calibrated, spread 3 against 0.3", (3, 0), (0.3, 0)),
    Change("both .1 over, spread 2 against 0.5", (2, 0.1), (0.5, 0.1)),
    Change(".1 over, then calibrated", (1, 0.1), (1, 0), is_change=True),
    Change(".1 over, then .05 over", (1, 0.1), (1, 0.05), is_change=True),
)


def two_runs(change: Change, n: int, random: np.random.Generator) -> tuple[AnswerEvidence, AnswerEvidence]:
    """Both runs; a question that is hard for one is hard for the other."""
    ease = random.standard_normal(n)
    ids = [str(number) for number in range(n)]
    runs: list[AnswerEvidence] = []
    for spread, off in (change.first, change.second):
        c = expit(1 + spread * (0.8 * ease + 0.6 * random.standard_normal(n)))
        c = 0.15 + 0.8 * c if change.first[1] else c
        runs.append(evidence_of(c, random.random(n) < c - off, id=ids))
    return runs[0], runs[1]


def stated_changes() -> Iterator[list[str]]:
    """How often a change of ECE is stated, for one line, and on any of four lines after Holm."""
    for place, change in enumerate(CHANGES):
        cells: list[str] = []
        for n in (100, 300, 1_000):
            random = np.random.default_rng([SEED, 80 + place, n])
            contrasts = [
                measure_contrast("first", "last", (), [two_runs(change, n, random)], "ece")
                for _ in range(REPEATS)
            ]
            single = float(np.mean([contrast.is_clear for contrast in contrasts]))
            fours = [correct_contrasts(contrasts[start : start + 4]) for start in range(0, REPEATS, 4)]
            any_of_four = float(np.mean([any(contrast.is_clear for contrast in four) for four in fours]))
            cells.append(f"{percent(single)}, {percent(any_of_four)}")
        print(change.title, cells, flush=True)
        yield [change.title, "yes" if change.is_change else "no", *cells]


# --- Writing ----------------------------------------------------------------------------------------------


def page() -> list[str]:
    """The page, line by line."""
    lists = list(verdict_lists())
    print(lists, flush=True)
    worst = list(worst_gaps())
    print(worst, flush=True)
    rests = list(rest_intervals())
    print(rests, flush=True)
    changes = list(stated_changes())
    scanned = list(scans())
    return [
        "# Groups, hidden groups and stated changes",
        "",
        (
            f"Written by `python benchmarks/groups.py`: seed {SEED}, {REPEATS} data sets per cell, "
            f"{REPEATS_OF_SCAN} for the scan, {REPEATS_OF_LISTS} for lists. A share near 5 % is known to "
            f"± {points_known(0.05, REPEATS)} points ({REPEATS} data sets) or "
            f"± {points_known(0.05, REPEATS_OF_SCAN)} points ({REPEATS_OF_SCAN}). Clear means "
            f"q ≤ {SIGNIFICANCE_LEVEL} (Benjamini–Hochberg over all groups tried)."
        ),
        "",
        f"## Lists of verdicts on {len(GROUP_SIZES)} groups of 30 to 600 rows",
        "",
        (
            f"“Off”: groups that are {OFF:g} over-confident. The false share is the mean over data sets of "
            "the share of calibrated groups among the clear ones."
        ),
        "",
        *table(["confidences", "off", "any false group clear", "false share", "off groups found"], lists),
        "",
        "## The gap of the group that is named the worst",
        "",
        (
            f"The same groups, over-confident by 0, by 0.1, or by 0 to 0.2. Share of {REPEATS_OF_WORST} "
            "data sets in which a group is named, the one with the largest clear gap. Then the share in "
            "which no interval of a named group misses its true gap: the 95 % interval of that group "
            "alone, and one of 20 that hold together (Bonferroni), which the page shows. Last: all 20 of "
            "these hold."
        ),
        "",
        *table(["confidences", "off", "named", "alone", "together", "all hold"], worst),
        "",
        "## A group of one eighth of the rows against the rest, at equal confidence",
        "",
        (
            "Share of the data sets in which the group has 30 rows with p ≤ .05, and share in which the 95 % "
            "interval holds the true difference."
        ),
        "",
        *table(["confidences", "off", "n = 300", "n = 1,000", "n = 3,000", "n = 10,000"], rests),
        *families(),
        "",
        "## The scan for hidden groups",
        "",
        (
            f"Five overlapping columns and their pairs. Planted: {OFF:g} over-confident, about one twentieth "
            "of the rows, two subjects in one language. A clear group is false if its true difference from "
            f"the rest has another sign, or is below {LEAST_TRUE:g}. Planted rows also push groups without "
            "any the other way, by 0.005: that is a true difference. Found: a group that is at least "
            f"{OFF / 4:g} less often right is clear; listed first: one of these has the smallest p."
        ),
        "",
        *table(
            ["run", "rows", "groups tried", "any false group clear", "false share", "found", "listed first"],
            scanned,
        ),
        "",
        "## Stated changes of ECE between two runs on the same questions",
        "",
        "Share of data sets with a stated change: for one pair of runs; on any of four pairs after Holm.",
        "",
        *table(["runs", "true change", "n = 100", "n = 300", "n = 1,000"], changes),
        "",
        date_line(),
    ]


if __name__ == "__main__":
    write_page(__file__, page())
