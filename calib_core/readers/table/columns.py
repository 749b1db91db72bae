"""The columns of tables: which names exist, how their values are checked, and which column is read as which.

The names are fixed, as people write files with them. A new column is one line in `COLUMN_JUDGES` and one in
`calib_core.runs.ANSWER_SCHEMA`. Only the columns `confidence.NAME` and `human.NAME` are named freely: what
holds for "confidence" and "human" holds for them (`calib_core.runs.schema_name`).
"""

from __future__ import annotations

import math
import re
import string
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, get_args

import polars as pl

from calib_core.advice import Advice, to_say
from calib_core.errors import Refused, shorten
from calib_core.readers.format import ReadOptions
from calib_core.readers.table.cells import (
    PLAIN_NUMBER,
    ColumnJudge,
    JudgedColumn,
    integer_judge,
    judge_amount,
    judge_billions,
    judge_display_text,
    judge_element_probability,
    judge_event,
    judge_exponential,
    judge_finite,
    judge_flag,
    judge_log_probability,
    judge_logit,
    judge_negative_log,
    judge_probability,
    judge_quotient,
    judge_right_values,
    judge_sample_text,
    judge_shots,
    judge_stated_probability,
    judge_text,
    judge_words,
    lenient_judge,
    opposite,
    word_judge,
)
from calib_core.readers.table.list_cells import (
    distribution_judge,
    list_judge,
    mass_judge,
    some_finite_judge,
)
from calib_core.runs import ANSWER_SCHEMA, INFO_COLUMNS, NAMED_COLUMN_RULE, ChoicesAre, schema_name

_COUNT_LIST: Final = list_judge(integer_judge(1, pl.Int32()), pl.Int32())
_LOGPROB_LIST: Final = list_judge(judge_log_probability, pl.Float64())
_TEXT_LIST: Final = list_judge(judge_sample_text, pl.String())
_POSITION: Final = integer_judge(0, pl.Int32())
_PROBABILITY_LIST: Final = list_judge(judge_element_probability, pl.Float64())
_judge_masses: Final = mass_judge(_PROBABILITY_LIST)
_judge_printed: Final = distribution_judge(_PROBABILITY_LIST, as_printed=True)

COLUMN_JUDGES: Final = MappingProxyType[str, ColumnJudge](
    {
        "id": judge_text,
        "trial_of": judge_text,
        "subject": judge_text,
        "question": judge_display_text,
        "status": judge_text,
        "answer_kind": judge_text,
        "choices": _TEXT_LIST,
        "gold": judge_text,
        "gold_index": _POSITION,
        "gold_all": _TEXT_LIST,
        "choice_logprobs": some_finite_judge(_LOGPROB_LIST),
        "choice_logits": some_finite_judge(list_judge(judge_logit, pl.Float64())),
        "choice_logprob_floor": judge_log_probability,
        "choice_other_mass": judge_probability,
        "choice_probs": distribution_judge(_PROBABILITY_LIST),
        "choice_token_counts": _COUNT_LIST,
        "choice_char_counts": _COUNT_LIST,
        "choice_byte_counts": _COUNT_LIST,
        "prediction": judge_text,
        "prediction_index": _POSITION,
        "prediction_text": judge_display_text,
        "correct": judge_flag,
        "samples": _TEXT_LIST,
        "samples_parsed": _TEXT_LIST,
        "sample_correct": list_judge(judge_flag, pl.Boolean()),
        "sample_cluster": list_judge(_POSITION, pl.Int32()),
        "correct_majority": judge_flag,
        "path_logprobs": _LOGPROB_LIST,
        "path_mean_prob": judge_probability,
        "answer_start": _POSITION,
        "answer_end": _POSITION,
        "answer_logprobs": _LOGPROB_LIST,
        "answer_mean_prob": judge_probability,
        "p_true": judge_probability,
        "p_false": judge_probability,
        "p_true_norm": judge_text,
        "verbal_confidence": judge_stated_probability,
        "confidence": judge_probability,
        "server_confidence": lenient_judge(judge_finite),
        "event_prob": judge_probability,
        "event": judge_event,
        "weight": judge_amount,
        "judge": judge_text,
        "judge_score": lenient_judge(judge_amount),
        "human": judge_text,
        "swap_of": judge_text,
        "model": judge_text,
        "dataset": judge_text,
        "shots": judge_shots,
        "checkpoint": judge_text,
        "params_b": lenient_judge(judge_billions),
        "tuning": judge_text,
        "temperature": lenient_judge(judge_amount),
        "tokens_seen": lenient_judge(integer_judge(0, pl.Int64())),
        "choices_are": word_judge(get_args(ChoicesAre)),
    }
)
"""Column → its judge: the columns of a row (`ANSWER_SCHEMA`) and those of its run (`INFO_COLUMNS`)."""

