"""What the columns of a table may be read as: names that say a role and a direction, and values that fit.

Nothing is applied unasked. `results.files` tries what follows from the candidates and says what each comes
to. It proposes only what names (or each value) say; what they merely hint at or allow is asked or told. The
order of the columns in the file decides nothing.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Final, cast

import polars as pl

from calib_core.errors import shorten
from calib_core.readers.format import Candidate, Clarity
from calib_core.readers.table.cells import (
    MIN_LARGEST_PERCENTAGE,
    PLAIN_NUMBER,
    RIGHT_WORDS,
    UNJUDGED_WORDS,
    WRONG_WORDS,
    ColumnJudge,
    rating_top,
)
from calib_core.readers.table.columns import (
    COLUMN_JUDGES,
    CONFIDENCE_SOURCES,
    DECIMAL_COMMA,
    LIST_COLUMNS,
    OUTCOME_COLUMNS,
    PROBABILITY_COLUMNS,
    SEPARATOR,
    MappedName,
    in_order_of_suffix,
)
from calib_core.readers.table.list_cells import combine_columns
from calib_core.readers.table.names import (
    SCORES,
    SPELLINGS,
    WORDS,
    Meaning,
    further_confidence,
    meanings,
    name_words,
    normalise_name,
    spelling_rank,
)
from calib_core.runs import INFO_COLUMNS, is_missing, schema_name
from calib_core.wording import join_names

N_FIRST_ROWS: Final = 1_000
"""First rows of a file by whose values columns are judged."""
MAX_COLUMNS_JUDGED: Final = 200
"""Limit on the columns that are looked at; the first of the file."""
MAX_ANSWERS: Final = 12
"""Limit on the columns that are compared with the right answers."""
MAX_REPEATED_IDS: Final = 0.1
"""Largest share of repeated values in a column of ids; with a larger one they name what several rows ask."""
MAX_SUBJECTS: Final = 50
"""Largest number of values of a column that is taken for subjects."""
MIN_FITTING: Final = 0.95
"""Least share of values that fit what a column is taken for."""
MIN_REPEATING_SHARE: Final = 0.2
"""Least share of rows with two equal texts in lists that are taken for sampled answers."""
MAX_WORDS: Final = 7
"""Limit on the words of a confidence in words."""
MIN_OF_EACH_CLASS: Final = 5
"""Rows that predict each of two classes from which on a probability is compared with what they predict."""

RIGHT_VALUES: Final = frozenset(["correct", "right", "richtig", "korrekt", "✓", "✔", "✅", "pass", "passed"])
WRONG_VALUES: Final = frozenset(
    ["incorrect", "wrong", "falsch", "inkorrekt", "✗", "✘", "❌", "fail", "failed"]
)
"""Values that say themselves which of them mean right, whatever the column is called."""
YES_VALUES: Final = frozenset(["yes", "true", "y", "1", "1.0", "ja", "wahr", "t", "c", "ok"])
NO_VALUES: Final = frozenset(["no", "false", "n", "0", "0.0", "nein", "f", "i", "nok"])
UNJUDGED_VALUES: Final = frozenset(
    {*UNJUDGED_WORDS, "abstain", "abstained", "not attempted", "not_attempted", "unknown", "invalid", "n/a"}
)
"""Values of a judge that has not judged."""
FLAG_VALUES: Final = RIGHT_VALUES | WRONG_VALUES | YES_VALUES | NO_VALUES
UNKNOWN_NUMBERS: Final = frozenset({"n/a", "na", "none", "null", "nan", "unknown", "-", "?"})
"""What stands in a column of numbers for none."""
UNTOLD: Final = frozenset({"judge", "judged", "judgement", "judgment", "verdict", "flag", "label"})
"""Words of names of outcomes that do not say what yes means."""
SUMMARY_WORDS: Final = frozenset({"ece", "auroc", "auc", "aurc"})
"""Words of the name of a metric of many rows: no row of predictions has one of its own."""

ANSWERS: Final = frozenset({"gold", "prediction"})
SUPPORTING: Final = frozenset({"id", "question", "subject", *INFO_COLUMNS})
"""Names that decide on no number of a run."""

SERIES_PREFIXES: Final = {
    "choice_logprobs": ("logprob", "lp", "choicelogprob"),
    "choice_logits": ("logit", "choicelogit"),
    "samples": ("sample", "answer", "response", "generation"),
    "choices": ("option", "choice", ""),
}
"""List → what precedes the letter or number in the normalised name of a column with one element."""
LABEL_KEYS: Final = ("label", "class", "choice", "option", "token", "answer", "text")
SCORE_KEYS: Final = ("score", "prob", "probability", "p", "confidence")
"""Keys of the objects in a list of choices with their probabilities, as classifiers write them."""

WIDE_NAMES: Final = ("confidence", "verbal_confidence", "p_true", "correct", "prediction")
"""Names that are looked for in columns of systems side by side, the most important first."""

_NUMBER: Final = re.compile(PLAIN_NUMBER)
_FRACTION: Final = re.compile(r"[+-]?[0-9]*\.[0-9]+%?")
_WITHOUT_LETTER: Final = re.compile(r"(?P<prefix>.*?)[-_. ]?(?P<label>[A-Za-z]|[0-9]+)", re.DOTALL)
_WITHOUT_WORD: Final = re.compile(r"(?P<prefix>.*)[-_. ](?P<label>[^-_. ]+)", re.DOTALL)


@dataclass(frozen=True)
class Column:
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
    def texts(self) -> list[str | None]:
        """The values as stripped texts; None where missing."""
        values = self.raw.cast(pl.String, strict=False).to_list()
        return [None if value is None else value.strip() or None for value in values]

    @cached_property
    def lowered(self) -> list[str | None]:
        """The same in lower case."""
        return [text and text.lower() for text in self.texts]

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
    def unknown(self) -> tuple[str, ...]:
        """The texts that stand for no number."""
        return tuple(sorted({text for text in self.present if text.lower() in UNKNOWN_NUMBERS}))

    @cached_property
    def are_numbers(self) -> bool:
        """Whether nearly all values that are known are numbers."""
        n_known = sum(text not in self.unknown for text in self.present)
        return bool(self.numbers) and len(self.numbers) >= MIN_FITTING * n_known

    @cached_property
    def has_fractions(self) -> bool:
        """Whether values are floats, or one of the texts is a number with a decimal point."""
        return self.raw.dtype.is_float() or any(map(_FRACTION.fullmatch, self.present))

    @cached_property
    def are_shares(self) -> bool:
        """Whether all values are numbers from 0 to 1, and not all 0 or 1."""
        return (
            self.are_numbers
            and min(self.numbers) >= 0
            and max(self.numbers) <= 1
            and not set(self.numbers) <= {0, 1}
            and not self.present[0].endswith("%")
        )

    @cached_property
    def range_text(self) -> str:
        """The range of the numbers, in words."""
        return f"values from {min(self.numbers):.4g} to {max(self.numbers):.4g}"


# --- One column -------------------------------------------------------------------------------------------


def find_candidates(
    values: Mapping[str, pl.Series], read_as: Mapping[str, str], with_commas: Collection[str] = ()
) -> tuple[Candidate, ...]:
    """Find what the columns of a table may be read as.

    Parameters
    ----------
    values : Mapping[str, pl.Series]
        Column, or path of a nested field → its first values, the same rows of each.
    read_as : Mapping[str, str]
        Column → the name that it is read as already; it may be read otherwise, such as in percent.
    with_commas : collection of str
        Columns whose decimal commas were replaced by points; another name than their own implies that.

    Returns
    -------
    tuple of Candidate
        For each name the likeliest first; the same whatever the order of the columns is. None for a table of
        metrics, such as one row a model with its ECE.

    Examples
    --------
    >>> columns = {"Conf (%)": pl.Series(["90", "55", "90"]), "hallucinated": pl.Series(["yes", "no", "no"])}
    >>> for candidate in find_candidates(columns, {}):
    ...     print(dict(candidate.names), candidate.clarity, candidate.why)
    {'Conf (%)': 'confidence/100'} said its name and values from 55 to 90
    {'hallucinated': 'correct:not'} said its name and the values no and yes
    """
    columns = [Column(name, values[name]) for name in sorted(values) if not values[name].dtype.is_nested()]
    columns = [column for column in columns if column.present]
    if any(map(_is_summary_metric, columns)):
        return ()
    free = [column for column in columns if column.name not in read_as]
    lists = [*_lists_of_columns(free), *_list_columns(values, read_as)]
    in_lists = {name for one in lists if one.clarity == "said" for name in one.names}
    single = [column for column in columns if column.name not in in_lists]
    found = [one for column in single for one in _of_one_column(column, read_as, with_commas)]
    outcomes = {
        name for one in found for name in one.names if _role(one.name) == "correct" and one.clarity == "said"
    } | {column for column, name in read_as.items() if name == "correct"}
    found += _answers([column for column in single if column.name not in read_as], read_as, outcomes)
    found += lists
    found = _probabilities_of_a_class(found, {column.name: column for column in columns}, read_as)
    return tuple(_compared(sorted(found, key=_likeliness), columns, read_as))


def _likeliness(one: Candidate) -> tuple[object, ...]:
    """Sort by importance of the name, clarity, and the place among the usual spellings."""
    name = MappedName.parse(one.name).name
    order = [*SPELLINGS].index(name) if name in SPELLINGS else len(SPELLINGS)
    rank = spelling_rank(next(iter(one.names)), name)
    clarity = ("said", "hinted", "possible").index(one.clarity)
    return order, clarity, len(one.names) == 1, 99 if rank is None else rank, list(one.names)


def _is_summary_metric(column: Column) -> bool:
    """Return whether a column holds a metric of many rows, another one in each row."""
    has_values = column.has_fractions and len(column.numbers) == len(column.present)
    return has_values and bool(SUMMARY_WORDS & {*name_words(column.name)}) and len(set(column.numbers)) > 1


def _of_one_column(
    column: Column, read_as: Mapping[str, str], with_commas: Collection[str]
) -> Iterator[Candidate]:
    """Yield what one column may be read as, apart from an answer."""
    own = read_as.get(column.name)
    said = (Meaning(own, "said"),) if own else meanings(column.name)
    of_confidence = [one for meaning in said for one in as_confidence(column, *meaning)]
    for one in (*of_confidence, *as_outcome(column, said)):
        if one.name != own:
            yield one
        elif column.name in with_commas:
            yield replace(one, names={column.name: f"{own}:{DECIMAL_COMMA}"})
    if own is None:
        yield from _as_supporting(column, said)
        if not of_confidence:
            yield from _as_untold_confidence(column, said)


def _as_supporting(column: Column, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield how a column may be read that decides on no number: its id, its model and so on."""
    for name, _ in said:
        if name == "id":
            yield from _as_id(column)
        elif name == "subject":
            yield from _as_subject(column)
        elif name in SUPPORTING and not column.are_shares and _fits(column.raw, name):
            yield Candidate({column.name: name}, "said", "its name")


