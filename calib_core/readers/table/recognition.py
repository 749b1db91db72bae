"""What columns of unknown names may hold, judged by their first values and the words of their names.

A suggestion is never applied unasked: `results.files.find_proposal` tries what follows from it, and a person
accepts it. The order of the columns in the file decides nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, permutations, product
from typing import Final, Literal, cast

import polars as pl

from calib_core.errors import shorten
from calib_core.readers.format import BY_VALUES, HINTED, NAMED, ONLY_IF_CHOSEN, Role, Suggestion
from calib_core.readers.table.cells import (
    MIN_LARGEST_PERCENTAGE,
    PLAIN_NUMBER,
    RIGHT_WORDS,
    UNJUDGED_WORDS,
    WRONG_WORDS,
    rating_top,
)
from calib_core.readers.table.columns import COLUMN_ALIASES, PROBABILITY_COLUMNS, normalise_name
from calib_core.runs import schema_name

N_RECOGNISED_ROWS: Final = 1_000
"""First rows of a file by whose values columns are recognised."""
MAX_RECOGNISED_COLUMNS: Final = 200
"""Limit on the columns that are looked at; the first of the file."""
MAX_TEXT_COLUMNS: Final = 24
"""Limit on the columns that are compared with one another as answers; those with telling names come first."""
MAX_SUBJECTS: Final = 50
"""Largest number of values of a column that is taken for subjects."""
MAX_ID_CHARACTERS: Final = 64
"""Longest text that is taken for an id rather than a question."""
MAX_SPELLINGS: Final = 6
"""Limit on the spellings of right and wrong in one column, such as Yes, yes and no."""
MAX_SUGGESTIONS: Final = 24
"""Limit on the suggestions for one role."""
MAX_TIES: Final = 3
"""Limit on equally likely columns for one role."""

MAX_REPEATED_IDS: Final = 0.1
"""Largest share of repeated values in a column of ids; with a larger one they name what several rows ask."""

MIN_REPEATING_SHARE: Final = 0.2
"""Least share of rows with two equal texts in lists that are taken for sampled answers."""

MIN_LETTER_SHARE: Final = 0.95
"""Least share of letters A to J in a column that is said to hold letters of choices."""

_ALIASES: Final = {name: frozenset(map(normalise_name, aliases)) for name, aliases in COLUMN_ALIASES.items()}
_NUMBER: Final = re.compile(PLAIN_NUMBER)
_FRACTION: Final = re.compile(r"[+-]?[0-9]*\.[0-9]+%?")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONFIDENCE_WORDS: Final = _words(
    "confidence confidences conf certainty certain sure sureness probability probabilities prob probs "
    "likelihood likely credence belief msp sicherheit sicher konfidenz gewissheit wahrscheinlichkeit "
    "confianza certeza probabilidad confiance certitude probabilité probabilite"
)
WEAK_CONFIDENCE_WORDS: Final = _words("score p rating level percent pct percentage estimate self")
LOG_WORDS: Final = _words(
    "logprob logprobs logp lp ll log loglik loglikelihood logprobability logit_logprob lnp"
)
OUTCOME_WORDS: Final = _words(
    "correct right hit outcome ok okay success succeeded pass passed accurate accuracy acc em exact match "
    "matched grade graded judge judged judgement judgment verdict solved richtig korrekt treffer correcto "
    "acierto juste réussi iscorrect correctness"
)
WEAK_OUTCOME_WORDS: Final = _words("true score eval evals evaluation result y valid label fine good")
REVERSING_WORDS: Final = _words("wrong incorrect error err mistake failed failure fail false falsch fehler")
"""Words of a name that turn the outcome round: yes means wrong."""
GOLD_WORDS: Final = _words(
    "gold right correct target truth true label reference ref expected key solution actual gt golden "
    "musterlösung musterloesung lösung loesung richtige richtig groundtruth correcta solución"
)
PREDICTION_WORDS: Final = _words(
    "model pred predicted prediction said says say response responded output guess guessed chosen chose "
    "picked given completion generation generated llm gpt claude ai bot extracted parsed modell modells "
    "vorhersage antwortet assistant modelo modèle"
)
ANSWER_WORDS: Final = _words("answer answers antwort response label option choice respuesta réponse")
ID_WORDS: Final = _words("id ids nr no num number index idx key uid uuid guid item row qid question frage n")
QUESTION_ID_WORDS: Final = _words("qid question questions frage item items problem example prompt")
"""Words of the name of a column that says which question a row asks, where its values repeat."""
SUBJECT_WORDS: Final = _words(
    "subject subjects topic category domain field area theme fach thema bereich kategorie materia tema "
    "section discipline"
)
OTHER_WORDS: Final = _words(
    "temperature temp latency time duration seconds secs ms cost price usd loss entropy length len tokens "
    "token words rouge bleu f1 similarity age year date step epoch seed k size id nr index shots top_p topp "
    "perplexity ece auroc auc brier distance rank count margin std variance uncertainty uncertain doubt nll "
    "surprisal unsicherheit incertidumbre incertitude"
)
"""Words of the name of a number that is no confidence, whatever its range."""

SUMMARY_WORDS: Final = _words("ece auroc auc aurc")
"""Words of the name of a metric of many rows: no row of predictions has one of its own."""
GOLD_STATISTIC_WORDS: Final = _words("gt gold golden groundtruth reference ref target")
"""Words of the name of a number that is known from the right answer, and so is no confidence."""

RIGHT_VALUES: Final = _words(
    "correct right richtig korrekt ✓ ✔ ✅ pass passed correcto juste vrai hit success"
)
WRONG_VALUES: Final = _words(
    "incorrect wrong falsch inkorrekt ✗ ✘ ❌ fail failed incorrecto faux miss failure error"
)
YES_VALUES: Final = _words("yes true y 1 1.0 ja wahr oui sí si j t c ok")
NO_VALUES: Final = _words("no false n 0 0.0 nein falsch non f i nok")
FLAG_VALUES: Final = RIGHT_VALUES | WRONG_VALUES | YES_VALUES | NO_VALUES


def suggest_columns(values: Mapping[str, pl.Series]) -> tuple[Suggestion, ...]:
    """Suggest what columns may be read as.

    Parameters
    ----------
    values : Mapping[str, pl.Series]
        Column → its raw first values, the same rows of each.

    Returns
    -------
    tuple of Suggestion
        By role, the likeliest first; the same whatever the order of the columns is. None for a table of
        metrics, such as one row a model with its ECE.

    Examples
    --------
    >>> columns = {"Conf (%)": pl.Series(["90", "55", "90"]), "Right?": pl.Series(["yes", "no", "yes"])}
    >>> for suggestion in suggest_columns(columns):
    ...     print(dict(suggestion.names), suggestion.reason)
    {'Conf (%)': 'confidence/100'} its name and values from 55 to 90
    {'Right?': 'correct'} its name and the values no and yes
    """
    columns = [_Column(name, values[name]) for name in sorted(values) if not values[name].dtype.is_nested()]
    columns = [column for column in columns if column.present]
    if any(map(_is_summary_metric, columns)):
        return ()
    found: dict[Role, list[Suggestion | None]] = {
        "confidence": list(map(_as_confidence, columns)),
        "outcome": [*map(_as_outcome, columns), *_as_answer_pairs(columns)],
        "id": list(map(_as_id, columns)),
        "subject": list(map(_as_subject, columns)),
    }
    return tuple(
        suggestion
        for suggestions in found.values()
        for suggestion in sorted(filter(None, suggestions), key=lambda one: (one.rank, list(one.names)))[
            :MAX_SUGGESTIONS
        ]
    )


def suggested_mappings(
    suggestions: Iterable[Suggestion], supporting: Mapping[str, str] | None = None
) -> list[dict[str, str]]:
    """List the mappings that follow from the likeliest suggestions; several where some are equally likely.

    Parameters
    ----------
    suggestions : iterable of Suggestion
        As `suggest_columns` returns them.
    supporting : Mapping[str, str], optional
        Further columns → names, taken where neither is used otherwise.

    Returns
    -------
    list of dict
        Column → name, without columns that have their name already; empty unless there are a confidence and
        an outcome. An id or a subject is left out where several are equally likely, as neither is needed.
    """
    by_role: dict[Role, list[Suggestion]] = {"confidence": [], "outcome": [], "id": [], "subject": []}
    for suggestion in suggestions:
        by_role[suggestion.role].append(suggestion)
    mappings: list[dict[str, str]] = []
    for confidence, outcome in _pairs(_likeliest(by_role["confidence"]), _likeliest(by_role["outcome"])):
        if confidence.names.keys() & outcome.names.keys():
            continue
        mapping = {**confidence.names, **outcome.names}
        for optional in (by_role["id"], by_role["subject"]):
            free = [one for one in _likeliest(optional) if not one.names.keys() & mapping.keys()]
            if len(free) == 1:
                mapping |= free[0].names
        for column, name in (supporting or {}).items():
            if column not in mapping and name not in mapping.values():
                mapping[column] = name
        mappings.append({column: name for column, name in mapping.items() if column != name})
    return mappings


def _pairs(
    confidences: Sequence[Suggestion], outcomes: Sequence[Suggestion]
) -> list[tuple[Suggestion, Suggestion]]:
    """Every confidence with every outcome; where the names say which belong together, only those."""
    of_confidence, of_outcome = _own_words(confidences), _own_words(outcomes)
    shared = [[bool(words & others) for others in of_outcome] for words in of_confidence]
    complete = all(map(any, shared)) and all(map(any, zip(*shared, strict=True)))
    pairs = zip(product(confidences, outcomes), chain.from_iterable(shared), strict=True)
    return [pair for pair, belong in pairs if belong or not complete]


def _own_words(suggestions: Sequence[Suggestion]) -> list[frozenset[str]]:
    """For each suggestion, those words of its columns' names that not all of them have."""
    words = [frozenset(word for column in one.names for word in name_words(column)) for one in suggestions]
    common = frozenset[str].intersection(*words) if words else frozenset[str]()
    return [own - common for own in words]