NEVER_FRACTIONS: Final = frozenset({"id", "trial_of", "question"})
"""Columns that name what a row asks; numbers between 0 and 1 do not, and may be those of a token "id"."""

SINGLE_TEXT_COLUMNS: Final = frozenset(name for name, judge in COLUMN_JUDGES.items() if judge is judge_text)
"""Columns in which a list or an object is a fault, although it could be shown as text."""

TEXT_LIST_COLUMNS: Final = frozenset(name for name, judge in COLUMN_JUDGES.items() if judge is _TEXT_LIST)
"""Columns of lists of texts."""

LIST_COLUMNS: Final = frozenset(name for name, dtype in ANSWER_SCHEMA.items() if isinstance(dtype, pl.List))
"""Columns of lists; several columns of the file can be combined into one of them."""

PROBABILITY_COLUMNS: Final = frozenset(
    name for name, judge in COLUMN_JUDGES.items() if judge in (judge_probability, judge_stated_probability)
)
"""Columns of numbers from 0 to 1, which people may have written as percentages."""

CHOICE_SCORES: Final = ("choice_probs", "choice_logprobs", "choice_logits")
"""Columns with a number for each choice that says how likely it is."""

POSITION_COLUMNS: Final = ("gold_index", "prediction_index")
"""Columns with the position of a choice, counted from 0."""

CHOICE_LISTS: Final = (
    *CHOICE_SCORES,
    "choices",
    "choice_token_counts",
    "choice_char_counts",
    "choice_byte_counts",
)
"""Columns with an element for each choice."""

FLAG_COLUMNS: Final = frozenset(
    name for name, judge in COLUMN_JUDGES.items() if judge in (judge_flag, judge_event)
)
"""Columns of outcomes, for which the user may name the values that mean right."""

CONFIDENCE_SOURCES: Final = frozenset(
    {
        *PROBABILITY_COLUMNS,
        "choice_probs",
        "choice_logprobs",
        "choice_logits",
        "samples",
        "samples_parsed",
        "sample_cluster",
        "path_logprobs",
        "answer_logprobs",
    }
) - {"choice_other_mass", "p_false"}
"""Columns that a confidence can be taken from."""

NUMERIC_COLUMNS: Final = frozenset(
    name
    for name, judge in COLUMN_JUDGES.items()
    if judge
    in (
        judge_probability,
        judge_stated_probability,
        judge_flag,
        judge_event,
        _POSITION,
        _LOGPROB_LIST,
        _COUNT_LIST,
    )
    or name in ("choice_logprobs", "choice_logits", "choice_probs", "sample_cluster")
)
"""Columns in which only the number or the truth value counts, not its spelling."""

MAX_PATH_STEPS: Final = 32
"""Limit on the steps of a path to a nested field."""

DECIMAL_COMMA: Final = "comma"
"""What follows the name of a probability whose column has decimal commas: "confidence:comma"."""

LOG_SCALE: Final = "log"
"""What follows the name of a probability whose column holds its natural logarithm: "confidence:log"."""

NEGATIVE_LOG: Final = "nll"
"""What follows the name of a probability whose column holds negative log-likelihoods: "confidence:nll"."""