def _as_untold_confidence(column: Column, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield numbers from 0 to 1 whose name does not say confidence; one that says outcome hints at it."""
    names = {name for name, _ in said}
    if not column.are_shares or "p_false" in names:
        return
    is_score = bool(SCORES.intersection(name_words(column.name)))
    is_hinted = "correct:not" in names or ("correct" in names and is_score)
    why = f"{column.range_text}; its name does not say confidence or probability"
    for name in ("confidence:inverted", "confidence") if "correct:not" in names else ("confidence",):
        yield Candidate({column.name: name}, "hinted" if is_hinted else "possible", why)


def as_confidence(column: Column, name: str, clarity: Clarity) -> Iterator[Candidate]:
    """Yield how a column that its name calls a probability may be read as one.

    Parameters
    ----------
    column : Column
    name : str
        What the name says; nothing is yielded for what is no probability.
    clarity : {"said", "hinted"}
        How clearly the name says it.
    """
    if _role(name) not in PROBABILITY_COLUMNS or (clarity == "hinted" and len(set(column.texts)) < 2):
        return
    if not column.are_numbers:
        yield from _as_words(column, name)
        return
    base, _, suffix = name.partition(":")
    suffix = suffix and f":{suffix}"
    numbers, low, high = column.numbers, min(column.numbers), max(column.numbers)
    n_above_one = sum(number > 1 for number in numbers)
    if high <= 1 and {"percent", "percentage", "pct"}.intersection(name_words(column.name)):
        clarity = "hinted"
    more = "" if clarity == "said" else ", but the name says more than that it is a confidence"
    why = f"its name and {column.range_text}{more}"
    unknown = column.unknown
    if high <= 0 and low < 0 and 2 * sum(number < 0 for number in numbers) > len(numbers):
        how_clear = clarity if suffix == ":log" else "hinted"
        yield Candidate({column.name: f"{base}:log"}, how_clear, why, unknown)
    elif suffix == ":log":
        return
    elif _are_mostly_shares(numbers) or (clarity == "said" and high <= 1 and set(numbers) != {0.0, 1.0}):
        percent = "/100" if column.present[0].endswith("%") else ""
        yield Candidate({column.name: f"{base}{percent}{suffix}"}, clarity, why, unknown)
    elif low < 0:
        return
    elif MIN_LARGEST_PERCENTAGE < high <= 100 and 2 * n_above_one > len(numbers):
        yield Candidate({column.name: f"{base}/100{suffix}"}, clarity, why, unknown)
    elif all(number.is_integer() for number in numbers) and (top := rating_top(high)) and high > 1:
        scale = f"its name and whole numbers up to {high:.0f}; on which scale, it does not say"
        yield Candidate({column.name: f"{base}/{top}{suffix}"}, "hinted", scale, unknown)


def _as_words(column: Column, name: str) -> Iterator[Candidate]:
    """Yield a confidence in words, of which only a person can say the numbers."""
    words = sorted(set(column.present))
    if name == "confidence" and not column.numbers and 2 <= len(words) <= MAX_WORDS:
        numbers = "|".join(f"{word}=…" for word in words)
        yield Candidate(
            {column.name: f"confidence:{numbers}"}, "possible", "its values are words without numbers"
        )


def _are_mostly_shares(numbers: Sequence[float]) -> bool:
    """Return whether numbers lie from 0 to 1, but for a few that are bad; not if all are 0 or 1."""
    n_inside = sum(0 <= number <= 1 for number in numbers)
    return n_inside >= MIN_FITTING * len(numbers) and not set(numbers) <= {0, 1}


def as_outcome(column: Column, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield how a column of two values may be read as an outcome; both directions where neither is said.

    Parameters
    ----------
    column : Column
    said : iterable of Meaning
        What its name says.
    """
    meaning = next((one for one in said if _role(one.name) == "correct"), None)
    missing = tuple(sorted({text for text in column.present if text.lower() in UNJUDGED_VALUES}))
    judged = [text for text in column.present if text not in missing]
    spellings = sorted({text for text in judged if text.lower() in FLAG_VALUES})
    n_flags = sum(text in spellings for text in judged)
    right = [text for text in spellings if text.lower() in RIGHT_VALUES | YES_VALUES]
    wrong = [text for text in spellings if text not in right]
    is_of_two = len({text.lower() for text in right}) <= 1 and len({text.lower() for text in wrong}) <= 1
    if not spellings or not is_of_two or n_flags < MIN_FITTING * len(judged):
        return
    is_plain = all(map(_is_plain_flag, spellings))
    if n_flags < len(judged) and not (is_plain and meaning):
        return  # every other value would count as wrong
    missing = tuple(text for text in missing if text.lower() not in UNJUDGED_WORDS)
    seen = f"the value{'s' * (len(spellings) > 1)} {join_names([shorten(text, 20) for text in spellings])}"
    as_right = "correct" if is_plain else f"correct:{'|'.join(right)}"
    as_wrong = "correct:not" if is_plain else f"correct:{'|'.join(wrong)}"
    if {text.lower() for text in spellings} <= RIGHT_VALUES | WRONG_VALUES and (right or meaning):
        yield Candidate({column.name: as_right}, "said", seen, missing)
        return
    directions = (as_right, as_wrong)
    if meaning is not None and meaning.name == "correct:not":
        directions = (as_wrong, as_right)
    if meaning is not None and meaning.clarity == "said" and not _is_untold(column.name, spellings):
        yield Candidate({column.name: directions[0]}, "said", f"its name and {seen}", missing)
    elif right and wrong and not {name for name, _ in said} & ANSWERS:
        why = f"{seen}; its name does not say which of them means right"
        for name in directions:
            yield Candidate({column.name: name}, "hinted" if meaning else "possible", why, missing)


def _is_untold(name: str, spellings: Iterable[str]) -> bool:
    """Return whether a name such as "verdict" says an outcome, but not what yes means in it."""
    are_numbers = all(_NUMBER.match(text) for text in spellings)
    return not are_numbers and UNTOLD.issuperset(name_words(name.rpartition(".")[2]))


def _is_plain_flag(text: str) -> bool:
    """Return whether an outcome is read without saying which values mean right."""
    lowered = text.lower()
    return lowered in (*RIGHT_WORDS, *WRONG_WORDS) or bool(_NUMBER.match(text) and float(text) in (0, 1))


def _as_id(column: Column) -> Iterator[Candidate]:
    """Yield a column of ids; those that repeat name the question of a row, or are ids within a part."""
    texts = column.present
    if column.has_fractions or len(texts) < max(2, len(column.texts)) or len(set(texts)) < 2:
        return
    yield Candidate({column.name: "id"}, "said", f"its name and {len(set(texts)):,} values")


def _as_subject(column: Column) -> Iterator[Candidate]:
    """Yield a column of few texts that its name calls subjects."""
    n_values = len(set(column.present))
    is_spelt = spelling_rank(column.name, "subject") is not None
    if not column.numbers and (is_spelt or 2 <= n_values <= min(MAX_SUBJECTS, len(column.texts) // 2)):
        yield Candidate({column.name: "subject"}, "said", f"its name and {n_values} values")


def spelled_candidates(
    values: Mapping[str, pl.Series], judges: Mapping[str, ColumnJudge], taken: Collection[str]
) -> tuple[Candidate, ...]:
    """Find columns that have a usual spelling of a name, for tables with columns of their own.

    Parameters
    ----------
    values
        Column → its first values.
    judges
        Name → its judge.
    taken
        Names that other columns have.
    """
    return tuple(
        Candidate({column: name}, "said", "its name")
        for name in SPELLINGS
        if name in judges and name not in taken
        for column in sorted(values, key=lambda column: spelling_rank(column, name) or 0)
        if spelling_rank(column, name) is not None and _share_fitting(values[column], judges[name]) >= 0.5
    )


def _fits(raw: pl.Series, name: str, share: float = 0.5) -> bool:
    """Return whether at least a share of the values present can be read as `name`."""
    return _share_fitting(raw, COLUMN_JUDGES[schema_name(name)]) >= share


def _share_fitting(raw: pl.Series, judge: ColumnJudge) -> float:
    """Return the share of the values present that a judge can read; 1 where none is."""
    n_present = raw.len() - int(is_missing(raw).sum())
    judged = judge(raw).values
    return (judged.len() - judged.null_count()) / n_present if n_present else 1.0


# --- The model's answer and the right one -----------------------------------------------------------------


def _answers(
    columns: Sequence[Column], read_as: Mapping[str, str], outcomes: Collection[str]
) -> Iterator[Candidate]:
    """Yield the right answers and the model's; a name that may be either is what the others leave it.

    `outcomes` are the columns that are said to be outcomes. Beside one, such a name alone is neither.
    """
    says = {
        column.name: said
        for column in columns
        if not column.are_shares and column.name not in outcomes
        if (said := {name for name, clarity in meanings(column.name) if clarity == "said"} & ANSWERS)
    }
    known = {
        *read_as.values(),
        *(name for said in says.values() if len(said) == 1 for name in said),
    } & ANSWERS
    for column in columns:
        said = says.get(column.name, set())
        if len(said) > 1 and (known or not outcomes):
            said = {"prediction"} if "gold" in known else {"gold"}
            known = known | said
        if len(said) == 1:
            yield Candidate({column.name: said.pop()}, "said", "its name")
    if known == {"gold"}:
        golds = [column for column in columns if says.get(column.name) == {"gold"}]
        yield from _answers_that_agree(columns, golds[:1], says)


def _answers_that_agree(
    columns: Sequence[Column], golds: Sequence[Column], says: Mapping[str, set[str]]
) -> Iterator[Candidate]:
    """Yield columns that agree with the right answers more often than chance alone would have them agree."""
    others = [
        column
        for column in columns
        if not (column.has_fractions or says.get(column.name) or meanings(column.name))
        and len(set(column.present)) > 1
    ]
    for gold, other in product(golds, others[:MAX_ANSWERS]):
        agreement, by_chance = _agreement(gold.lowered, other.lowered)
        if by_chance < agreement < 1:
            why = f"the same as {gold.name!r} in {100 * agreement:.0f} % of the first rows"
            yield Candidate({other.name: "prediction"}, "hinted", why)


def _agreement(ours: Sequence[str | None], theirs: Sequence[str | None]) -> tuple[float, float]:
    """Return the share of equal texts, and the largest that chance alone is likely to bring (3 errors up)."""
    both = [(a, b) for a, b in zip(ours, theirs, strict=True) if a is not None and b is not None]
    n = len(both)
    if not n:
        return 0.0, 0.0
    counts = Counter(b for _, b in both)
    by_chance = sum(counts[a] for a, _ in both) / n**2
    return sum(a == b for a, b in both) / n, by_chance + 3 * (by_chance * (1 - by_chance) / n) ** 0.5


def _probabilities_of_a_class(
    found: Iterable[Candidate], columns: Mapping[str, Column], read_as: Mapping[str, str]
) -> list[Candidate]:
    """Read a confidence that lies below one half exactly where one of two classes is predicted as a class's.

    Nothing but a person's word can justify that, so that it is asked.
    """
    result = list(found)
    predicted = [column for column, name in read_as.items() if name == "prediction"]
    predicted += [
        next(iter(one.names)) for one in result if one.name == "prediction" and one.clarity == "said"
    ]
    prediction = next((columns[name] for name in predicted if name in columns), None)
    if prediction is None:
        return result
    for at, one in enumerate(result):
        column = columns.get(next(iter(one.names)))
        is_single = len(one.names) == 1 and column is not None and one.name == "confidence"
        if is_single and column is not None and (label := _one_sided_class(column, prediction)):
            why = f"{column.range_text}, from one half on only where {prediction.name!r} is {label!r}"
            result[at] = Candidate({column.name: f"confidence:class:{label}"}, "hinted", why)
    return result


def _one_sided_class(column: Column, prediction: Column) -> str | None:
    """Return the class whose probability a column seems to be; None where it is no such probability."""
    if not column.are_shares:
        return None
    shares: dict[str, list[float]] = {}
    for text, label in zip(column.texts, prediction.texts, strict=True):
        if text is not None and label is not None and _NUMBER.match(text):
            shares.setdefault(label, []).append(float(text))
    if len(shares) != 2 or min(map(len, shares.values())) < MIN_OF_EACH_CLASS:
        return None
    (low, below), (high, above) = sorted(shares.items(), key=lambda item: sum(item[1]) / len(item[1]))
    del low
    return high if max(below) <= 0.5 <= min(above) and min(below) < 0.5 else None


def _compared(
    found: Iterable[Candidate], columns: Sequence[Column], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield the candidates; an outcome with how often it differs from the one that is read."""
    by_name = {column.name: column for column in columns}
    read = {name: by_name[column] for column, name in read_as.items() if column in by_name}
    ours, own_name = None, ""
    if "correct" in read:
        ours, own_name = COLUMN_JUDGES["correct"](read["correct"].raw).values, read["correct"].name
    elif read.keys() >= ANSWERS:
        equal = [
            a == b or None for a, b in zip(read["gold"].lowered, read["prediction"].lowered, strict=True)
        ]
        ours, own_name = (
            pl.Series(equal, dtype=pl.Boolean),
            "answer and gold",
        )  # texts that differ may be right
    for one in found:
        column = by_name.get(next(iter(one.names)))
        is_outcome = one.clarity == "said" and _role(one.name) == "correct"
        if ours is None or column is None or not is_outcome:
            yield one
            continue
        theirs = MappedName.parse(one.name).judge(column.raw).values
        n_compared = int((ours.is_not_null() & theirs.is_not_null()).sum())
        differing = (ours != theirs).fill_null(value=False).arg_true()
        example = ""
        if differing.len():
            at = differing[0]
            right, wrong = (own_name, column.name) if ours[at] else (column.name, own_name)
            example = f"row {at + 1}: right by {right!r}, wrong by {wrong!r}"
        yield replace(one, n_compared=n_compared, n_differing=differing.len(), example=example)


# --- Lists: in one column, or of several ------------------------------------------------------------------


def _list_columns(values: Mapping[str, pl.Series], read_as: Mapping[str, str]) -> Iterator[Candidate]:
    """Yield columns of lists with a usual spelling, and lists of right answers."""
    for column in sorted(values.keys() - read_as.keys()):
        for name in (*LIST_COLUMNS, "gold"):
            if spelling_rank(column, name) is None or (name == "gold" and not _is_list(values[column])):
                continue
            if name == "gold" or (_fits(values[column], name) and not _is_empty(values[column])):
                yield Candidate({column: name}, "said", "its name")


def _is_list(raw: pl.Series) -> bool:
    return isinstance(raw.dtype, pl.List) and not cast("pl.List", raw.dtype).inner.is_nested()  # type: ignore[union-attr]


def _is_empty(raw: pl.Series) -> bool:
    return raw.len() == int(is_missing(raw).sum())


def find_scored_choices(lists: Mapping[str, pl.Series]) -> Iterator[Candidate]:
    """Yield the choices and probabilities in lists of objects such as {"label": "a", "score": 0.9}.

    Parameters
    ----------
    lists : Mapping[str, pl.Series]
        Path → the lists there, such as `scores.label` and `scores.score`.
    """
    for label, score in product(lists, lists):
        (where, _, key), (place, _, number) = label.rpartition("."), score.rpartition(".")
        is_named = where == place and key in LABEL_KEYS and number in SCORE_KEYS
        if is_named and _fits(lists[score], "choice_probs", MIN_FITTING):
            names = {label: "choices", score: "choice_probs"}
            yield Candidate(names, "said", f"lists of {key} and {number}")


def _lists_of_columns(columns: Sequence[Column]) -> Iterator[Candidate]:
    """Yield the columns that form one list: a probability for each choice, sampled answers, choices."""
    yield from _distributions(columns)
    by_normalised: dict[str, Column] = {}
    for column in columns:
        by_normalised.setdefault(normalise_name(column.name), column)
    for name, prefixes in SERIES_PREFIXES.items():
        for prefix in prefixes:
            start = 0 if f"{prefix}0" in by_normalised else 1
            numbers = (str(number) for number in range(start, start + len(by_normalised)))
            for suffixes in (string.ascii_lowercase, numbers):
                members: list[Column] = []
                for suffix in suffixes:
                    if (column := by_normalised.get(f"{prefix}{suffix}")) is None:
                        break
                    members.append(column)
                are_texts = name not in ("samples", "choices") or not any(one.are_shares for one in members)
                if len(members) > 1 and are_texts and _fits(_combined(members), name):
                    names = dict.fromkeys((column.name for column in members), name)
                    yield Candidate(names, "said", "their names")


def _combined(columns: Sequence[Column]) -> pl.Series:
    return combine_columns([column.raw for column in columns])


def _distributions(columns: Sequence[Column]) -> Iterator[Candidate]:
    """Yield columns of one beginning that says probability and whose rows sum to 1, or to less."""
    shares = {column.name: column for column in columns if _are_probabilities(column)}
    families: dict[tuple[str, str], dict[str, Column]] = {}
    for pattern in (_WITHOUT_LETTER, _WITHOUT_WORD):
        for name, column in shares.items():
            if (match := pattern.fullmatch(name)) is not None and _says_probability(match["prefix"]):
                families.setdefault((pattern.pattern, match["prefix"]), {})[match["label"]] = column
    used: set[str] = set()
    for members in families.values():
        names = in_order_of_suffix([column.name for column in members.values()])
        if len(members) < 2 or used & {*names}:
            continue
        combined = _combined([shares[name] for name in names])
        labels = [label.lower() for label in members]
        if _fits(combined, "choice_probs", MIN_FITTING):
            used |= {*names}
            yield Candidate(
                dict.fromkeys(names, "choice_probs"), "said", "their names, and rows that sum to 1"
            )
        elif sorted(labels) == list(string.ascii_lowercase[: len(labels)]) and _are_masses(combined):
            used |= {*names}
            why = "their names, and rows that sum to less than 1: probabilities within a larger vocabulary"
            yield Candidate(dict.fromkeys(names, "choice_masses"), "hinted", why)


def _are_probabilities(column: Column) -> bool:
    return column.are_numbers and min(column.numbers) >= 0 and max(column.numbers) <= 1


def _says_probability(prefix: str) -> bool:
    words = name_words(prefix)
    return bool(words) and (
        words in (("p",), ("softmax",)) or any(word in WORDS["confidence"] for word in words)
    )


def _are_masses(raw: pl.Series) -> bool:
    sums = raw.cast(pl.List(pl.Float64), strict=False).list.sum().drop_nulls()
    return sums.len() > 0 and bool(((sums > 0) & (sums <= 1)).all())


# --- Sampled answers and their outcomes -------------------------------------------------------------------


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
        if spelling_rank(text, "choices") is None and _are_judged_alike(answers[text], outcomes[flag])
    ]
    return pairs[0] if len(pairs) == 1 else None


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


def choice_letters_note(values: Mapping[str, pl.Series]) -> str | None:
    """Say that columns hold letters of choices, which may be sampled answers; None if fewer than 3 do.

    Whether they are samples of one model, the values cannot tell, so that nothing is proposed.

    Examples
    --------
    >>> votes = pl.Series(["A", "B", "B", "D"])
    >>> choice_letters_note({"m1": votes, "m2": votes, "m3": votes})  # doctest: +ELLIPSIS
    '3 columns hold letters of choices: m1, m2, m3. Name those ...: --map COLUMN=samples, once for each.'
    """
    columns = [Column(name, raw) for name, raw in values.items() if not raw.dtype.is_nested()]
    of_letters = [
        column.name
        for column in columns
        if len(set(column.present)) > 1
        and not any(name == "gold" for name, _ in meanings(column.name))
        and sum(map(_is_choice_letter, column.present)) >= MIN_FITTING * len(column.present)
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


# --- Systems side by side ---------------------------------------------------------------------------------


def find_systems(
    columns: Sequence[str], values_of: Callable[[str], pl.Series], *, has_gold: bool
) -> tuple[Candidate, ...]:
    """Find patterns for the columns of several systems that stand side by side in each row.

    Parameters
    ----------
    columns
        Columns of the file, and paths to nested fields.
    values_of
        Gives the first values of a column.
    has_gold
        Whether each row has a right answer, by which the systems' own answers can be judged.

    Returns
    -------
    tuple of Candidate
        Pattern with one star → what its columns may be read as. It is empty unless two systems or more have
        a confidence and an outcome each. Several patterns for the confidence or the outcome of the same
        systems are alternatives. Numbers are no systems: they count the answers of one. Nor are single
        letters without outcomes of their own, which may be choices.

    Examples
    --------
    >>> columns = {"m7-conf": [0.5, 0.7], "m7-wrong": [0, 1], "m70-conf": [0.6, 0.9], "m70-wrong": [1, 0]}
    >>> found = find_systems([*columns], lambda name: pl.Series(columns[name]), has_gold=False)
    >>> [dict(one.names) for one in found]
    [{'*-conf': 'confidence'}, {'*-wrong': 'correct:not'}]
    """
    patterns = _systems_by_pattern(columns)
    best: dict[str, list[Candidate]] = {}
    common: set[str] = set()
    for name in WIDE_NAMES:
        for pattern, systems in sorted(patterns[name].items(), key=lambda item: -len(item[1])):
            shared = common & systems.keys() if best else {*systems}
            if name == "prediction" and "correct" not in best:
                shared = {system for system in shared if len(system) > 1}
            is_needed = name != "prediction" or "correct" not in best
            if len(shared) < 2 or not is_needed or (name in best and shared != common):
                continue
            one = _as_pattern(pattern, name, [values_of(systems[system]) for system in sorted(shared)])
            if one is not None:
                best.setdefault(name, []).append(one)
                common = shared
    outcome = "correct" if "correct" in best else "prediction"
    if "confidence" not in best or outcome not in best or (outcome == "prediction" and not has_gold):
        return ()
    return tuple(one for of_name in best.values() for one in of_name)


def _systems_by_pattern(columns: Sequence[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Map each name of `WIDE_NAMES` to the patterns that may stand for it, each with system → column."""
    found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in WIDE_NAMES}
    for column in columns:
        for separator in SEPARATOR.finditer(column):
            before, after = column[: separator.start()], column[separator.end() :]
            for system, label, pattern in (
                (before, after, f"*{column[separator.start() :]}"),
                (after, before, f"{column[: separator.end()]}*"),
            ):
                said = {MappedName.parse(name).name for name, clarity in meanings(label) if clarity == "said"}
                for name in said & {*WIDE_NAMES}:
                    if system and not system.isdecimal():
                        found[name].setdefault(pattern, {})[system] = column
    return found


def _as_pattern(pattern: str, name: str, values: Sequence[pl.Series]) -> Candidate | None:
    """Return how the columns of all systems may be read as a name; None if those of one do not fit."""
    label = pattern.replace("*", "").strip("-_./: ")
    columns = [Column(label, raw) for raw in values]
    if any(column.raw.dtype.is_nested() or not column.present for column in columns):
        return None
    all_texts = [text for column in columns for text in column.present]
    together = Column(label, pl.Series(all_texts, dtype=pl.String))
    said = next((one for one in meanings(label) if MappedName.parse(one.name).name == name), None)
    if said is None:
        return None
    if schema_name(name) in PROBABILITY_COLUMNS:
        one = next(as_confidence(together, said.name, said.clarity), None)
    elif name == "correct":
        one = next(as_outcome(together, [said]), None)
    else:
        one = None if together.are_shares else Candidate({label: name}, "said", "its name")
    return None if one is None else Candidate({pattern: one.name}, one.clarity, one.why, one.missing)


# --- From candidates to mappings --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Plan:
    """A mapping to be tried.

    Attributes
    ----------
    columns
        Column → what it is read as.
    missing
        Values that count as missing.
    unsaid
        Why only a person can know that it is meant, with the columns in question; () where names say it.
    """

    columns: Mapping[str, str]
    missing: tuple[str, ...] = ()
    unsaid: tuple[str, ...] = ()

    def adding(self, one: Candidate) -> Plan:
        """Return the plan with what a candidate reads, too."""
        missing = (*self.missing, *(text for text in one.missing if text not in self.missing))
        why = f"{join_names([repr(shorten(column, 40)) for column in one.names])}: {one.why}"
        unsaid = self.unsaid if one.clarity == "said" else (*self.unsaid, why)
        return Plan({**self.columns, **one.names}, missing, unsaid)


OUTCOMES: Final = frozenset({*OUTCOME_COLUMNS, "sample_correct", "gold", "gold_index", "gold_all"})
"""Names of which a run needs one, so that answers can be right or wrong."""
_ESSENTIAL: Final = CONFIDENCE_SOURCES | OUTCOMES | {"prediction", "prediction_index"}


def plans(candidates: Sequence[Candidate], read_as: Mapping[str, str]) -> list[Plan]:
    """List the mappings that follow from candidates, the likeliest first.

    Parameters
    ----------
    candidates : Sequence of Candidate
        As `find_candidates` returns them.
    read_as : Mapping[str, str]
        Column → the name that it is read as already.

    Returns
    -------
    list of Plan
        Each has the likeliest column of every name that is said. Rivals for what decides on the numbers make
        further plans. Where no confidence or no outcome is said, there is a plan for each that is hinted at,
        and for each direction that an outcome may have.
    """
    base, rivals = _base_and_rivals(candidates, read_as)
    known = {*map(_role, read_as.values()), *map(_role, base.columns.values())}
    unread = [one for one in candidates if not one.names.keys() & base.columns.keys()]
    asked = [base]
    if not known & CONFIDENCE_SOURCES:
        asked = [plan.adding(one) for plan in asked for one in _hinted_confidences(unread)]
    elif reread := [one for one in unread if one.clarity == "hinted" and one.names.keys() & read_as.keys()]:
        asked = [base.adding(one) for one in reread]
    if not known & OUTCOMES:
        outcomes = [one for one in unread if _role(one.name) in OUTCOMES]
        asked = [plan.adding(one) for plan in asked for one in _clearest(outcomes)]
    elif not known & {"prediction", "prediction_index", *OUTCOME_COLUMNS} and not known & LIST_COLUMNS:
        predictions = [one for one in unread if one.name == "prediction"]
        asked = [plan.adding(one) for plan in asked for one in predictions] or asked
    if asked == [base]:
        asked += _with_rivals(base, rivals)
    return [plan for plan in asked if plan.columns]


def _base_and_rivals(
    candidates: Sequence[Candidate], read_as: Mapping[str, str]
) -> tuple[Plan, list[Candidate]]:
    """Return the likeliest column of every name that is said, and the others that are said."""
    base, rivals = Plan({}), list[Candidate]()
    taken = {*map(_role, read_as.values())}
    for one in candidates:
        roles = {_role(name) for name in one.names.values()}
        if one.clarity != "said" or one.names.keys() & base.columns.keys():
            continue
        if one.names.keys() & read_as.keys() or not roles & {*taken, *map(_role, base.columns.values())}:
            base = base.adding(one)
        else:
            rivals.append(one)
    return _with_further_confidences(base, rivals, candidates, taken), rivals


def said_columns(candidates: Sequence[Candidate], read_as: Mapping[str, str]) -> Mapping[str, str]:
    """Return the likeliest column of every name that is said → what it may be read as."""
    return _base_and_rivals(candidates, read_as)[0].columns


def _with_rivals(base: Plan, rivals: Sequence[Candidate]) -> Iterator[Plan]:
    """Yield the plan with each rival for what decides on numbers; those that belong together as one."""
    essential = [one for one in rivals if {*map(_role, one.names.values())} & _ESSENTIAL]
    own = [_own_words(one, base) for one in essential]
    for at, one in enumerate(essential):
        others = [
            other
            for other, words in zip(essential, own, strict=True)
            if words == own[at] and _role(other.name) != _role(one.name)
        ]
        if any(_role(other.name) < _role(one.name) for other in others):
            continue  # as the rival of that one
        plan = base
        for rival in (one, *others):
            kept = {c: name for c, name in plan.columns.items() if _role(name) != _role(rival.name)}
            plan = replace(plan, columns=kept).adding(rival)
        yield plan


def _own_words(one: Candidate, base: Plan) -> frozenset[str]:
    """Return the words of a rival's columns that those of the plan with the same name do not have."""
    rivals = [column for column, name in base.columns.items() if _role(name) == _role(one.name)]
    theirs = frozenset(word for column in rivals for word in name_words(column))
    return frozenset(word for column in one.names for word in name_words(column)) - theirs


def _role(name: str) -> str:
    return schema_name(MappedName.parse(name).name)


def _clearest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are said or hinted at, or else those that are possible."""
    return [one for one in candidates if one.clarity != "possible"] or list(candidates)


def _hinted_confidences(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the confidences that a name hints at; that values allow one is told, not asked."""
    return [
        one
        for one in candidates
        if one.clarity == "hinted" and {*map(_role, one.names.values())} & CONFIDENCE_SOURCES
    ]


def _with_further_confidences(
    base: Plan, rivals: list[Candidate], candidates: Sequence[Candidate], taken: Collection[str]
) -> Plan:
    """Add columns whose names say what kind of confidence they are, as methods beside the others."""
    roles = {*taken, *map(_role, base.columns.values())}
    if not roles & OUTCOMES or not roles & CONFIDENCE_SOURCES:
        return base
    columns = dict(base.columns)
    for one in candidates:
        column = next(iter(one.names))
        name = further_confidence(column)
        is_free = column not in columns and one.clarity != "possible" and one.name.startswith("confidence")
        if is_free and name and ":" not in one.name and name not in columns.values():
            columns[column] = name + one.name.removeprefix("confidence")
            if one in rivals:
                rivals.remove(one)
    return Plan(columns, base.missing, base.unsaid)


def pattern_plans(candidates: Sequence[Candidate]) -> list[Plan]:
    """List the choices of one pattern for each name, the likeliest first."""
    by_role: dict[str, list[Candidate]] = {}
    for one in candidates:
        by_role.setdefault(_role(one.name), []).append(one)
    found: list[Plan] = []
    for choice in product(*by_role.values()) if by_role else ():
        plan = Plan({})
        for one in choice:
            plan = plan.adding(one)
        found.append(plan)
    return found


def unique_within(ids: pl.Series, groups: pl.DataFrame) -> tuple[str, ...]:
    """Return the group columns within whose values no id repeats, those of a telling name first.

    Parameters
    ----------
    ids : pl.Series, shape (n,)
        The ids; null where missing.
    groups : pl.DataFrame
        Columns of few values, one row for each id.
    """
    known = ids.is_not_null()

    def is_unique(name: str) -> bool:
        pairs = pl.DataFrame({"id": ids, "group": groups[name]}).filter(known & groups[name].is_not_null())
        return pairs.height > 0 and pairs.height == int(known.sum()) and not pairs.is_duplicated().any()

    found = [name for name in groups.columns if is_unique(name)]
    return tuple(sorted(found, key=lambda name: (not meanings(name), groups[name].n_unique(), name)))