def _likeliest(suggestions: Sequence[Suggestion]) -> list[Suggestion]:
    """Return the suggestions of the best rank, or those of columns that have the right name already."""
    known = [one for one in suggestions if all(column == name for column, name in one.names.items())]
    best = min((one.rank for one in suggestions), default=NAMED)
    return known or [one for one in suggestions if one.rank == best != ONLY_IF_CHOSEN][:MAX_TIES]


# --- One column -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """The first values of one column.

    Attributes
    ----------
    name : str
    raw : pl.Series
        Not nested.
    """

    name: str
    raw: pl.Series

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the name, and the name as one word."""
        return name_words(self.name) | {normalise_name(self.name)}

    @cached_property
    def texts(self) -> list[str | None]:
        """The values as stripped texts; None where missing."""
        values = self.raw.cast(pl.String, strict=False).to_list()
        return [None if value is None else value.strip() or None for value in values]

    @cached_property
    def present(self) -> list[str]:
        """The texts that are there."""
        return [text for text in self.texts if text is not None]

    @cached_property
    def numbers(self) -> list[float]:
        """The values that are numbers, possibly with a percent sign."""
        bare = (text.removesuffix("%").rstrip() for text in self.present)
        return [float(text) for text in bare if _NUMBER.match(text)]

    @cached_property
    def has_fractions(self) -> bool:
        """Whether values are floats, or one of the texts is a number with a decimal point."""
        return self.raw.dtype.is_float() or any(map(_FRACTION.fullmatch, self.present))

    @cached_property
    def answer(self) -> Literal["gold", "prediction"] | None:
        """The answer that the words of the name stand for; None for neither or both."""
        is_gold, is_prediction = bool(self.words & GOLD_WORDS), bool(self.words & PREDICTION_WORDS)
        return None if is_gold == is_prediction else "gold" if is_gold else "prediction"

    def name_rank(self, strong: frozenset[str], weak: frozenset[str] = frozenset()) -> int:
        """Return how clearly the name speaks, by the words that do so strongly and weakly."""
        return NAMED if self.words & strong else HINTED if self.words & weak else BY_VALUES

    def is_known_as_other(self, own: str) -> bool:
        """Return whether the name usually stands for something else than `own`."""
        normalised = normalise_name(self.name)
        return any(normalised in aliases for name, aliases in _ALIASES.items() if name != own)