_NAME_OF_PAIR: Final = re.compile(r"=(?P<name>[^=:/]*)(?=[:/]|$)")
_KNOWN_NAMES: Final = frozenset((*ANSWER_SCHEMA, *INFO_COLUMNS))
_SCALED_NAME: Final = re.compile(r"(?P<name>[^/]+)/(?P<divisor>[1-9][0-9]{0,5})")
SEPARATOR: Final = re.compile(r"[-_./: ()\[\]]+")
_NUMBER_AT_END: Final = re.compile(r"(?P<prefix>.*?)(?P<suffix>[0-9]{1,9})", re.DOTALL)


def in_order_of_suffix(columns: Sequence[str]) -> list[str]:
    """Sort the columns of one list by the letter or number at their end; unchanged if they have none.

    Examples
    --------
    >>> in_order_of_suffix(["prob_D", "prob_B", "prob_C", "prob_A"])
    ['prob_A', 'prob_B', 'prob_C', 'prob_D']
    >>> in_order_of_suffix(["sample10", "sample9"])
    ['sample9', 'sample10']
    """
    labels = letters_of_columns(columns)
    if not labels:
        numbers = [int(label) for label in choice_labels(columns) if label.isdecimal()]
        if len({*numbers}) < len(columns):
            return list(columns)
        return [column for _, column in sorted(zip(numbers, columns, strict=True))]
    return [column for _, column in sorted(zip(labels, columns, strict=True))]


def letters_of_columns(columns: Sequence[str]) -> tuple[str, ...]:
    """The letters of the choices that have a column each, in the columns' order; () if they name none.

    The columns have one beginning or one ending, and the letter behind or before it is one of the first of
    the alphabet, in any order.

    Examples
    --------
    >>> letters_of_columns(["prob_D", "prob_C", "prob_B", "prob_A"])
    ('D', 'C', 'B', 'A')
    >>> letters_of_columns(["B_prob", "A_prob"])
    ('B', 'A')
    >>> letters_of_columns(["car", "cat"])
    ()
    """
    columns = _without_ending(columns)
    letters = tuple(column[-1:].upper() for column in columns)
    has_one_beginning = len({column[:-1] for column in columns}) == 1
    is_labelled = sorted(letters) == list(string.ascii_uppercase[: len(letters)])
    return letters if has_one_beginning and is_labelled and len(letters) > 1 else ()


def choice_labels(columns: Sequence[str]) -> tuple[str, ...]:
    """What the columns of several choices call them, in the columns' order; () if they have no labels.

    They are letters (`letters_of_columns`), the numbers after one beginning, or what is left of the names
    without a beginning or ending that all have in common, up to a separator.

    Examples
    --------
    >>> choice_labels(["prob_neutral", "prob_negative"]), choice_labels(["p10", "p2"])
    (('neutral', 'negative'), ('10', '2'))
    >>> choice_labels(["yes_prob", "no_prob"]), choice_labels(["cat", "dog"]), choice_labels(["probs"])
    (('yes', 'no'), ('cat', 'dog'), ())
    """
    if len(columns) < 2:
        return ()
    if letters := letters_of_columns(columns):
        return letters
    columns = _without_ending(columns)
    numbered = [_NUMBER_AT_END.fullmatch(column) for column in columns]
    matches = [match for match in numbered if match is not None]
    if len(matches) == len(columns) and len({match["prefix"] for match in matches}) == 1:
        return tuple(match["suffix"] for match in matches)
    ends = [place.end() for place in SEPARATOR.finditer(columns[0])]
    beginning = next((end for end in reversed(ends) if len({one[:end] for one in columns}) == 1), 0)
    labels = tuple(column[beginning:] for column in columns)
    return labels if all(labels) else ()


def _without_ending(columns: Sequence[str]) -> Sequence[str]:
    """Return columns without the ending that all have in common, from a separator on."""
    starts = [place.start() for column in columns[:1] for place in SEPARATOR.finditer(column)]
    endings = [columns[0][start:] for start in starts if start]
    ending = next((one for one in endings if all(column.endswith(one) for column in columns)), "")
    rests = [column.removesuffix(ending) for column in columns]
    return rests if len(columns) > 1 and all(rests) else columns


INVERTED: Final = "inverted"
"""What follows the name of a probability of being wrong: "confidence:inverted" is 1 − x."""

