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

from calib_core.errors import shorten
from calib_core.methods import METHODS
from calib_core.methods.answers.cluster import ABSENT_CODE, sample_texts
from calib_core.methods.answers.subsample import SampleMatrix
from calib_core.methods.answers.unparseable import UNPARSED_CODE, UnparseableRule
from calib_core.methods.columns import column
from calib_core.results.questions import question_title
from calib_core.results.sampling import SELF_CONSISTENCY_METHODS
from calib_core.runs import AnswerRun

MAX_OFFERED_QUESTIONS: Final = 500
"""So many questions are offered to choose from."""

_OUTCOME_OF_CODE: Final[Mapping[int, bool]] = MappingProxyType({0: False, 1: True})

_MAX_TITLE_LETTERS: Final = 60
"""Letters of a question in its title."""

_UNPARSED_TEXT: Final[Mapping[UnparseableRule, tuple[str, str]]] = MappingProxyType(
    {
        "own": ("does not parse, a cluster by itself", "do not parse, each a cluster by itself"),
        "one": ("does not parse, a cluster by itself", "do not parse, one cluster together"),
        "drop": ("does not parse, left out of N", "do not parse, left out of N"),
    }
)
"""What becomes of a sample that does not parse, and of several."""


@dataclass(frozen=True, slots=True)
class AnswerCluster:
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
    clusters: tuple[AnswerCluster, ...]
    n_tied: int
    n_unparsed: int
    unparseable: UnparseableRule
    n_samples: int
    n_clusters: int
    sizes_text: str
    confidences: Mapping[str, float | None]
    derivations: Mapping[str, str]
    headline: str

    @property
    def unparsed_text(self) -> str:
        """What becomes of the samples that do not parse: "do not parse, left out of N"."""
        return _UNPARSED_TEXT[self.unparseable][self.n_unparsed > 1]

    def to_frame(self) -> pl.DataFrame:
        """One row a cluster: answer, samples, chosen, right; those that do not parse are the last row."""
        return pl.DataFrame(
            [
                *((each.answer, each.size, at == 0, each.right) for at, each in enumerate(self.clusters)),
                *([(self.unparsed_text, self.n_unparsed, False, None)] if self.n_unparsed else []),
            ],
            schema={"answer": pl.String, "samples": pl.Int64, "chosen": pl.Boolean, "right": pl.Boolean},
            orient="row",
        )


def sampled_question_titles(run: AnswerRun, sample_codes: SampleMatrix) -> tuple[list[int], list[str]]:
    """The first OFFERED questions with samples: positions in the run, and a title each.

    A title has what one looks for: how many agree, a tie, samples that do not parse.
    """
    places = np.flatnonzero(sample_codes.n_samples > 0)[:MAX_OFFERED_QUESTIONS].tolist()
    return places, [
        f"{_title_of_question(run, place)} · {_agreement_summary(sample_codes, place)}" for place in places
    ]


def typical_question(sample_codes: SampleMatrix, positions: Sequence[int]) -> int:
    """Which of these (from 0) to open on: the first whose agreement is nearest to the average of all."""
    agreed = np.array(
        [
            max(_cluster_sizes(sample_codes, at)[0], default=0) / int(sample_codes.n_samples[at])
            for at in positions
        ]
    )
    return int(np.argmin(np.abs(agreed - agreed.mean()))) if positions else 0


def _title_of_question(run: AnswerRun, position: int) -> str:
    text: str | None = column(run, "question")[position] or column(run, "id")[position]
    return question_title(run.rows["row"][position], text, _MAX_TITLE_LETTERS)


def _agreement_summary(sample_codes: SampleMatrix, position: int) -> str:
    """ "9 of 16 agree, a tie, 2 do not parse"."""
    sizes, unparsed, _ = _cluster_sizes(sample_codes, position)
    most = max(sizes, default=0)
    words = [f"{most} of {int(sample_codes.n_samples[position])} agree"]
    words += ["a tie"] if sizes.count(most) > 1 else []
    words += [f"{unparsed} do{'es' if unparsed == 1 else ''} not parse"] if unparsed else []
    return ", ".join(words)


def _cluster_sizes(sample_codes: SampleMatrix, position: int) -> tuple[list[int], int, list[int]]:
    """Sizes of the clusters in sampling order, samples that do not parse, and each cluster's first sample."""
    code = sample_codes.codes[position]
    code = code[code != ABSENT_CODE]
    parsed = code[code != UNPARSED_CODE]
    sizes: list[int] = np.bincount(parsed).tolist() if parsed.size else []
    return sizes, int((code == UNPARSED_CODE).sum()), [int(np.argmax(code == at)) for at in range(len(sizes))]


