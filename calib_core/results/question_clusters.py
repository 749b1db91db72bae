"""Where does a question's self-consistency come from? Its answer clusters, and the formulas in numbers.

Wang et al., arXiv 2403.09849: F_CN = 1 − |C|/N, F_CS = n_i/N, F_PC = Π_{j≠i} n_i/(n_i + n_j), where n_i
is the size of the largest of |C| clusters of N samples.
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
from calib_core.results.columns import Column, frame_of
from calib_core.results.questions import question_title
from calib_core.results.sampling import SELF_CONSISTENCY_METHODS
from calib_core.runs import AnswerRun

CLUSTER_COLUMNS: Final = (
    Column("answer", "Sampled answer"),
    Column("samples", "Samples", "count"),
    Column("chosen", dtype=pl.Boolean),
    Column("right", "Judged", dtype=pl.Boolean),
)
"""The columns of the table of clusters."""

MAX_OFFERED_QUESTIONS: Final = 500
"""Number of questions offered to choose from."""

_OUTCOME_OF_CODE: Final[Mapping[int, bool]] = MappingProxyType({0: False, 1: True})

_MAX_TITLE_LETTERS: Final = 60
"""Characters of a question in its title."""

_UNPARSED_TEXT: Final[Mapping[UnparseableRule, tuple[str, str]]] = MappingProxyType(
    {
        "own": ("does not parse, a separate cluster", "do not parse, each a separate cluster"),
        "one": ("does not parse, a separate cluster", "do not parse, one cluster together"),
        "drop": ("does not parse, left out of N", "do not parse, left out of N"),
    }
)
"""Rule → what happens to one sample that does not parse, and to several."""


@dataclass(frozen=True, slots=True)
class AnswerCluster:
    """Samples with the same answer.

    Attributes
    ----------
    answer : str
        As first sampled.
    size : int
    right : bool or None
        None where not known.
    """

    answer: str
    size: int
    right: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class QuestionClusters:
    """The samples of one question.

    Attributes
    ----------
    run : str
    row : int
        Record number in the file.
    title : str
    gold : str or None
        None where the file does not give it.
    clusters : tuple[AnswerCluster, ...]
        Of the samples that parse, largest first, ties in order of sampling; the first is the chosen answer.
    n_tied : int
        Number of other clusters as large as the chosen one.
    n_unparsed : int
        Number of samples that do not parse; `unparseable` says whether they form clusters.
    unparseable : UnparseableRule
    n_samples : int
        N.
    n_clusters : int
        |C|, the number of clusters.
    sizes_text : str
        N, |C|, n_i and every n_j in one line.
    confidences : Mapping[str, float or None]
        Method id → confidence.
    derivations : Mapping[str, str]
        Method id → the formula in numbers.
    headline : str
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
        """What happens to the samples that do not parse, such as "do not parse, left out of N"."""
        return _UNPARSED_TEXT[self.unparseable][self.n_unparsed > 1]

    def to_frame(self) -> pl.DataFrame:
        """One row for each cluster; the last row is for unparsed samples."""
        rows = [
            {"answer": each.answer, "samples": each.size, "chosen": index == 0, "right": each.right}
            for index, each in enumerate(self.clusters)
        ]
        if self.n_unparsed:
            rows.append({"answer": self.unparsed_text, "samples": self.n_unparsed, "chosen": False})
        return frame_of(CLUSTER_COLUMNS, rows)


def sampled_question_titles(run: AnswerRun, sample_codes: SampleMatrix) -> tuple[list[int], list[str]]:
    """The first `MAX_OFFERED_QUESTIONS` questions with samples.

    Returns
    -------
    positions : list[int]
        Row positions in the run.
    titles : list[str]
        Each with how many samples agree, a tie, and samples that do not parse.
    """
    positions = np.flatnonzero(sample_codes.n_samples > 0)[:MAX_OFFERED_QUESTIONS].tolist()
    return positions, [
        f"{_title_of_question(run, position)} · {_agreement_summary(sample_codes, position)}"
        for position in positions
    ]