NEGATED: Final = "not"
"""What follows the name of an outcome that says what is wrong: "correct:not"."""

OF_CLASS: Final = "class"
"""What follows the name of a probability of one of two classes, before the class: "confidence:class:pos"."""

COUNTED_FROM_ONE: Final = "from1"
"""What follows the name of a position that is counted from 1: "gold_index:from1"."""

CHOICE_MASSES: Final = "choice_masses"
"""Probabilities of the choices within a whole vocabulary; divided by their sum they are `choice_probs`."""

AS_PRINTED: Final = "printed"
"""What follows the name of probabilities that are printed with few digits: "choice_probs:printed"."""

_FORM_FLAGS: Final = MappingProxyType(
    {
        LOG_SCALE: "is_log",
        NEGATIVE_LOG: "is_negative_log",
        DECIMAL_COMMA: "has_commas",
        INVERTED: "is_inverted",
    }
)
"""What may follow the name of a probability → the attribute of `MappedName` that it sets."""

NAMED_FAMILIES: Final = ("confidence.", "human.")
"""How columns begin whose name goes on freely."""

PERCENT: Final = 100
"""What percentages are divided by."""

PROBABILITY_FORMS: Final = "/NUMBER, :log, :nll, :comma, :inverted, :class:LABEL or :WORD=NUMBER|WORD=NUMBER"
"""What may follow the name of a probability, for messages."""


def split_pair(text: str) -> tuple[str, str]:
    """Split COLUMN=NAME before the name; the column, and what follows the name, may contain "=" as well.

    Examples
    --------
    >>> split_pair("a=b=correct"), split_pair("sure=confidence:high=0.9|low=0.3"), split_pair("a=")
    (('a=b', 'correct'), ('sure', 'confidence:high=0.9|low=0.3'), ('a', ''))
    """
    places = list(_NAME_OF_PAIR.finditer(text))
    known = (place for place in places if schema_name(place["name"]) in _KNOWN_NAMES)
    place = next(known, places[0] if places else None)
    return ("", text) if place is None else (text[: place.start()], text[place.start() + 1 :])


