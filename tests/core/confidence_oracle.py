"""The exact confidence and outcome of each question, straight from the definitions.

One question at a time, in fractions and 50-digit decimals, with only the standard library: this module
shares no code with what it tests. A question is a dict of raw columns; unknown values are left out.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Question = Mapping[str, Any]
Exact = Fraction | float

CURRENCIES = "$€£¥"


@dataclass(frozen=True)
class JudgedConfidence:
    """The confidence of one question and whether the judged answer is right."""

    confidence: Exact
    correct: bool


# --- answers -------------------------------------------------------------------------------------


def number(text: str) -> Fraction | None:
    """The number a text is: a percent word taken off, then a fraction, a mixed number or a decimal."""
    bare = text.strip().replace("−", "-")
    for unit in ("%", "percent", "per cent"):
        for full_stop in ("", "."):
            if bare.lower().endswith(unit + full_stop):
                return _unit_free(bare[: -len(unit + full_stop)].strip())
    return _unit_free(bare)


def _unit_free(bare: str) -> Fraction | None:
    value = _quotient(bare.removesuffix("."))
    return _decimal(bare) if value is None else value


def _quotient(bare: str) -> Fraction | None:
    before, slash, under = (part.strip() for part in bare.partition("/"))
    sign = -1 if before.startswith("-") else 1
    *whole, over = (before[1:] if before[:1] in ("+", "-") else before).split() or [""]
    if not slash or len(whole) > 1 or not all(_digits(part) for part in (*whole, over, under)):
        return None
    if int(under) == 0 or (whole and int(over) >= int(under)):
        return None
    return sign * (Fraction(int(over), int(under)) + (int(whole[0]) if whole else 0))


def _decimal(bare: str) -> Fraction | None:
    """Taken off piece by piece: currency, sign, full stop, exponent, groups."""
    sign_before = bare[:1] if bare[:1] in ("+", "-") else ""
    behind = bare[len(sign_before) :].lstrip()
    if behind[:1] and behind[0] in CURRENCIES:
        bare = sign_before + behind[1:].lstrip()
    if bare.endswith(tuple(currency + end for currency in CURRENCIES for end in ("", "."))):
        bare = bare.removesuffix(".")[:-1].rstrip()
    sign = -1 if bare.startswith("-") else 1
    bare = (bare[1:] if bare[:1] in ("+", "-") else bare).removesuffix(".")
    mantissa, e, exponent = bare.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    if "," in whole and not e:
        first, *groups = whole.split(",")
        if not 1 <= len(first) <= 3 or any(len(group) != 3 for group in groups):
            return None
        whole = first + "".join(groups)
    power = exponent[1:] if exponent[:1] in ("+", "-") else exponent
    if not _digits(whole + fraction) or (e and not (_digits(power) and len(power) <= 2)):
        return None
    return sign * Fraction(int(whole + fraction), 10 ** len(fraction)) * Fraction(10) ** int(exponent or 0)


def _digits(text: str) -> bool:
    return bool(text) and all(letter in "0123456789" for letter in text)


def normalised_text(text: str) -> str | None:
    """A text in lower case, with single spaces, without a final full stop."""
    plain = " ".join(text.lower().split())
    return (plain[:-1].rstrip() if plain.endswith(".") else plain) or None


def choice(text: str, choices: Sequence[str]) -> int | None:
    """The index of the choice a text names: equal text, then a letter, then an index."""
    listed = [normalised_text(option) for option in choices]
    if normalised_text(text) is not None and normalised_text(text) in listed:
        return listed.index(normalised_text(text))
    bare = text.strip().lstrip("([").rstrip(")].:").strip()
    if len(bare) == 1 and bare.isascii() and bare.isalpha():
        index = ord(bare.upper()) - ord("A")
    elif bare.isascii() and bare.isdigit():
        index = int(bare)
    else:
        return None
    return index if not choices or index < len(choices) else None


def parse_answer(text: str | None, question: Question) -> object:
    """An answer in the form in which equal answers are equal; None where it does not parse."""
    if text is None:
        return None
    kind = question["answer_kind"]
    if kind == "number":
        return number(text)
    return normalised_text(text) if kind == "text" else choice(text, question.get("choices", ()))


def golds(question: Question) -> set[object]:
    """Every right answer in that form."""
    if question["answer_kind"] == "choice" and question.get("gold_index") is not None:
        return {question["gold_index"]}
    texts = [question.get("gold"), *question.get("gold_all", ())]
    return {parse_answer(text, question) for text in texts} - {None}


# --- choices -------------------------------------------------------------------------------------


def exponentials(logs: Sequence[Fraction | float]) -> list[Fraction]:
    """Exp of each, to 50 digits; −inf gives 0."""
    return [Fraction(0) if log == -math.inf else _exponential(Fraction(log)) for log in logs]


def _exponential(log: Fraction) -> Fraction:
    with decimal.localcontext(decimal.Context(prec=50, Emin=-(10**9), Emax=10**9)):
        return Fraction((decimal.Decimal(log.numerator) / log.denominator).exp())


def softmax(logs: Sequence[Fraction | float]) -> list[Fraction]:
    """Exp of each, divided by their sum."""
    weights = exponentials(logs)
    return [weight / sum(weights) for weight in weights]


def choice_probabilities(
    question: Question, lengths: str | None = None, *, renormalise: bool = True
) -> list[Fraction] | None:
    """The probability of each choice, its log-probability divided by a length where one is named."""
    logs = question.get("choice_logprobs")
    if not logs or None in logs or all(log == -math.inf for log in logs):
        return None
    if lengths is not None:
        counts = question.get(lengths)
        if not counts or len(counts) != len(logs):
            return None
        each = zip(logs, counts, strict=True)
        logs = [log if log == -math.inf else Fraction(log) / count for log, count in each]
    return softmax(logs) if renormalise else exponentials(logs)


def top_label(question: Question, probabilities: Sequence[Exact] | None) -> JudgedConfidence | None:
    """The largest probability, the first of equals, judged against gold_index."""
    gold = question.get("gold_index")
    if not probabilities or gold is None or gold >= len(probabilities):
        return None
    best = max(probabilities)
    return JudgedConfidence(best, list(probabilities).index(best) == gold)


# --- tokens --------------------------------------------------------------------------------------


def mean_probability(logs: Sequence[float | None] | None) -> Fraction | None:
    """The mean of exp of each, to 50 digits."""
    if not logs or any(log is None for log in logs):
        return None
    return sum(exponentials([log for log in logs if log is not None]), Fraction(0)) / len(logs)


def answer_span(question: Question) -> Sequence[float | None] | None:
    """The log-probabilities of the answer's own tokens."""
    if question.get("answer_logprobs") is not None:
        return question["answer_logprobs"]
    path, start, end = (question.get(name) for name in ("path_logprobs", "answer_start", "answer_end"))
    if path is None or start is None or end is None or not 0 <= start < end <= len(path):
        return None
    return path[start:end]