def are_fractions(raw: pl.Series) -> bool:
    """Return whether values are floats, or one of the texts is a number with a decimal point."""
    return not raw.dtype.is_nested() and _Column("", raw).has_fractions


def name_words(name: str) -> frozenset[str]:
    """Return the words of a column's name, in lower case.

    Examples
    --------
    >>> sorted(name_words("Is_it correct?")), sorted(name_words("modelAnswer"))
    (['correct', 'is', 'it'], ['answer', 'model'])
    """
    spaced = re.sub(r"(?<=[a-zà-ÿ0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[^\W_]+", spaced.lower()))


def _is_summary_metric(column: _Column) -> bool:
    """Return whether a column holds a metric of many rows, another one in each row."""
    has_values = column.has_fractions and len(column.numbers) == len(column.present)
    return has_values and bool(column.words & SUMMARY_WORDS) and len(set(column.numbers)) > 1


def _as_confidence(column: _Column) -> Suggestion | None:
    """Suggest a column of numbers from 0 to 1, of percentages, or of logarithms that are called so."""
    numbers = column.numbers
    if 20 * len(numbers) < 19 * len(column.present) or not numbers or column.words & REVERSING_WORDS:
        return None
    own = column.name if schema_name(column.name) in PROBABILITY_COLUMNS else "confidence"
    seen = f"values from {min(numbers):.4g} to {max(numbers):.4g}"
    if column.name_rank(LOG_WORDS) == NAMED and max(numbers) <= 0 and min(numbers) < 0:
        return Suggestion("confidence", {column.name: f"{own}:log"}, NAMED, _reason(NAMED, seen))
    rank = column.name_rank(CONFIDENCE_WORDS, WEAK_CONFIDENCE_WORDS)
    if rank == NAMED and max(numbers) <= 0 and 2 * sum(number < 0 for number in numbers) > len(numbers):
        return Suggestion("confidence", {column.name: f"{own}:log"}, HINTED, _reason(HINTED, seen))
    is_other = bool(column.words & OTHER_WORDS)
    is_of_gold = bool(column.words & GOLD_STATISTIC_WORDS) or column.is_known_as_other("confidence")
    if (rank != NAMED and is_other) or (rank == BY_VALUES and is_of_gold):
        return None
    rank = HINTED if is_other else rank
    divisor = _divisor(column, rank)
    if divisor is None:
        return None
    if divisor not in (1, 100):
        rank, seen = ONLY_IF_CHOSEN, f"{seen}, divided by {divisor}"
    name = own if divisor == 1 else f"{own}/{divisor}"
    return Suggestion("confidence", {column.name: name}, rank, _reason(rank, seen))


