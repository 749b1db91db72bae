"""Where does this question's confidence come from?  Its clusters, and the three formulas in numbers.

Wang et al., arXiv 2403.09849: F_CN = 1 − |C|/N, F_CS = n_i/N, F_PC = Π_{j≠i} n_i/(n_i + n_j).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType
from typing import Final

import numpy as np
import polars as pl

from calib_core.analysis.questions import title_of
from calib_core.analysis.samples_draws import SELF_CONSISTENCY
from calib_core.confidence import METHODS
from calib_core.confidence.clusters import sample_texts
from calib_core.confidence.columns import column
from calib_core.confidence.method import Unparseable
from calib_core.confidence.subsets import ABSENT, UNPARSED, SampleCodes
from calib_core.problems import shorten
from calib_core.records import AnswerRun

OFFERED: Final = 500
"""So many questions are offered to choose from."""

_JUDGED: Final[Mapping[int, bool]] = MappingProxyType({0: False, 1: True})

_NAME: Final = 60
"""Letters of a question in its title."""

_UNREAD: Final[Mapping[Unparseable, tuple[str, str]]] = MappingProxyType({
    "own": ("does not parse, a cluster by itself", "do not parse, each a cluster by itself"),
    "one": ("does not parse, a cluster by itself", "do not parse, one cluster together"),
    "drop": ("does not parse, left out of N", "do not parse, left out of N"),
})
"""What becomes of a sample that does not parse, and of several."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Samples with one answer. answer: as first sampled; right: None where that is not known."""

    answer: str
    size: int
    right: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class QuestionClusters:
    """The samples of one question.

    row: its record number in the file; clusters: of samples that parse, the largest first, of equally large
    ones that sampled first: the first is chosen; tied: how many others are as large as the chosen one;
    unparsed: samples that do not parse, which make clusters as `rule` says; counted: N; number: |C|; sizes:
    N, |C|, n_i and every n_j, in a line; values: method → its confidence, None where there is none; worked:
    method → how it follows, in numbers; gold: None where the file does not say it.
    """

    run: str
    row: int
    title: str
    gold: str | None
    clusters: tuple[Cluster, ...]
    tied: int
    unparsed: int
    rule: Unparseable
    counted: int
    number: int
    sizes: str
    values: Mapping[str, float | None]
    worked: Mapping[str, str]
    reading: str

    @property
    def unread(self) -> str:
        """What becomes of the samples that do not parse: "do not parse, left out of N"."""
        return _UNREAD[self.rule][self.unparsed > 1]

    def to_frame(self) -> pl.DataFrame:
        """One row a cluster: answer, samples, chosen, right; those that do not parse are the last row."""
        return pl.DataFrame(
            [
                *((each.answer, each.size, at == 0, each.right) for at, each in enumerate(self.clusters)),
                *([(self.unread, self.unparsed, False, None)] if self.unparsed else []),
            ],
            schema={"answer": pl.String, "samples": pl.Int64, "chosen": pl.Boolean, "right": pl.Boolean},
            orient="row",
        )


def questions(run: AnswerRun, coded: SampleCodes) -> tuple[list[int], list[str]]:
    """The first OFFERED questions with samples: positions in the run, and a title each.

    A title has what one looks for: how many agree, a tie, samples that do not parse.
    """
    places = np.flatnonzero(coded.counted > 0)[:OFFERED].tolist()
    return places, [f"{_name(run, place)} · {_summary(coded, place)}" for place in places]


def typical(coded: SampleCodes, places: Sequence[int]) -> int:
    """Which of these (from 0) to open on: the first whose agreement is nearest to the average of all."""
    agreed = np.array([max(_sizes(coded, at)[0], default=0) / int(coded.counted[at]) for at in places])
    return int(np.argmin(np.abs(agreed - agreed.mean()))) if places else 0


def _name(run: AnswerRun, place: int) -> str:
    text: str | None = column(run, "question")[place] or column(run, "id")[place]
    return title_of(run.rows["row"][place], text, _NAME)


def _summary(coded: SampleCodes, place: int) -> str:
    """"9 of 16 agree, a tie, 2 do not parse"."""
    sizes, unparsed, _ = _sizes(coded, place)
    most = max(sizes, default=0)
    words = [f"{most} of {int(coded.counted[place])} agree"]
    words += ["a tie"] if sizes.count(most) > 1 else []
    words += [f"{unparsed} do{'es' if unparsed == 1 else ''} not parse"] if unparsed else []
    return ", ".join(words)


def _sizes(coded: SampleCodes, place: int) -> tuple[list[int], int, list[int]]:
    """Sizes of the clusters in sampling order, samples that do not parse, and each cluster's first sample."""
    code = coded.code[place]
    code = code[code != ABSENT]
    parsed = code[code != UNPARSED]
    sizes: list[int] = np.bincount(parsed).tolist() if parsed.size else []
    return sizes, int((code == UNPARSED).sum()), [int(np.argmax(code == at)) for at in range(len(sizes))]