@dataclass(frozen=True, slots=True)
class MappedName:
    """What a column is to be read as, as people write it: "confidence/100", "correct:Correct|Mostly correct".

    Attributes
    ----------
    name : str
        The name alone; "" for a column that is left out.
    divisor : int
        The number that the values are divided by; 1 if they are taken as they are.
    right_values : frozenset of str
        The values that mean right, all others meaning wrong; empty if none are named.
    is_log : bool
        Whether the values are natural logarithms of what is meant ("confidence:log").
    is_negative_log : bool
        Whether the values are negative natural logarithms of what is meant ("confidence:nll").
    has_commas : bool
        Whether the user said that the values have decimal commas ("confidence:comma").
    is_inverted : bool
        Whether the opposite is meant: 1 − x ("confidence:inverted"), wrong for right ("correct:not").
    of_class : str
        The class whose probability the values are ("confidence:class:pos"); "" if they are that of the
        prediction.
    word_numbers : tuple of (str, float)
        Words and what they stand for ("confidence:high=0.9|low=0.3"); NaN for what is not a number.
    is_counted_from_one : bool
        Whether the values are positions counted from 1 ("gold_index:from1").
    are_masses : bool
        Whether the probabilities of the choices are to be divided by their sum (`CHOICE_MASSES`).
    are_printed : bool
        Whether their sums may miss 1 by what printing them does ("choice_probs:printed").
    """

    name: str
    divisor: int = 1
    right_values: frozenset[str] = frozenset()
    is_log: bool = False
    is_negative_log: bool = False
    has_commas: bool = False
    is_inverted: bool = False
    of_class: str = ""
    word_numbers: tuple[tuple[str, float], ...] = ()
    is_counted_from_one: bool = False
    are_masses: bool = False
    are_printed: bool = False

    @classmethod
    def parse(cls, text: str) -> MappedName:
        """Split what was written into its parts.

        Examples
        --------
        >>> mapped = MappedName.parse("confidence/100:inverted")
        >>> mapped.name, mapped.divisor, mapped.is_inverted
        ('confidence', 100, True)
        >>> sorted(MappedName.parse("correct:Correct|Mostly correct").right_values)
        ['Correct', 'Mostly correct']
        >>> MappedName.parse("confidence:high=0.9|low=0.3").word_numbers
        (('high', 0.9), ('low', 0.3))
        """
        name, _, rest = text.partition(":")
        if name == CHOICE_MASSES and not rest:
            return cls("choice_probs", are_masses=True)
        scaled = _SCALED_NAME.fullmatch(name)
        mapped = cls(name) if scaled is None else cls(scaled["name"], int(scaled["divisor"]))
        if rest and schema_name(mapped.name) in PROBABILITY_COLUMNS and (said := _with_forms(mapped, rest)):
            return said
        if rest.strip() == NEGATED and mapped.name in FLAG_COLUMNS:
            return replace(mapped, is_inverted=True)
        if rest.strip() == AS_PRINTED and mapped.name == "choice_probs":
            return replace(mapped, are_printed=True)
        if rest.strip() == COUNTED_FROM_ONE and mapped.name in POSITION_COLUMNS:
            return replace(mapped, is_counted_from_one=True)
        return replace(
            mapped, right_values=frozenset(value.strip() for value in rest.split("|") if value.strip())
        )

    @property
    def lacks_numbers(self) -> bool:
        """Whether a word has no number yet, as in "confidence:high=…|low=…"."""
        return any(math.isnan(number) for _, number in self.word_numbers)

    @property
    def direction(self) -> str:
        """What follows the name and the scale: ":inverted", ":class:LABEL" or ""."""
        return f":{INVERTED}" if self.is_inverted else f":{OF_CLASS}:{self.of_class}" if self.of_class else ""

    def refusal(self) -> str | None:
        """Say why values cannot be read as this, to follow "column X"; None if they can."""
        name = schema_name(self.name)
        if self.right_values and name in PROBABILITY_COLUMNS:
            return f"cannot be read this way: {self.name!r} may be followed by {PROBABILITY_FORMS}."
        if self.right_values and name not in FLAG_COLUMNS:
            return (
                f"cannot have values that mean right, as {self.name!r} is not an outcome. Outcomes are "
                f"{', '.join(sorted(FLAG_COLUMNS))}."
            )
        if self.divisor != 1 and name not in PROBABILITY_COLUMNS:
            return (
                f"cannot be divided, as {self.name!r} is not a probability. Probabilities are "
                f"{', '.join(sorted(PROBABILITY_COLUMNS))}."
            )
        if wrong := [word for word, number in self.word_numbers if not 0 <= number <= 1]:
            return f"needs a number from 0 to 1 for each word, as in WORD=0.9, and {wrong[0]!r} has none."
        counts = Counter(word.lower() for word, _ in self.word_numbers)
        if repeated := [word for word, count in counts.items() if count > 1]:
            return f"has two numbers for the word {repeated[0]!r}. Keep one."
        return None

    def judge(self, raw: pl.Series) -> JudgedColumn:
        """Check the values of a column that is read so, and convert them."""
        if self.right_values:
            return judge_right_values(raw, self.right_values)
        if self.word_numbers:
            return judge_words(raw, dict(self.word_numbers))
        if self.are_masses:
            return _judge_masses(raw)
        if self.are_printed:
            return _judge_printed(raw)
        if self.is_counted_from_one:
            judged = integer_judge(1, pl.Int32())(raw)
            return replace(judged, values=judged.values - 1)
        if self.is_negative_log:
            judged = judge_negative_log(raw)
        elif self.divisor != 1:
            judged = judge_quotient(raw, self.divisor)
        else:
            judged = (judge_exponential if self.is_log else COLUMN_JUDGES[schema_name(self.name)])(raw)
        return opposite(judged) if self.is_inverted else judged

    def note(self, column: str) -> str:
        """Say in a sentence how the values of a column are converted; "" if they are not."""
        source = repr(shorten(column, 40))
        if self.right_values:
            return f"{self.name} is 1 where {source} is {column_list_text(sorted(self.right_values))}."
        if self.word_numbers:
            named = ", ".join(f"{number:g} where it is {word!r}" for word, number in self.word_numbers)
            return f"{self.name} is read from the words of {source}: {named}."
        if self.is_inverted and self.name in FLAG_COLUMNS:
            return f"{self.name} is 1 where {source} says no or 0, and 0 where it says yes or 1."
        value = f"{source} minus 1, as it counts from 1" if self.is_counted_from_one else source
        value = value if self.divisor == 1 else f"{source} divided by {self.divisor:,}"
        value = f"exp of {source}, its natural logarithm" if self.is_log else value
        value = f"exp of minus {source}, its negative log-likelihood" if self.is_negative_log else value
        if self.of_class:
            return f"{self.name} is {value} where prediction is {self.of_class!r}, and 1 minus it elsewhere."
        if self.is_inverted:
            return f"{self.name} is 1 minus {value}."
        return f"{self.name} is {value}." if value != source else ""


