"""How often do the intervals of a judge against people hold, and how often are its tests wrong?

Writes benchmarks/judge.md in about a quarter of an hour: `python benchmarks/judge.py`. A judge labels
1,000 rows and people some of them. Its sensitivity and the share that truly passes vary; its specificity
is .9. Where questions have five rows, the truth of these and the judge's errors on them are correlated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Final, Literal, NamedTuple, TypeAlias
from unittest.mock import patch

import numpy as np
from benchmark_page import date_line, percent, points_known, table, write_page
from numpy.typing import NDArray
from scipy.special import ndtri

from calib_core.inference.agreement import (
    ADDED_ROWS,
    ADDED_ROWS_OF_SQUARES,
    AlphaLevel,
    KappaWeights,
    Measure,
    clusters_within,
    cohen_kappa,
    kappa_weights,
    krippendorff_alpha,
    mean_bias,
    share_of,
    share_within,
)
from calib_core.inference.group_contrasts import Groups, contrast_groups
from calib_core.inference.intervals import Z_975
from calib_core.inference.labels_needed import labels_for_pass_rate, labels_for_share
from calib_core.inference.multiplicity import holm
from calib_core.inference.order_effect import order_effect
from calib_core.inference.paired_test import paired_test
from calib_core.inference.pass_rate import pass_rates, shortest

SEED: Final = 20261128
REPEATS: Final = 2000
N_ROWS: Final = 1000
ROWS_PER_QUESTION: Final = 5
SPECIFICITY: Final = 0.9
CORRELATION: Final = 0.5
"""Of the normal variables behind truth and errors of the rows of one question."""
SENSITIVITIES: Final = (0.7, 0.85, 0.95)
BASE_RATES: Final = (0.5, 0.8, 0.95)
LABELS: Final = (50, 100, 200)
MORE_LABELS: Final = (*LABELS, 400)
"""Of whole questions, of which these are 10 to 80."""
GRADES: Final = np.arange(1.0, 6.0)
SHARES_OF_GRADES: Final = {"even": (0.2,) * 5, "mostly 5": (0.02, 0.03, 0.05, 0.2, 0.7)}
N_LARGE: Final = 1_000_000
"""Rows from which the true value of a measure of grades is computed."""

Design: TypeAlias = Literal[
    "independent rows", "five a question, any rows", "five a question, whole questions"
]
"""Whether rows repeat questions, and which of them people label."""
DESIGNS: Final[tuple[Design, ...]] = (
    "independent rows",
    "five a question, any rows",
    "five a question, whole questions",
)
Bools = NDArray[np.bool_]
Integers = NDArray[np.intp]
Ends = tuple[float, float] | None


class Setting(NamedTuple):
    """What a data set is drawn from."""

    n_labels: int
    sensitivity: float
    base_rate: float
    design: Design = "independent rows"


class DataSet(NamedTuple):
    """Labels of judge and people, which rows people labelled, and the question of each row."""

    judge: Bools
    human: Bools
    labelled: Bools
    question: Integers | None


def generator(*key: object) -> np.random.Generator:
    """Random numbers of their own for each line of a table."""
    return np.random.default_rng([SEED, *map(ord, str(key))])


def normals(random: np.random.Generator, design: Design) -> NDArray[np.float64]:
    """A standard normal variable for each row, correlated within questions where they have several rows."""
    own = random.standard_normal(N_ROWS)
    if design == "independent rows":
        return own
    shared = np.repeat(random.standard_normal(N_ROWS // ROWS_PER_QUESTION), ROWS_PER_QUESTION)
    return CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * own


def judged_by(random: np.random.Generator, human: Bools, sensitivity: float, design: Design) -> Bools:
    """Labels of a judge."""
    return human ^ (normals(random, design) < ndtri(np.where(human, 1 - sensitivity, 1 - SPECIFICITY)))


def draw(random: np.random.Generator, setting: Setting) -> DataSet:
    """One data set."""
    human = normals(random, setting.design) < ndtri(setting.base_rate)
    judge = judged_by(random, human, setting.sensitivity, setting.design)
    labelled = np.zeros(N_ROWS, bool)
    scattered = setting.design == "five a question, any rows"
    # Rows of one question lie together.
    labelled[random.permutation(N_ROWS)[: setting.n_labels] if scattered else slice(setting.n_labels)] = True
    question = None if setting.design == "independent rows" else np.arange(N_ROWS) // ROWS_PER_QUESTION
    return DataSet(judge, human, labelled, question)


def true_values(setting: Setting) -> dict[str, float]:
    """What each measure estimates."""
    rate, sensitivity = setting.base_rate, setting.sensitivity
    agreement = rate * sensitivity + (1 - rate) * SPECIFICITY
    judged = rate * sensitivity + (1 - rate) * (1 - SPECIFICITY)
    expected = rate * judged + (1 - rate) * (1 - judged)
    return {
        "agreement": agreement,
        "κ": (agreement - expected) / (1 - expected),
        "sensitivity": sensitivity,
        "specificity": SPECIFICITY,
        **dict.fromkeys(("Rogan–Gladen", "PPI++", "labelled alone", "chosen"), rate),
    }


def ends(measure: Measure | None) -> Ends:
    """Ends of the interval."""
    return None if measure is None else measure.interval


def intervals(data: DataSet) -> dict[str, Ends]:
    """The interval of each measure."""
    judge, human = data.judge[data.labelled], data.human[data.labelled]
    question = clusters_within(data.question, data.labelled)
    rates = pass_rates(*data)
    weights = kappa_weights(np.arange(2.0), "none")
    return {
        "agreement": ends(share_of(judge == human, question)),
        "κ": ends(cohen_kappa(judge.astype(np.intp), human.astype(np.intp), weights, question)),
        "sensitivity": ends(share_within(judge, human, question)) if human.any() else None,
        "specificity": ends(share_within(~judge, ~human, question)) if not human.all() else None,
        **{
            name: rate.interval
            for name, rate in zip(("Rogan–Gladen", "PPI++", "labelled alone"), rates[1:], strict=True)
        },
        "chosen": shortest(rates).interval,
    }


class Held(NamedTuple):
    """Of one measure: how often intervals hold the truth, are above it or below it, and are there at all."""

    share: float
    length: float
    above: float
    below: float
    shown: float

    @property
    def text(self) -> str:
        """The share, and in brackets how often there is an interval, where not always."""
        if not self.shown:
            return "–"
        shown = f" ({100 * self.shown:.0f} %)" if self.shown < 0.995 else ""
        return f"{100 * self.share:.1f}{shown}"

    @property
    def both_sides(self) -> str:
        """The share, and in brackets those of intervals that lie above the truth and below it."""
        return f"{100 * self.share:.1f} ({100 * self.above:.1f}, {100 * self.below:.1f})"


def held_of(
    truth: Mapping[str, float], found: Iterator[dict[str, Ends]], n: int = REPEATS
) -> dict[str, Held]:
    """How often the intervals hold, by measure."""
    kept: dict[str, list[tuple[float, ...]]] = {name: [] for name in truth}
    for _ in range(n):
        for name, interval in next(found).items():
            if interval is not None:
                low, high = interval
                above, below = low - 1e-12 > truth[name], high + 1e-12 < truth[name]
                kept[name].append((not above and not below, high - low, above, below))
    found_means: dict[str, Held] = {}
    for name, each in kept.items():
        share, length, above, below = np.mean(each or [(0.0,) * 4], axis=0).tolist()
        found_means[name] = Held(share, length, above, below, len(each) / n)
    return found_means


def measured(setting: Setting) -> dict[str, Held]:
    """How often the intervals of one setting hold."""
    random = generator(setting)
    return held_of(true_values(setting), (intervals(draw(random, setting)) for _ in range(REPEATS)))


def graded(random: np.random.Generator, truth: Integers, noise: float) -> Integers:
    """Grades by someone who errs from the truth by a normal variable, rounded."""
    return np.clip(np.round(truth + random.normal(0, noise, truth.size)), 0, 4).astype(np.intp)


def measures_of_grades(
    random: np.random.Generator, n: int, shares: tuple[float, ...]
) -> dict[str, Measure | None]:
    """κ and bias of a judge, and α of three people of whom each labels 80 % of the rows."""
    truth = random.choice(5, n, p=shares)
    judge, human = graded(random, truth, 0.8), graded(random, truth, 0.5)
    people = np.stack([human, graded(random, truth, 0.5), graded(random, truth, 0.9)], axis=1)
    people[random.random(people.shape) < 0.2] = -1
    kappas: tuple[KappaWeights, ...] = ("none", "linear", "quadratic")
    levels: tuple[AlphaLevel, ...] = ("nominal", "ordinal", "interval")
    return {
        **{f"κ, {weights}": cohen_kappa(judge, human, kappa_weights(GRADES, weights)) for weights in kappas},
        "bias": mean_bias(GRADES[judge], GRADES[human]),
        **{f"α, {level}": krippendorff_alpha(people, GRADES, level) for level in levels},
    }


def measured_grades(n: int, name: str) -> dict[str, Held]:
    """How often the intervals on five grades hold."""
    random, shares = generator("grades", n, name), SHARES_OF_GRADES[name]
    large = measures_of_grades(generator("truth", name), N_LARGE, shares)
    truth = {name: measure.value for name, measure in large.items() if measure is not None}
    return held_of(
        truth,
        (
            {name: ends(one) for name, one in measures_of_grades(random, n, shares).items()}
            for _ in range(REPEATS)
        ),
    )


def measured_grades_of_questions(n: int, name: str) -> list[Held]:
    """How often intervals of quadratic κ hold where questions are repeated: as shown, and on Fisher's z."""
    random, shares = generator("grades of questions", n, name), SHARES_OF_GRADES[name]
    weights = kappa_weights(GRADES, "quadratic")

    def labels(n: int, random: np.random.Generator) -> tuple[Integers, Integers]:
        truth = np.repeat(random.choice(5, n // ROWS_PER_QUESTION, p=shares), ROWS_PER_QUESTION)

        def given(noise: float) -> Integers:
            shared = np.repeat(random.standard_normal(n // ROWS_PER_QUESTION), ROWS_PER_QUESTION)
            error = CORRELATION**0.5 * shared + (1 - CORRELATION) ** 0.5 * random.standard_normal(n)
            return np.clip(np.round(truth + noise * error), 0, 4).astype(np.intp)

        return given(0.8), given(0.5)

    def found() -> Iterator[dict[str, Ends]]:
        question = np.arange(n) // ROWS_PER_QUESTION
        while True:
            judge, human = labels(n, random)
            kappa = cohen_kappa(judge, human, weights, question)
            z = on_fishers_z(kappa) if kappa is not None and kappa.interval is not None else None
            yield {"shown": ends(kappa), "z": z}

    large = cohen_kappa(*labels(N_LARGE, generator("truth of questions", name)), weights)
    value = 0.0 if large is None else large.value
    return list(held_of({"shown": value, "z": value}, found()).values())


def on_fishers_z(measure: Measure) -> Ends:
    """The interval as it would be on the scale of artanh, by its centre and half its length."""
    low, high = measure.interval or (-1.0, 1.0)
    centre = (low + high) / 2
    z, half = np.arctanh(centre), (high - low) / 2 / (1 - centre**2)
    return float(np.tanh(z - half)), float(np.tanh(z + half))


def foretold(setting: Setting, n_more: int) -> list[tuple[float, float]]:
    """Half the length of intervals with more labels: foretold from those at hand, and found.

    Of PPI++, of the labelled rows alone, and of the agreement.
    """
    random = generator("needed", setting)
    lengths: list[list[tuple[float, float]]] = []
    for _ in range(REPEATS // 2):
        data = draw(random, setting)
        curves = (
            *labels_for_pass_rate(*data),
            labels_for_share(data.judge == data.human, data.labelled, data.question),
        )
        found = intervals(draw(random, setting._replace(n_labels=n_more)))
        ends = (found[name] or (0.0, 0.0) for name in ("PPI++", "labelled alone", "agreement"))
        lengths.append(
            [
                (float(curve.half_width(np.array([float(n_more)]))[0]), (high - low) / 2)
                for curve, (low, high) in zip(curves, ends, strict=True)
            ]
        )
    return [(float(said), float(found)) for said, found in np.mean(np.array(lengths), axis=0)]


def contrasts(design: Design, n_labels: int, excess: float) -> tuple[float, float, float]:
    """Shares of data sets with a clear difference in agreement, in favour, and in what is labelled.

    Two tasks; in one of them the judge passes a further share `excess` of what people fail, and rows are
    labelled more often by as much.
    """
    random = generator("groups", design, n_labels, excess)
    clear: list[tuple[bool, bool, bool]] = []
    for _ in range(REPEATS // 2):
        data = draw(random, Setting(n_labels, 0.85, 0.7, design))
        per_task = ROWS_PER_QUESTION if design == "five a question, whole questions" else 1
        task = np.repeat(random.integers(0, 2, N_ROWS // per_task), per_task)
        judge = data.judge | (~data.human & (task == 0) & (random.random(N_ROWS) < excess))
        known = data.labelled
        groups: Groups = {"task": (("a", "b"), task[known])}
        cluster = clusters_within(data.question, known)
        agrees = contrast_groups((judge == data.human)[known], groups, cluster=cluster)
        favours = contrast_groups(judge[known], groups, data.human[known].astype(np.intp), cluster)
        p_values = [one.p for one in (*agrees, *favours)]
        corrected = holm(p_values)
        labelled = known | ((task == 0) & (random.random(N_ROWS) < excess))
        parts = contrast_groups(
            labelled,
            {"label": (("fail", "pass"), judge.astype(np.intp)), "task": (("a", "b"), task)},
            cluster=data.question,
        )
        clear.append(
            (
                any(p <= 0.05 for p in corrected[: len(agrees)]),
                any(p <= 0.05 for p in corrected[len(agrees) :]),
                any(part.is_clear for part in parts),
            )
        )
    of_agreement, of_favour, of_part = np.mean(np.array(clear), axis=0)
    return float(of_agreement), float(of_favour), float(of_part)


def leans(n_pairs: int, pull: float) -> float:
    """Share of data sets in which verdicts lean clearly to a place.

    A judge errs in 20 % of verdicts, and takes the first answer anyway in a share `pull`.
    """
    random = generator("order", n_pairs, pull)
    found = 0
    for _ in range(REPEATS):
        better = random.integers(0, 2, n_pairs) * 2 - 1

        def verdicts(place: Integers) -> Integers:
            said = np.where(random.random(n_pairs) < 0.2, -place, place)
            return np.where(random.random(n_pairs) < pull, 1, said)

        found += order_effect(verdicts(better), verdicts(-better)).p <= 0.05
    return found / REPEATS


def two_judges(setting: Setting, better: float) -> tuple[dict[str, Held], float]:
    """How often the intervals of differences between two judges hold, and agreement differs clearly."""
    random = generator("two", setting, better)
    second = setting._replace(sensitivity=min(setting.sensitivity + better, 0.99))
    truths = true_values(setting), true_values(second)
    names = ("agreement", "κ", "sensitivity", "specificity")
    truth = {name: truths[1][name] - truths[0][name] for name in names}
    clear: list[bool] = []

    def found() -> Iterator[dict[str, Ends]]:
        while True:
            data = draw(random, setting)
            known = data.labelled
            human = data.human[known]
            other = judged_by(random, data.human, second.sensitivity, setting.design)[known]
            question = clusters_within(data.question, known)
            first_, second_ = (judge_measures(judge, human, question) for judge in (data.judge[known], other))
            judged = np.bincount(np.concatenate([data.judge[known], other]), minlength=2) / (2 * human.size)
            rate = float(human.mean())
            one_more = {
                "agreement": 1.0,
                "κ": 1 / max(1 - float(judged @ (1 - rate, rate)), 1 / human.size),
                "sensitivity": 1 / max(rate, 1e-9),
                "specificity": 1 / max(1 - rate, 1e-9),
            }
            tests = {
                name: paired_test(
                    other_one.value - one.value,
                    other_one.influence - one.influence,
                    question,
                    one_more=one_more[name],
                )
                for name in names
                if (one := first_[name]) is not None and (other_one := second_[name]) is not None
            }
            clear.append(tests["agreement"].p <= 0.05)
            yield {name: (test.low, test.high) for name, test in tests.items()}

    return held_of(truth, found()), float(np.mean(clear))


def judge_measures(judge: Bools, human: Bools, question: Integers | None) -> dict[str, Measure | None]:
    """What two judges are compared by."""
    weights = kappa_weights(np.arange(2.0), "none")
    return {
        "agreement": share_of(judge == human, question),
        "κ": cohen_kappa(judge.astype(np.intp), human.astype(np.intp), weights, question),
        "sensitivity": share_within(judge, human, question) if human.any() else None,
        "specificity": share_within(~judge, ~human, question) if not human.all() else None,
    }


def without_limits(setting: Setting) -> dict[str, Held]:
    """How often intervals hold that are not shown: without rows added, ± z, and of too few questions."""
    random, truth = generator("limits", setting), true_values(setting)
    names = {
        "κ, no rows added": "κ",
        "PPI++ ± z": "PPI++",
        "κ": "κ",
        "Rogan–Gladen": "PPI++",
        "PPI++": "PPI++",
    }

    def found() -> Iterator[dict[str, Ends]]:
        while True:
            data = draw(random, setting)
            known = data.labelled
            judge, human = data.judge[known].astype(np.intp), data.human[known].astype(np.intp)
            question = clusters_within(data.question, known)
            kappa = cohen_kappa(judge, human, kappa_weights(np.arange(2.0), "none"), question)
            _, rogan, ppi, _ = pass_rates(*data)
            plain = plain_interval(ppi.weight or 0.0, data) if question is None else None
            yield {
                "κ, no rows added": around(kappa) if question is None and kappa is not None else None,
                "PPI++ ± z": plain,
                "κ": ends(kappa),
                "Rogan–Gladen": rogan.interval,
                "PPI++": ppi.interval,
            }

    with (
        patch("calib_core.inference.agreement.MIN_QUESTIONS", 1),
        patch("calib_core.inference.agreement.MIN_QUESTIONS_OF_RARER_LABEL", 1),
        patch("calib_core.inference.pass_rate.MIN_OF_EACH_LABEL", 1),
    ):
        return held_of({name: truth[of] for name, of in names.items()}, found())


def around(measure: Measure) -> Ends:
    """A value ± 1.96 standard errors, from the influence of its rows."""
    half = Z_975 * float((measure.influence**2).mean() / measure.n) ** 0.5
    return measure.value - half, measure.value + half


def plain_interval(weight: float, data: DataSet) -> Ends:
    """The interval of ppi-python: PPI++ ± 1.96 standard errors."""
    known = data.labelled
    rest, rectified = data.judge[~known], data.human[known] - weight * data.judge[known]
    value = weight * float(rest.mean()) + float(rectified.mean())
    half = (
        Z_975 * (weight**2 * float(rest.var()) / rest.size + float(rectified.var()) / rectified.size) ** 0.5
    )
    return value - half, value + half


def ranges(all_held: list[dict[str, Held]], least_shown: float = 0.05) -> dict[str, str]:
    """The lowest and highest coverage of each measure where it is shown."""
    found: dict[str, str] = {}
    for name in all_held[0]:
        shares = [one[name].share for one in all_held if one[name].shown >= least_shown]
        found[name] = f"{100 * min(shares):.1f} to {100 * max(shares):.1f}" if shares else "–"
    return found


def coverage() -> Iterator[str]:
    """Intervals of all measures, by how rows are labelled."""
    names = tuple(true_values(Setting(50, 0.5, 0.5)))
    all_lines: dict[Design, list[dict[str, Held]]] = {}
    for design in DESIGNS:
        lines = all_lines.setdefault(design, [])

        def row(setting: Setting, lines: list[dict[str, Held]] = lines) -> tuple[str, ...]:
            held = measured(setting)
            lines.append(held)
            length = held["chosen"].length / held["labelled alone"].length
            given = str(setting.n_labels), f"{setting.sensitivity:g}", f"{setting.base_rate:g}"
            return (*given, *(one.text for one in held.values()), f"{length:.2f}")

        yield from ("", f"## Intervals that hold the truth: {design}", "")
        yield (
            "In percent of the data sets that have an interval; in brackets how many have one. Chosen: the "
            "shorter of PPI++ and the labelled rows alone. Length: that of the chosen interval against that "
            "of the labelled rows alone."
        )
        yield ""
        n_labels = MORE_LABELS if design == DESIGNS[-1] else LABELS
        yield from table(
            ("labels", "sensitivity", "pass", *names, "length"),
            (row(Setting(*each, design)) for each in product(n_labels, SENSITIVITIES, BASE_RATES)),
            0,
        )
    yield from ("", "Lowest and highest, of lines in which at least 5 % of data sets have an interval:", "")
    yield from table(
        ("rows", *names), ((design, *ranges(lines).values()) for design, lines in all_lines.items())
    )


def grades() -> Iterator[str]:
    """κ, bias and α of five grades."""
    yield from ("", "## Grades from 1 to 5, and α between three people", "")
    yield (
        "Shares of the grades even, or mostly 5. The judge errs by a normal variable of .8, people by .5, .5 "
        f"and .9, each of whom labels 80 % of the rows. κ and α have {ADDED_ROWS} rows added to their table; "
        f"by squared distances {ADDED_ROWS_OF_SQUARES}, on the scale of Fisher's z. "
        "In brackets the intervals that lie above the truth, and below it."
    )
    yield ""
    kappas = (f"κ, {weights}" for weights in ("none", "linear", "quadratic"))
    alphas = (f"α, {level}" for level in ("nominal", "ordinal", "interval"))
    yield from table(
        ("grades", "labels", *kappas, "bias", *alphas),
        (
            (name, str(n), *(one.both_sides for one in measured_grades(n, name).values()))
            for name in SHARES_OF_GRADES
            for n in LABELS
        ),
    )


def grades_of_questions() -> Iterator[str]:
    """Quadratic κ where questions are repeated."""
    yield from ("", "## Grades from 1 to 5 of repeated questions", "")
    yield (
        f"Quadratic κ of whole questions, {ROWS_PER_QUESTION} rows each of one true grade, on which errors "
        f"are correlated ({CORRELATION}). In brackets the intervals that lie above the truth, and below it."
    )
    yield ""
    yield from table(
        ("grades", "labels", "κ, quadratic", "on Fisher's z, which is not shown"),
        (
            (name, str(n), *(one.both_sides for one in measured_grades_of_questions(n, name)))
            for name in SHARES_OF_GRADES
            for n in (200, 400)
        ),
    )


def labels_needed() -> Iterator[str]:
    """What more labels would bring."""
    yield from ("", "## Labels needed", "")
    yield (
        "Half the length of intervals with more labels, in points: predicted from the labels already "
        f"given / found; means over {REPEATS // 2:,} data sets. Sensitivity .85."
    )
    yield ""
    yield from table(
        ("rows", "pass", "labels given", "labels more", "PPI++", "labelled alone", "agreement"),
        (
            (
                design,
                f"{rate:g}",
                str(n),
                str(n_more),
                *(f"{100 * said:.1f} / {100 * found:.1f}" for said, found in foretold(setting, n_more)),
            )
            for design in DESIGNS
            for rate in (0.5, 0.8)
            for n, n_more in ((50, 200), (100, 400), (200, 600))
            for setting in [Setting(n, 0.85, rate, design)]
        ),
    )


def groups() -> Iterator[str]:
    """Differences between groups that are clear, with and without one."""
    yield from ("", "## Groups", "")
    yield (
        "Two tasks; in one of them the judge passes a further share of what people fail, and people label as "
        f"many more of its rows. Clear: below .05 after Holm, of {REPEATS // 2} data sets; without an excess "
        "these are false alarms. Agreement and favour are corrected together; groups of fewer than 30 "
        "labelled questions are not compared. Sensitivity .85, 70 % pass."
    )
    yield ""
    yield from table(
        ("rows", "labels", "excess", "agreement differs", "favours", "labels no random part"),
        (
            (design, str(n), f"{excess:g}", *map(percent, contrasts(design, n, excess)))
            for design in DESIGNS
            for n in (200, 400)
            for excess in (0.0, 0.1, 0.4)
        ),
    )


def orders() -> Iterator[str]:
    """Verdicts that turn with the order."""
    yield from ("", "## Both orders", "")
    yield (
        "Share of data sets in which verdicts clearly favour a place: a judge that errs in 20 % of its "
        "verdicts, and takes the first answer anyway in a share of them."
    )
    yield ""
    yield from table(
        ("pairs", "takes the first anyway", "clear"),
        ((str(n), f"{pull:g}", percent(leans(n, pull))) for n in (30, 100, 300) for pull in (0.0, 0.1, 0.3)),
        0,
    )


def judges() -> Iterator[str]:
    """Two judges on the same rows."""
    yield from ("", "## Two judges", "")
    yield (
        "Intervals of the second minus the first that hold the true difference, in percent, and how often "
        "agreement differs clearly; the second has a higher sensitivity or is as good."
    )
    yield ""

    def row(setting: Setting, better: float) -> tuple[str, ...]:
        held, clear = two_judges(setting, better)
        given = setting.design, str(setting.n_labels), f"{setting.base_rate:g}", f"{better:g}"
        return (*given, *(one.text for one in held.values()), percent(clear))

    yield from table(
        ("rows", "labels", "pass", "better by", "agreement", "κ", "sensitivity", "specificity", "clear"),
        (
            row(Setting(n, 0.85, rate, design), better)
            for design in DESIGNS
            for n in ((200, 400) if design == DESIGNS[-1] else (100, 200))
            for rate in (0.5, 0.95)
            for better in (0.0, 0.1)
        ),
    )


def not_shown() -> Iterator[str]:
    """What the limits and the added rows are for."""
    yield from ("", "## Intervals that are not shown", "")
    yield (
        "Independent rows: κ ± 1.96 standard errors without rows added, and PPI++ ± 1.96 standard errors, as "
        "ppi-python gives it; then Rogan–Gladen where people gave a label fewer than 5 times, too. Whole "
        "questions: κ, Rogan–Gladen and PPI++ of 20 questions."
    )
    yield ""
    names = ("κ, no rows added", "PPI++ ± z", "κ", "Rogan–Gladen", "PPI++")
    yield from table(
        ("rows", "labels", "sensitivity", "pass", *names),
        (
            (
                design,
                str(n),
                f"{sensitivity:g}",
                f"{rate:g}",
                *(one.text for one in without_limits(Setting(n, sensitivity, rate, design)).values()),
            )
            for design in (DESIGNS[0], DESIGNS[-1])
            for n in (50 if design == DESIGNS[0] else 100,)
            for sensitivity, rate in product(SENSITIVITIES, BASE_RATES)
        ),
    )


def page() -> Iterator[str]:
    """The page, line by line as it is measured."""
    yield "# A judge against people"
    yield ""
    yield (
        f"Written by `python benchmarks/judge.py`: seed {SEED}; {REPEATS:,} data sets a line unless said "
        f"otherwise, so a coverage of 95 % is known to ± {points_known(0.95, REPEATS)} points at 95 %. A "
        f"judge with a specificity of {SPECIFICITY:g} labels {N_ROWS:,} rows, people some of them. Where "
        f"questions have {ROWS_PER_QUESTION} rows, truth and errors of these are correlated "
        f"({CORRELATION:g} between the normal variables behind them); people then label any rows, or whole "
        "questions. An interval that did not hold is not given: κ, Rogan–Gladen and PPI++ where some of "
        "fewer than 30 labelled questions are repeated, Rogan–Gladen where people gave a label fewer than "
        "5 times or sensitivity + specificity − 1 is not clearly above 0."
    )
    yield date_line()
    for section in (coverage, not_shown, grades, grades_of_questions, labels_needed, groups, orders, judges):
        yield from section()


if __name__ == "__main__":
    write_page(__file__, page())