def question_clusters(
    run: AnswerRun, coded: SampleCodes, place: int, rule: Unparseable = "own"
) -> QuestionClusters:
    """The clusters of the question at this position of `run.rows`, which has samples.

    coded: `subsets.codes` of the same run and rule. Raises IndexError for a position that does not exist.
    """
    sizes, unparsed, first = _sizes(coded, place)
    held: pl.Series | None = sample_texts(run)[place]
    texts = [] if held is None else held.to_list()
    order = sorted(range(len(sizes)), key=lambda at: -sizes[at])
    clusters = tuple(
        Cluster(_answer(texts, first[at], at), sizes[at], _JUDGED.get(int(coded.correct[place, at])))
        for at in order
    )
    alone = {"own": [1] * unparsed, "one": [unparsed] if unparsed else [], "drop": []}[rule]
    others = [*(each.size for each in clusters[1:]), *alone]
    counted = sum(sizes) + sum(alone)
    largest = clusters[0].size if clusters and counted > 1 else 0
    values, worked = _confidences(largest, others, counted)
    tied = sum(each.size == largest for each in clusters[1:])
    return QuestionClusters(
        run=run.label,
        row=run.rows["row"][place],
        title=_name(run, place),
        gold=_gold(run, place),
        clusters=clusters,
        tied=tied,
        unparsed=unparsed,
        rule=rule,
        counted=counted,
        number=len(sizes) + len(alone),
        sizes=_told(counted, len(sizes) + len(alone), clusters[0].size if clusters else 0, others),
        values=MappingProxyType(values),
        worked=MappingProxyType(worked),
        reading=_reading(clusters, tied, unparsed, counted, rule),
    )


def _answer(texts: Sequence[str | None], at: int, cluster: int) -> str:
    """The answer as sampled; a file may have the clusters without the samples."""
    text = texts[at] if at < len(texts) else None
    return text or f"cluster {cluster + 1}"


def _gold(run: AnswerRun, place: int) -> str | None:
    several: pl.Series | None = column(run, "gold_all")[place]
    listed = [] if several is None else several.drop_nulls().to_list()
    return column(run, "gold")[place] or ", ".join(listed) or None


def _told(counted: int, number: int, largest: int, others: Sequence[int]) -> str:
    """"N = 16, |C| = 4, n_i = 9 (chosen), n_j = 5, 1 (twice)"."""
    often = {1: "", 2: " (twice)"}
    apart = [
        f"{size}{often.get(times, f' ({times} times)')}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    parts = [f"N = {counted}", f"|C| = {number}"]
    parts += [f"n_i = {largest} (chosen)"] if largest else []
    return ", ".join([*parts, *([f"n_j = {', '.join(apart)}"] if apart and largest else [])])


def _confidences(
    largest: int, others: Sequence[int], counted: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Each method's confidence and how it follows; largest: n_i, 0 where there is no confidence."""
    if not largest:
        why = "no sample parses" if counted != 1 else "one sample only"
        return dict.fromkeys(SELF_CONSISTENCY), dict.fromkeys(SELF_CONSISTENCY, f"no confidence: {why}")
    number = 1 + len(others)
    product = math.prod((Fraction(largest, largest + size) for size in others), start=Fraction(1))
    exact = (Fraction(counted - number, counted), Fraction(largest, counted), product)
    steps = (
        f"1 − |C|/N = 1 − {number}/{counted}",
        f"n_i/N = {largest}/{counted}",
        _product(largest, others),
    )
    told = list(zip(SELF_CONSISTENCY, steps, exact, strict=True))
    return (
        {id_: float(value) for id_, _, value in told},
        {id_: f"{METHODS[id_].brief} = {step} {_equals(value)}" for id_, step, value in told},
    )


def _product(largest: int, others: Sequence[int]) -> str:
    """"9/(9+4) · (9/(9+1))^3": equal factors are told once."""
    if not others:
        return "the empty product, as there is one cluster only"
    factors = [
        f"{largest}/({largest}+{size})" if times == 1 else f"({largest}/({largest}+{size}))^{times}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    return f"Π n_i/(n_i+n_j) = {' · '.join(factors)}"


def _equals(value: Fraction) -> str:
    """"= 0.5625", "≈ 0.4248", or three digits of a value that has no four decimals."""
    told = f"{float(value):.4f}" if value == 0 or value >= Fraction(1, 1000) else f"{float(value):.3g}"
    return f"{'=' if Fraction(told) == value else '≈'} {told}"


def _reading(
    clusters: Sequence[Cluster], tied: int, unparsed: int, counted: int, rule: Unparseable
) -> str:
    """What was chosen, whether it is right, ties, and what does not parse."""
    rest = f" {unparsed} {_UNREAD[rule][unparsed > 1]}." if unparsed else ""
    if not clusters:
        return f"No sample parses, so there is no majority answer.{rest}"
    chosen = clusters[0]
    judged = {True: ", which is right", False: ", which is wrong", None: ""}[chosen.right]
    others = f"{tied} others are" if tied > 1 else "1 other is"
    tie = f" {others} as large: the one sampled first is taken." if tied else ""
    agree = f"{chosen.size} of {counted} samples"
    return f"Chosen: “{shorten(chosen.answer, _NAME)}” with {agree}{judged}.{tie}{rest}"