def _divisor(column: _Column, rank: int) -> int | None:
    """Return what makes a column's numbers probabilities: 1, 100, or the top of a rating; else None."""
    distinct = set(column.numbers)
    top = max(distinct)
    if min(distinct) < 0 or (rank != NAMED and len(distinct) <= 2):
        return None
    if top <= 1:
        return None if distinct <= {0, 1} or column.present[0].endswith("%") else 1
    are_whole = all(number.is_integer() for number in distinct)
    are_row_numbers = are_whole and rank == BY_VALUES and len(distinct) == len(column.numbers)
    n_above_one = sum(number > 1 for number in column.numbers)
    if MIN_LARGEST_PERCENTAGE < top <= 100 and 2 * n_above_one > len(column.numbers):
        return None if are_row_numbers else 100
    return rating_top(top) if are_whole and rank != BY_VALUES else None


def _as_outcome(column: _Column) -> Suggestion | None:
    """Suggest a column of two values of which one means right, and few others if its name speaks for it."""
    judged = [text for text in column.present if text.lower() not in UNJUDGED_WORDS]
    flags = [text for text in judged if text.lower() in FLAG_VALUES]
    has_others = len(flags) < len(judged) and column.name_rank(OUTCOME_WORDS) == NAMED
    has_others = has_others and 20 * len(flags) >= 19 * len(judged)
    spellings = sorted(set(flags if has_others else judged))
    if not spellings or len(spellings) > MAX_SPELLINGS or len({text.lower() for text in spellings}) > 2:
        return None
    right = {text for text in spellings if text.lower() in RIGHT_VALUES}
    wrong = {text for text in spellings if text.lower() in WRONG_VALUES}
    says_itself = bool(right) and right | wrong == set(spellings)
    rank = column.name_rank(OUTCOME_WORDS, WEAK_OUTCOME_WORDS)
    if column.words & ANSWER_WORDS and not column.words & _words("is was correctly"):
        rank = BY_VALUES  # the answer to a yes-no question
    is_reversed = rank != NAMED and not says_itself and bool(column.words & REVERSING_WORDS)
    right |= {text for text in spellings if text.lower() in YES_VALUES}
    wrong |= {text for text in spellings if text.lower() in NO_VALUES}
    rank = NAMED if says_itself else HINTED if is_reversed else rank
    if right | wrong != set(spellings) or (rank == BY_VALUES and column.is_known_as_other("correct")):
        return None
    if is_reversed:
        right, wrong = wrong, right
    if not right or (not wrong and rank != NAMED):
        return None
    is_plain = not is_reversed and all(map(_is_plain_flag, spellings))
    if has_others and not is_plain:
        return None  # every other value would count as wrong
    name = "correct" if is_plain else f"correct:{'|'.join(sorted(right))}"
    shown = " and ".join(shorten(text, 20) for text in spellings)
    seen = f"the value{'s' * (len(spellings) > 1)} {shown}"
    return Suggestion("outcome", {column.name: name}, rank, seen if says_itself else _reason(rank, seen))