def role_of(name: str) -> str:
    """Return the name alone of what a column is read as; "confidence" for every confidence.NAME.

    Examples
    --------
    >>> role_of("confidence.stated/100:inverted"), role_of("correct:Yes|Mostly")
    ('confidence', 'correct')
    """
    return schema_name(MappedName.parse(name).name)


def _with_forms(mapped: MappedName, rest: str) -> MappedName | None:
    """Add what follows the name of a probability; None if it is none of `PROBABILITY_FORMS`."""
    form, _, after = map(str.strip, rest.partition(":"))
    if form == OF_CLASS and after:
        return replace(mapped, of_class=after)
    if form in _FORM_FLAGS:
        mapped = replace(mapped, **{_FORM_FLAGS[form]: True})
        return _with_forms(mapped, after) if after else mapped
    pairs = [part.rpartition("=") for part in rest.split("|")]
    if not all(word.strip() for word, _, _ in pairs):
        return None
    return replace(mapped, word_numbers=tuple((word.strip(), _plain_number(text)) for word, _, text in pairs))


def _plain_number(text: str) -> float:
    """The number that a text is; NaN if it is none."""
    return float(text) if re.fullmatch(PLAIN_NUMBER, text.strip()) else float("nan")


# --- Roles: which column is read as which name ------------------------------------------------------------


ROW_NUMBER: Final = "row"
"""What stands for the number of a row where it is mapped to `id`; a column of this name comes first."""