def greedy_right(question: Question) -> bool | None:
    """Whether the greedy answer is right, where no file says so."""
    right = golds(question)
    if question.get("prediction") is None or not right:
        return None
    return parse_answer(question["prediction"], question) in right


# --- sampled answers -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Sampled:
    """Sizes of the clusters, first sampled first; the majority's answer and size; whether others tie."""

    sizes: tuple[int, ...]
    answer: object
    first: int
    largest: int
    tied: bool


def cluster_samples(question: Question, rule: str) -> Sampled | None:
    """The clusters of one question's samples; None where no sample parses."""
    texts = question.get("samples_parsed", question.get("samples")) or []
    members: dict[tuple[str, object], list[int]] = {}
    for position, text in enumerate(texts):
        answer = parse_answer(text, question)
        if answer is not None:
            members.setdefault(("answer", answer), []).append(position)
        elif rule != "drop":
            members.setdefault(("unparseable", position if rule == "own" else None), []).append(position)
    real = {key: where for key, where in members.items() if key[0] == "answer"}
    if not real:
        return None
    largest = max(len(where) for where in real.values())
    # A dict keeps the order in which its keys, here the clusters' first members, came.
    winners = [key for key, where in real.items() if len(where) == largest]
    return Sampled(
        sizes=tuple(len(where) for where in members.values()),
        answer=winners[0][1],
        first=real[winners[0]][0],
        largest=largest,
        tied=len(winners) > 1,
    )


def self_consistency(question: Question, method: str, rule: str = "own") -> JudgedConfidence | None:
    """F_CN, F_CS or F_PC of one question, judged on its majority answer."""
    clusters = cluster_samples(question, rule)
    right = golds(question)
    if clusters is None or sum(clusters.sizes) < 2 or not right:
        return None
    n, largest = sum(clusters.sizes), clusters.largest
    others = list(clusters.sizes)
    others.remove(largest)
    confidence = {
        "cluster_number": 1 - Fraction(len(clusters.sizes), n),
        "cluster_size": Fraction(largest, n),
        "pairwise": math.prod((Fraction(largest, largest + other) for other in others), start=Fraction(1)),
    }[method]
    return JudgedConfidence(confidence, clusters.answer in right)


def held_out_share(question: Question, rule: str = "own") -> JudgedConfidence | None:
    """The share, among the second half of the samples, of the answer that the first half chooses."""
    texts = question.get("samples") or []
    half = len(texts) // 2
    chosen = cluster_samples({**question, "samples": texts[:half]}, rule)
    counting = [parse_answer(text, question) for text in texts[half:]]
    if rule == "drop":
        counting = [answer for answer in counting if answer is not None]
    right = golds(question)
    if not self_consistency(question, "cluster_size", rule) or not chosen or not counting:
        return None
    return JudgedConfidence(Fraction(counting.count(chosen.answer), len(counting)), chosen.answer in right)