def _is_plain_flag(text: str) -> bool:
    """Return whether an outcome is read without saying which values mean right."""
    lowered = text.lower()
    return lowered in (*RIGHT_WORDS, *WRONG_WORDS) or bool(_NUMBER.match(text) and float(text) in (0, 1))


def _as_id(column: _Column) -> Suggestion | None:
    """Suggest a column with another short value in each row, or one that names the question of each row."""
    texts = column.present
    if len(texts) < max(2, len(column.texts)):
        return None
    n_distinct = len(set(texts))
    is_repeated = len(texts) - n_distinct > MAX_REPEATED_IDS * len(texts)
    if n_distinct < len(texts) and (
        not is_repeated
        or n_distinct < 2
        or not column.words & QUESTION_ID_WORDS
        or column.is_known_as_other("id")
    ):
        return None
    if column.raw.dtype.is_float() or all(map(_FRACTION.fullmatch, texts)):
        return None
    rank = column.name_rank(ID_WORDS)
    is_answer = rank != NAMED and bool(column.words & (PREDICTION_WORDS | ANSWER_WORDS | GOLD_WORDS))
    if is_answer or max(map(len, texts)) > MAX_ID_CHARACTERS:
        return None
    if is_repeated:
        seen = f"{n_distinct:,} values in {len(texts):,} rows"
        return Suggestion("id", {column.name: "trial_of"}, rank, _reason(rank, seen))
    return Suggestion("id", {column.name: "id"}, rank, _reason(rank, "a different value in each row"))