MAJORITY: Final = "majority"
"""What stands for the majority of the samples where it is mapped to `prediction`; a column comes first."""


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """Which columns of a file are read, and as what.

    Attributes
    ----------
    mapping
        Column of the file → name it is read as, as chosen by the user; it wins over a column's own name.
        Several columns may be mapped to the name of a list: they become its elements, in the order of the
        mapping. A column mapped to "" is left out.
    known_names
        The names that a column may be read as; "confidence" stands for "confidence.NAME" as well.
    meanings
        Column of the file → all that was said of its values.
    missing
        Texts that stand for no value, in every column that is read.
    single_valued
        Columns in which a list of one value is that value.
    """

    mapping: Mapping[str, str]
    known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)
    meanings: Mapping[str, MappedName] = field(default_factory=dict[str, MappedName])
    missing: frozenset[str] = frozenset()
    single_valued: frozenset[str] = frozenset()

    @classmethod
    def from_options(cls, options: ReadOptions, file: str) -> ColumnRoles:
        """Check the columns and missing values that the user named; raises as `from_mapping`."""
        roles = cls.from_mapping(options.columns, file)
        for path in roles.paths:
            if path.count(".") >= MAX_PATH_STEPS:
                raise Refused(
                    f"{file}: the path {shorten(path)!r} has {path.count('.') + 1:,} steps, and at most "
                    f"{MAX_PATH_STEPS} are followed."
                )
        return replace(roles, missing=frozenset(value.strip() for value in options.missing))

    @classmethod
    def from_mapping(
        cls, mapping: Mapping[str, str], file: str, known_names: tuple[str, ...] = tuple(COLUMN_JUDGES)
    ) -> ColumnRoles:
        """Check a mapping; raises Refused for an unknown name, or one given twice that is not a list.

        A name may be followed by a number to divide by or by the values that mean right; see `MappedName`.
        """
        meanings = {column: MappedName.parse(text) for column, text in mapping.items()}
        mapping = {column: meaning.name for column, meaning in meanings.items()}
        for column, meaning in meanings.items():
            if schema_name(meaning.name) in known_names and (refusal := meaning.refusal()):
                raise Refused(f"{file}: column {column!r} {refusal}")
        names = list(mapping.values())
        for column, name in mapping.items():
            if name and schema_name(name) not in known_names:
                family = name.partition(".")[0]
                if name.startswith(NAMED_FAMILIES) and family in known_names:
                    raise Refused(
                        f"{file}: column {column!r} cannot be read as {shorten(name)!r}. The name of a "
                        f"{family} consists of {NAMED_COLUMN_RULE}."
                    )
                raise Refused(
                    f"{file}: column {column!r} cannot be read as {name!r}, which is not a column name of "
                    f"Calib. Names: {', '.join(known_names)}."
                )
            if name and name not in LIST_COLUMNS and names.count(name) > 1:
                raise Refused(f"{file}: two columns would be read as {name!r}. Choose one of them.")
        if len({meaning.are_masses for meaning in meanings.values() if meaning.name == "choice_probs"}) > 1:
            raise Refused(
                f"{file}: columns are read as choice_probs and as {CHOICE_MASSES}. Choose one of them."
            )
        roles = cls(mapping, known_names, meanings)
        roles.check_orders(file)
        return roles

    def role(self, column: str) -> str | None:
        """Return the name that a column of the file is read as; None if it is not read."""
        if column in self.mapping:
            return self.mapping[column] or None
        is_known = schema_name(column) in self.known_names
        return column if is_known and column not in self.mapping.values() else None

    def is_used(self, column: str) -> bool:
        """Return whether a column of the file is read."""
        return self.role(column) is not None

    @property
    def paths(self) -> tuple[str, ...]:
        """The mapped columns that may be paths to nested fields: those with a dot in their name."""
        return tuple(column for column, name in self.mapping.items() if name and "." in column)

    @property
    def combined_lists(self) -> dict[str, list[str]]:
        """The lists made of several columns: name → its columns, in the order of the mapping."""
        members: dict[str, list[str]] = {}
        for column, name in self.mapping.items():
            if name in LIST_COLUMNS:
                members.setdefault(name, []).append(column)
        return {name: columns for name, columns in members.items() if len(columns) > 1}

    @property
    def choice_labels(self) -> tuple[str, ...]:
        """The labels of the choices in their order, if columns that they are made of name them.

        Letters that any list of choices is made of come before the labels of their probabilities.
        """
        lists = self.combined_lists
        letters = (letters_of_columns(lists.get(name, ())) for name in CHOICE_LISTS)
        labels = (choice_labels(lists.get(name, ())) for name in CHOICE_SCORES)
        return next(filter(None, (*letters, *labels)), ())

    @property
    def order_notes(self) -> tuple[str, ...]:
        """A sentence for each list of choices that is made of several columns, with their order."""
        return tuple(
            f"{name} is the list of {column_list_text(columns)}, in this order."
            for name, columns in self.combined_lists.items()
            if name in CHOICE_LISTS
        )

    @property
    def value_notes(self) -> tuple[str, ...]:
        """A sentence for each column whose values are converted."""
        return tuple(filter(None, (meaning.note(column) for column, meaning in self.meanings.items())))

    def meaning(self, column: str, name: str) -> MappedName:
        """Return how the values of a column that is read as `name` are judged; it may be a combined list."""
        first = self.combined_lists.get(name, [column])[0]
        return replace(self.meanings.get(column, self.meanings.get(first, MappedName(name))), name=name)

    @property
    def right_values(self) -> dict[str, frozenset[str]]:
        """Column of the file → its values that mean right; all others mean wrong."""
        return {
            column: meaning.right_values for column, meaning in self.meanings.items() if meaning.right_values
        }

    @property
    def decimal_commas(self) -> frozenset[str]:
        """Columns of the file that the user said to have decimal commas."""
        return frozenset(column for column, meaning in self.meanings.items() if meaning.has_commas)

    def is_spelled(self, column: str) -> bool:
        """Return whether the values of a column are compared with texts that the user named."""
        meaning = self.meanings.get(column)
        return meaning is not None and bool(meaning.right_values or meaning.word_numbers)

    @property
    def classes(self) -> dict[str, str]:
        """Name of a probability that is that of one class → the class."""
        return {meaning.name: meaning.of_class for meaning in self.meanings.values() if meaning.of_class}

    @property
    def has_masses(self) -> bool:
        """Whether what is read as choice_probs still has to be divided by its sum."""
        return any(meaning.are_masses for meaning in self.meanings.values())

    def check_orders(self, file: str) -> None:
        """Raise Refused if two lists of choices are made of columns whose letters have different orders."""
        labels = {name: letters_of_columns(self.combined_lists.get(name, ())) for name in CHOICE_LISTS}
        first, *others = [name for name in CHOICE_LISTS if labels[name]] or [""]
        for name in others:
            if labels[name] != labels[first]:
                raise Refused(
                    f"{file}: the columns of {first} are mapped in the order {', '.join(labels[first])}, and "
                    f"those of {name} in the order {', '.join(labels[name])}. Map both in one order."
                )

    def numbers_rows(self, columns: Collection[str]) -> bool:
        """Return whether a row's number is to be its id; a column called `ROW_NUMBER` comes first."""
        return self.mapping.get(ROW_NUMBER) == "id" and ROW_NUMBER not in columns

    def judges_majority(self, columns: Collection[str]) -> bool:
        """Return whether the majority of the samples is to be judged where a method needs an answer."""
        return self.mapping.get(MAJORITY) == "prediction" and MAJORITY not in columns

    def used_roles(self, columns: Sequence[str]) -> dict[str, str]:
        """Map each column that is read to its name."""
        return {column: role for column in columns if (role := self.role(column)) is not None}

    def unused_columns(self, columns: Sequence[str]) -> tuple[str, ...]:
        """Return the columns of the file of which nothing is read, not even a field inside."""
        holders = {path[:end] for path in self.paths for end, sign in enumerate(path) if sign == "."}
        return tuple(column for column in columns if not self.is_used(column) and column not in holders)

    def misnamed_notes(self, columns: Sequence[str]) -> tuple[str, ...]:
        """A sentence if columns are not read because of how they name a confidence or a person."""
        misnamed = [name for name in self.unused_columns(columns) if name.startswith(NAMED_FAMILIES)]
        misnamed = [name for name in misnamed if schema_name(name) == name and name not in self.mapping]
        note = (
            f"Not read: {column_list_text(misnamed)}. The part after the dot consists of "
            f"{NAMED_COLUMN_RULE}; map a column to give it one."
        )
        return (note,) if misnamed else ()

    def check_columns_exist(self, columns: Sequence[str], file: str) -> None:
        """Raise Refused if a mapped column does not exist; one that is to be left out need not."""
        missing = [column for column, name in self.mapping.items() if name and column not in columns]
        if missing:
            raise Refused(
                f"{file} has no column {missing[0]!r}. Its columns are {column_list_text(columns)}."
            )


def no_known_column_message(columns: Sequence[str], file: str) -> str:
    """Say why a file with no known column cannot be used, and what to do."""
    return (
        f"{file} has no column that Calib recognises (columns: {column_list_text(columns)}). Each "
        "row needs a confidence and whether the answer was right (confidence, correct), or probabilities of "
        "the choices and the right one (choice_probs, gold), or sampled answers and the right one "
        "(samples, gold), or the probability of an event and whether it came true (event_prob, event). "
        f"Say {to_say('what a column means', Advice(columns={'COLUMN': 'confidence'}))}"
    )


def column_list_text(columns: Sequence[str]) -> str:
    """List column names for a message, at most 20 of them."""
    shown = ", ".join(repr(shorten(column, 40)) for column in columns[:20])
    return (shown or "(none)") + (f" and {len(columns) - 20:,} more" if len(columns) > 20 else "")