def question_clusters(
    run: AnswerRun, sample_codes: SampleMatrix, position: int, unparseable: UnparseableRule = "own"
) -> QuestionClusters:
    """The clusters of the question at this position of `run.rows`, which has samples.

    coded: `subsets.codes` of the same run and rule. Raises IndexError for a position that does not exist.
    """
    sizes, unparsed, first = _cluster_sizes(sample_codes, position)
    held: pl.Series | None = sample_texts(run)[position]
    texts = [] if held is None else held.to_list()
    order = sorted(range(len(sizes)), key=lambda at: -sizes[at])
    clusters = tuple(
        AnswerCluster(
            _cluster_answer(texts, first[at], at),
            sizes[at],
            _OUTCOME_OF_CODE.get(int(sample_codes.cluster_correct[position, at])),
        )
        for at in order
    )
    alone = {"own": [1] * unparsed, "one": [unparsed] if unparsed else [], "drop": []}[unparseable]
    others = [*(each.size for each in clusters[1:]), *alone]
    counted = sum(sizes) + sum(alone)
    largest = clusters[0].size if clusters and counted > 1 else 0
    values, worked = _worked_confidences(largest, others, counted)
    tied = sum(each.size == largest for each in clusters[1:])
    return QuestionClusters(
        run=run.label,
        row=run.rows["row"][position],
        title=_title_of_question(run, position),
        gold=_gold_text(run, position),
        clusters=clusters,
        n_tied=tied,
        n_unparsed=unparsed,
        unparseable=unparseable,
        n_samples=counted,
        n_clusters=len(sizes) + len(alone),
        sizes_text=_sizes_text(counted, len(sizes) + len(alone), clusters[0].size if clusters else 0, others),
        confidences=MappingProxyType(values),
        derivations=MappingProxyType(worked),
        headline=_clusters_headline(clusters, tied, unparsed, counted, unparseable),
    )


def _cluster_answer(texts: Sequence[str | None], sample_index: int, cluster_index: int) -> str:
    """The answer as sampled; a file may have the clusters without the samples."""
    text = texts[sample_index] if sample_index < len(texts) else None
    return text or f"cluster {cluster_index + 1}"


def _gold_text(run: AnswerRun, position: int) -> str | None:
    several: pl.Series | None = column(run, "gold_all")[position]
    listed = [] if several is None else several.drop_nulls().to_list()
    return column(run, "gold")[position] or ", ".join(listed) or None


def _sizes_text(n_samples: int, n_clusters: int, largest: int, others: Sequence[int]) -> str:
    """ "N = 16, |C| = 4, n_i = 9 (chosen), n_j = 5, 1 (twice)"."""
    often = {1: "", 2: " (twice)"}
    apart = [
        f"{size}{often.get(times, f' ({times} times)')}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    parts = [f"N = {n_samples}", f"|C| = {n_clusters}"]
    parts += [f"n_i = {largest} (chosen)"] if largest else []
    return ", ".join([*parts, *([f"n_j = {', '.join(apart)}"] if apart and largest else [])])


def _worked_confidences(
    largest: int, others: Sequence[int], n_samples: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Each method's confidence and how it follows; largest: n_i, 0 where there is no confidence."""
    if not largest:
        why = "no sample parses" if n_samples != 1 else "one sample only"
        return dict.fromkeys(SELF_CONSISTENCY_METHODS), dict.fromkeys(
            SELF_CONSISTENCY_METHODS, f"no confidence: {why}"
        )
    number = 1 + len(others)
    product = math.prod((Fraction(largest, largest + size) for size in others), start=Fraction(1))
    exact = (Fraction(n_samples - number, n_samples), Fraction(largest, n_samples), product)
    steps = (
        f"1 − |C|/N = 1 − {number}/{n_samples}",
        f"n_i/N = {largest}/{n_samples}",
        _pairwise_product_text(largest, others),
    )
    told = list(zip(SELF_CONSISTENCY_METHODS, steps, exact, strict=True))
    return (
        {id_: float(value) for id_, _, value in told},
        {id_: f"{METHODS[id_].short_title} = {step} {_equals_text(value)}" for id_, step, value in told},
    )


def _pairwise_product_text(largest: int, others: Sequence[int]) -> str:
    """ "9/(9+4) · (9/(9+1))^3": equal factors are told once."""
    if not others:
        return "the empty product, as there is one cluster only"
    factors = [
        f"{largest}/({largest}+{size})" if times == 1 else f"({largest}/({largest}+{size}))^{times}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    return f"Π n_i/(n_i+n_j) = {' · '.join(factors)}"


def _equals_text(value: Fraction) -> str:
    """ "= 0.5625", "≈ 0.4248", or three digits of a value that has no four decimals."""
    told = f"{float(value):.4f}" if value == 0 or value >= Fraction(1, 1000) else f"{float(value):.3g}"
    return f"{'=' if Fraction(told) == value else '≈'} {told}"


def _clusters_headline(
    clusters: Sequence[AnswerCluster],
    n_tied: int,
    n_unparsed: int,
    n_samples: int,
    unparseable: UnparseableRule,
) -> str:
    """What was chosen, whether it is right, ties, and what does not parse."""
    rest = f" {n_unparsed} {_UNPARSED_TEXT[unparseable][n_unparsed > 1]}." if n_unparsed else ""
    if not clusters:
        return f"No sample parses, so there is no majority answer.{rest}"
    chosen = clusters[0]
    judged = {True: ", which is right", False: ", which is wrong", None: ""}[chosen.right]
    others = f"{n_tied} others are" if n_tied > 1 else "1 other is"
    tie = f" {others} as large: the one sampled first is taken." if n_tied else ""
    agree = f"{chosen.size} of {n_samples} samples"
    return f"Chosen: “{shorten(chosen.answer, _MAX_TITLE_LETTERS)}” with {agree}{judged}.{tie}{rest}"