def _as_subject(column: _Column) -> Suggestion | None:
    """Suggest a column of few texts whose name says that they are subjects."""
    n_values = len(set(column.present))
    if column.numbers or not 2 <= n_values <= min(MAX_SUBJECTS, len(column.texts) // 2):
        return None
    if column.name_rank(SUBJECT_WORDS) != NAMED:
        return None
    return Suggestion("subject", {column.name: "subject"}, NAMED, _reason(NAMED, f"{n_values} values"))


def _reason(rank: int, seen: str) -> str:
    return seen if rank == BY_VALUES else f"its name and {seen}"


# --- Pairs: the model's answer and the right one ----------------------------------------------------------


def _as_answer_pairs(columns: Iterable[_Column]) -> list[Suggestion]:
    """Suggest pairs of columns that agree more often than chance alone would have them agree."""
    answers = [
        column
        for column in columns
        if not (column.has_fractions or (column.numbers and column.words & OTHER_WORDS))
        and not (column.answer is None and _as_outcome(column))
        and (column.answer is not None or len(set(column.present)) > 1)
    ]
    kept = sorted(answers, key=lambda column: (column.answer is None, column.name))[:MAX_TEXT_COLUMNS]
    lowered = {column.name: [text and text.lower() for text in column.texts] for column in kept}
    pairs: list[Suggestion] = []
    for gold, prediction in permutations(kept, 2):
        if gold.answer == "prediction" or prediction.answer == "gold":
            continue
        n_hints = (gold.answer == "gold") + (prediction.answer == "prediction")
        agreement, by_chance = _agreement(lowered[gold.name], lowered[prediction.name])
        is_plausible = agreement > 0 if n_hints == 2 else by_chance < agreement < 1
        if is_plausible:
            rank = (BY_VALUES, HINTED, NAMED)[n_hints]
            seen = f"the same answer in {100 * agreement:.0f} % of the first rows"
            names = {prediction.name: "prediction", gold.name: "gold"}
            pairs.append(Suggestion("outcome", names, rank, _reason(rank, seen)))
    return pairs


def _agreement(ours: Sequence[str | None], theirs: Sequence[str | None]) -> tuple[float, float]:
    """Return the share of equal texts, and the largest that chance alone is likely to bring (3 errors up)."""
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    n = len(both)
    if not n:
        return 0.0, 0.0
    counts = Counter(b for _, b in both)
    by_chance = sum(counts[a] for a, _ in both) / n**2
    return sum(a == b for a, b in both) / n, by_chance + 3 * (by_chance * (1 - by_chance) / n) ** 0.5


# --- Lists: sampled answers and their outcomes ------------------------------------------------------------


def find_sampled_answers(values: Mapping[str, pl.Series]) -> tuple[str, str] | None:
    """Find the column of sampled answers and that of their outcomes, by their values alone.

    The answers are lists of texts; the outcomes are lists of right and wrong, as long as the answers in every
    row. Some answers to one question are the same, which choices never are, and the same answer has always
    the same outcome, which lists that have nothing to do with each other do not.

    Parameters
    ----------
    values : Mapping[str, pl.Series]
        Column or path → its first values, the same rows of each.

    Returns
    -------
    tuple of (str, str) or None
        The column of the answers and that of the outcomes; None unless exactly one pair fits.

    Examples
    --------
    >>> ys = pl.Series([["6", "6", "7"], ["1", "2", "2"], ["3", "3", "3"]])
    >>> find_sampled_answers({"ys": ys, "infos.r": pl.Series([[1, 1, 0], [0, 1, 1], [0, 0, 0]])})
    ('ys', 'infos.r')
    """
    lists = {name: [_as_list(value) for value in raw.to_list()] for name, raw in values.items()}
    answers = {
        name: rows for name, rows in lists.items() if _are_all(rows, lambda value: isinstance(value, str))
    }
    outcomes = {name: rows for name, rows in lists.items() if _are_all(rows, _is_zero_or_one)}
    pairs = [
        (text, flag)
        for text, flag in product(answers, outcomes)
        if normalise_name(text) not in _ALIASES["choices"]
        and _are_judged_alike(answers[text], outcomes[flag])
    ]
    return pairs[0] if len(pairs) == 1 else None


def choice_letters_note(values: Mapping[str, pl.Series]) -> str | None:
    """Say that columns hold letters of choices, which may be sampled answers; None if fewer than 3 do.

    Whether they are samples of one model, the values cannot tell, so that nothing is proposed.

    Examples
    --------
    >>> votes = pl.Series(["A", "B", "B", "D"])
    >>> choice_letters_note({"m1": votes, "m2": votes, "m3": votes})  # doctest: +ELLIPSIS
    '3 columns hold letters of choices: m1, m2, m3. Name those ...: --map COLUMN=samples, once for each.'
    """
    columns = [_Column(name, raw) for name, raw in values.items() if not raw.dtype.is_nested()]
    of_letters = [
        column.name
        for column in columns
        if len(set(column.present)) > 1
        and column.answer != "gold"
        and sum(map(_is_choice_letter, column.present)) >= MIN_LETTER_SHARE * len(column.present)
    ]
    if len(of_letters) < 3:
        return None
    shown = ", ".join(shorten(name, 40) for name in of_letters[:3]) + (", …" if len(of_letters) > 3 else "")
    return (
        f"{len(of_letters)} columns hold letters of choices: {shown}. Name those that are sampled answers to "
        f"the question: --map COLUMN=samples, once for each."
    )


def _is_choice_letter(text: str) -> bool:
    return len(text) == 1 and "A" <= text <= "J"


def _as_list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _is_zero_or_one(value: object) -> bool:
    return isinstance(value, bool | int | float) and value in (0, 1)


def _are_all(rows: Sequence[list[object] | None], is_kind: Callable[[object], bool]) -> bool:
    """Return whether every row has a list of several values, all of a kind."""
    return bool(rows) and all(row is not None and len(row) > 1 and all(map(is_kind, row)) for row in rows)


def _are_judged_alike(
    answers: Sequence[list[object] | None], outcomes: Sequence[list[object] | None]
) -> bool:
    """Return whether lists of answers and of outcomes go together, as `find_sampled_answers` says."""
    n_repeating = 0
    seen: set[bool] = set()
    for texts, flags in zip(answers, outcomes, strict=True):
        if texts is None or flags is None or len(texts) != len(flags):
            return False
        known: dict[object, bool] = {}
        for text, flag in zip(texts, map(bool, flags), strict=True):
            if known.setdefault(text, flag) != flag:
                return False
        n_repeating += len(known) < len(texts)
        seen |= set(known.values())
    return len(seen) == 2 and n_repeating >= MIN_REPEATING_SHARE * len(answers)