def typical_question(sample_codes: SampleMatrix, positions: Sequence[int]) -> int:
    """Index among these positions of the first question whose agreement is nearest to the mean."""
    agreement = np.array(
        [
            max(_cluster_sizes(sample_codes, position)[0], default=0) / int(sample_codes.n_samples[position])
            for position in positions
        ]
    )
    return int(np.argmin(np.abs(agreement - agreement.mean()))) if positions else 0


def _title_of_question(run: AnswerRun, position: int) -> str:
    text: str | None = column(run, "question")[position] or column(run, "id")[position]
    return question_title(run.rows["row"][position], text, _MAX_TITLE_LETTERS)


def _agreement_summary(sample_codes: SampleMatrix, position: int) -> str:
    """ "9 of 16 agree, a tie, 2 do not parse"."""
    sizes, unparsed, _ = _cluster_sizes(sample_codes, position)
    largest = max(sizes, default=0)
    parts = [f"{largest} of {int(sample_codes.n_samples[position])} agree"]
    parts += ["a tie"] if sizes.count(largest) > 1 else []
    parts += [f"{unparsed} do{'es' if unparsed == 1 else ''} not parse"] if unparsed else []
    return ", ".join(parts)


def _cluster_sizes(sample_codes: SampleMatrix, position: int) -> tuple[list[int], int, list[int]]:
    """Cluster sizes in order of sampling, number of unparsed samples, and each cluster's first sample."""
    code = sample_codes.codes[position]
    code = code[code != ABSENT_CODE]
    parsed = code[code != UNPARSED_CODE]
    sizes: list[int] = np.bincount(parsed).tolist() if parsed.size else []
    return (
        sizes,
        int((code == UNPARSED_CODE).sum()),
        [int(np.argmax(code == cluster)) for cluster in range(len(sizes))],
    )


def question_clusters(
    run: AnswerRun, sample_codes: SampleMatrix, position: int, unparseable: UnparseableRule = "own"
) -> QuestionClusters:
    """The clusters of one question.

    Parameters
    ----------
    run : AnswerRun
    sample_codes : SampleMatrix
        Of the same run and rule.
    position : int
        Row position of a question with samples.
    unparseable : UnparseableRule

    Raises
    ------
    IndexError
        For a position that does not exist.
    """
    sizes, n_unparsed, first_samples = _cluster_sizes(sample_codes, position)
    samples: pl.Series | None = sample_texts(run)[position]
    texts = [] if samples is None else samples.to_list()
    order = sorted(range(len(sizes)), key=lambda index: -sizes[index])
    clusters = tuple(
        AnswerCluster(
            _cluster_answer(texts, first_samples[index], index),
            sizes[index],
            _OUTCOME_OF_CODE.get(int(sample_codes.cluster_correct[position, index])),
        )
        for index in order
    )
    unparsed_sizes = {"own": [1] * n_unparsed, "one": [n_unparsed] if n_unparsed else [], "drop": []}[
        unparseable
    ]
    others = [*(cluster.size for cluster in clusters[1:]), *unparsed_sizes]
    n_samples = sum(sizes) + sum(unparsed_sizes)
    largest = clusters[0].size if clusters and n_samples > 1 else 0
    confidences, derivations = _worked_confidences(largest, others, n_samples)
    n_tied = sum(cluster.size == largest for cluster in clusters[1:])
    return QuestionClusters(
        run=run.label,
        row=run.rows["row"][position],
        title=_title_of_question(run, position),
        gold=_gold_text(run, position),
        clusters=clusters,
        n_tied=n_tied,
        n_unparsed=n_unparsed,
        unparseable=unparseable,
        n_samples=n_samples,
        n_clusters=len(sizes) + len(unparsed_sizes),
        sizes_text=_sizes_text(
            n_samples, len(sizes) + len(unparsed_sizes), clusters[0].size if clusters else 0, others
        ),
        confidences=MappingProxyType(confidences),
        derivations=MappingProxyType(derivations),
        headline=_clusters_headline(clusters, n_tied, n_unparsed, n_samples, unparseable),
    )


def _cluster_answer(texts: Sequence[str | None], sample_index: int, cluster_index: int) -> str:
    """The answer as sampled; a file may have the clusters without the samples."""
    text = texts[sample_index] if sample_index < len(texts) else None
    return text or f"cluster {cluster_index + 1}"


def _gold_text(run: AnswerRun, position: int) -> str | None:
    all_golds: pl.Series | None = column(run, "gold_all")[position]
    texts = [] if all_golds is None else all_golds.drop_nulls().to_list()
    return column(run, "gold")[position] or ", ".join(texts) or None


def _sizes_text(n_samples: int, n_clusters: int, largest: int, others: Sequence[int]) -> str:
    """ "N = 16, |C| = 4, n_i = 9 (chosen), n_j = 5, 1 (twice)"."""
    times_text = {1: "", 2: " (twice)"}
    other_sizes = [
        f"{size}{times_text.get(times, f' ({times} times)')}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    parts = [f"N = {n_samples}", f"|C| = {n_clusters}"]
    parts += [f"n_i = {largest} (chosen)"] if largest else []
    return ", ".join([*parts, *([f"n_j = {', '.join(other_sizes)}"] if other_sizes and largest else [])])


def _worked_confidences(
    largest: int, others: Sequence[int], n_samples: int
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Each method's confidence and derivation; `largest` is n_i, or 0 where there is no confidence."""
    if not largest:
        reason = "no sample parses" if n_samples != 1 else "one sample only"
        return dict.fromkeys(SELF_CONSISTENCY_METHODS), dict.fromkeys(
            SELF_CONSISTENCY_METHODS, f"no confidence: {reason}"
        )
    n_clusters = 1 + len(others)
    product = math.prod((Fraction(largest, largest + size) for size in others), start=Fraction(1))
    exact = (Fraction(n_samples - n_clusters, n_samples), Fraction(largest, n_samples), product)
    steps = (
        f"1 − |C|/N = 1 − {n_clusters}/{n_samples}",
        f"n_i/N = {largest}/{n_samples}",
        _pairwise_product_text(largest, others),
    )
    derived = list(zip(SELF_CONSISTENCY_METHODS, steps, exact, strict=True))
    return (
        {id_: float(value) for id_, _, value in derived},
        {id_: f"{METHODS[id_].short_title} = {step} {_equals_text(value)}" for id_, step, value in derived},
    )


def _pairwise_product_text(largest: int, others: Sequence[int]) -> str:
    """ "9/(9+4) · (9/(9+1))^3": equal factors appear once, as a power."""
    if not others:
        return "the empty product, as there is one cluster only"
    factors = [
        f"{largest}/({largest}+{size})" if times == 1 else f"({largest}/({largest}+{size}))^{times}"
        for size, times in sorted(Counter(others).items(), reverse=True)
    ]
    return f"Π n_i/(n_i+n_j) = {' · '.join(factors)}"


def _equals_text(value: Fraction) -> str:
    """ "= 0.5625", "≈ 0.4248", or three significant digits below 0.001."""
    text = f"{float(value):.4f}" if value == 0 or value >= Fraction(1, 1000) else f"{float(value):.3g}"
    return f"{'=' if Fraction(text) == value else '≈'} {text}"


def _clusters_headline(
    clusters: Sequence[AnswerCluster],
    n_tied: int,
    n_unparsed: int,
    n_samples: int,
    unparseable: UnparseableRule,
) -> str:
    """Which answer was chosen, whether it is right, ties, and what does not parse."""
    unparsed_clause = f" {n_unparsed} {_UNPARSED_TEXT[unparseable][n_unparsed > 1]}." if n_unparsed else ""
    if not clusters:
        return f"No sample parses, so there is no majority answer.{unparsed_clause}"
    chosen = clusters[0]
    outcome = {True: ", which is right", False: ", which is wrong", None: ""}[chosen.right]
    others = f"{n_tied} others are" if n_tied > 1 else "1 other is"
    tie = f" {others} as large: the one sampled first is taken." if n_tied else ""
    agree = f"{chosen.size} of {n_samples} samples"
    return (
        f"Chosen: “{shorten(chosen.answer, _MAX_TITLE_LETTERS)}” with {agree}{outcome}.{tie}{unparsed_clause}"
    )
