"""How one column may be read: as a confidence, an outcome or an id, by its name and first values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from calib_core.advice import Advice, worded
from calib_core.errors import shorten
from calib_core.readers.format import Candidate, Clarity
from calib_core.readers.table.cells import (
    MAX_WORDS,
    MIN_LARGEST_PERCENTAGE,
    RANGE_TOLERANCE,
    RIGHT_WORDS,
    UNJUDGED_WORDS,
    WRONG_WORDS,
    rating_top,
)
from calib_core.readers.table.column_values import MIN_FITTING, NUMBER, ColumnValues, fits
from calib_core.readers.table.columns import (
    DECIMAL_COMMA,
    PROBABILITY_COLUMNS,
    role_of,
)
from calib_core.readers.table.names import (
    NO_SHARE,
    OF_ONE_CLASS,
    SCORES,
    Meaning,
    meanings,
    name_words,
    named_top,
    spelling_rank,
)
from calib_core.runs import INFO_COLUMNS, RUN_COLUMNS
from calib_core.wording import join_names

MAX_SUBJECTS: Final = 50
"""Largest number of values of a column that is taken for subjects."""
EXACT_TOPS: Final = (3, 5)
"""Tops of scales from 1 whose steps, counted from 0 to 1, are short decimals; the other tops give none."""
MAX_OTHER_GRADES: Final = 3
"""Values beside right and wrong up to which a column is taken for that of a judge."""
RIGHT_VALUES: Final = frozenset(
    [
        "correct",
        "right",
        "accurate",
        "factual",
        "richtig",
        "korrekt",
        "✓",
        "✔",
        "✅",
        "pass",
        "passed",
    ]
)
WRONG_VALUES: Final = frozenset(
    [
        "incorrect",
        "wrong",
        "inaccurate",
        "hallucinated",
        "hallucination",
        "falsch",
        "inkorrekt",
        "✗",
        "✘",
        "❌",
        "fail",
        "failed",
    ]
)
"""Values that say themselves which of them mean right, whatever the column is called."""
YES_VALUES: Final = frozenset(
    ["yes", "true", "y", "1", "1.0", "ja", "wahr", "t", "c", "ok", "good", "supported"]
)
NO_VALUES: Final = frozenset(["no", "false", "n", "0", "0.0", "nein", "f", "i", "nok", "bad", "unsupported"])
UNJUDGED_VALUES: Final = frozenset(
    {*UNJUDGED_WORDS, "abstain", "abstained", "not attempted", "not_attempted", "unknown", "invalid", "n/a"}
)
"""Values of a judge that has not judged."""
FLAG_VALUES: Final = RIGHT_VALUES | WRONG_VALUES | YES_VALUES | NO_VALUES
UNTOLD: Final = frozenset({"judge", "judged", "judgement", "judgment", "verdict", "flag", "label"})
"""Words of names of outcomes that do not say what yes means."""
GRADING: Final = frozenset(
    {"grade", "graded", "grader", "judge", "judged", "judgement", "judgment", "verdict", "eval", "evaluation"}
)
"""Words of names of what a judge has said."""
ANSWERS: Final = frozenset({"gold", "prediction"})
SUPPORTING: Final = frozenset({"id", "question", "subject", *INFO_COLUMNS})
"""Names that decide on no number of a run."""


def of_one_column(
    column: ColumnValues, read_as: Mapping[str, str], with_commas: Collection[str]
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


def as_confidence(column: ColumnValues, name: str, clarity: Clarity) -> Iterator[Candidate]:
    """Yield how a column that its name calls a probability may be read as one.

    Parameters
    ----------
    column : ColumnValues
    name : str
        What the name says; nothing is yielded for what is not a probability.
    clarity : {"said", "hinted"}
        How clearly the name says it.
    """
    if role_of(name) not in PROBABILITY_COLUMNS or (clarity == "hinted" and len(set(column.texts)) < 2):
        return
    base, _, suffix = name.partition(":")
    suffix = suffix and f":{suffix}"
    if (top := column.out_of) is not None:
        why = f"its name and values such as {column.present[0]!r}"
        yield Candidate({column.name: f"{base}/{top}{suffix}"}, clarity, why, column.unknown)
        return
    if not column.are_numbers:
        yield from _as_words(column, name)
        return
    numbers, low, high = column.numbers, min(column.numbers), max(column.numbers)
    more = "" if clarity == "said" else ", but the name says more than confidence"
    why = f"its name and {column.range_text}{more}"
    unknown = column.unknown
    is_negative = high <= 0 and low < 0 and 2 * sum(number < 0 for number in numbers) > len(numbers)
    inverted = ":inverted" if suffix.endswith(":inverted") else ""
    bare = suffix.removesuffix(":inverted")
    if is_negative or (bare == ":nll" and low >= 0):
        form = ":log" if is_negative else ":nll"
        how_clear = clarity if suffix == form else "hinted"
        yield Candidate({column.name: f"{base}{form}{inverted}"}, how_clear, why, unknown)
    elif bare in (":log", ":nll"):
        return
    elif _are_mostly_shares(numbers) or (
        clarity == "said" and 0 <= low <= high <= 1 and set(numbers) != {0.0, 1.0}
    ):
        yield from _as_shares(column, base, suffix, Candidate({}, clarity, why, unknown))
        if clarity == "hinted" and high > 1 + RANGE_TOLERANCE:
            yield from _as_larger_numbers(column, base, suffix, Candidate({}, clarity, why, unknown))
    elif low >= 0:
        yield from _as_larger_numbers(column, base, suffix, Candidate({}, clarity, why, unknown))


def _as_shares(column: ColumnValues, base: str, suffix: str, one: Candidate) -> Iterator[Candidate]:
    """Yield numbers from 0 to 1, perhaps in percent, that are as clear as `one`; their scale, if asked."""
    has_sign = column.present[0].endswith("%")
    top = named_top(column.name) or 1
    if not has_sign and max(column.numbers) <= 1 < top:
        why = f"its name says {_scale_text(top)}, but it has {column.range_text}"
        for name in (f"{base}{suffix}", f"{base}/{top}{suffix}"):
            yield replace(one, names={column.name: name}, clarity="hinted", why=why)
    else:
        yield replace(one, names={column.name: f"{base}{'/100' if has_sign else ''}{suffix}"})


def _as_larger_numbers(column: ColumnValues, base: str, suffix: str, one: Candidate) -> Iterator[Candidate]:
    """Yield numbers whose scale the name or the values say, as clear as `one`; that of ratings is asked."""
    numbers, low, high = column.numbers, min(column.numbers), max(column.numbers)
    n_above_one = sum(number > 1 for number in numbers)
    top = named_top(column.name)
    if top is not None and high <= top:
        why = f"its name, which says {_scale_text(top)}, and {column.range_text}"
        yield replace(one, names={column.name: f"{base}/{top}{suffix}"}, why=why)
    elif MIN_LARGEST_PERCENTAGE < high <= 100 and 2 * n_above_one > len(numbers):
        yield replace(one, names={column.name: f"{base}/100{suffix}"})
    elif all(number.is_integer() for number in numbers) and (top := rating_top(high)) and high > 1:
        why = f"its name and whole numbers from {low:.0f} to {high:.0f}, but nothing says on which scale"
        names = [f"{base}/{top}{suffix}"]
        if low >= 1 and top in EXACT_TOPS and not suffix:
            steps = (f"{point}={(point - 1) / (top - 1):g}" for point in range(1, top + 1))
            names.append(f"{base}:{'|'.join(steps)}")
        for name in names:
            yield replace(one, names={column.name: name}, clarity="hinted", why=why)
    elif not suffix and OF_ONE_CLASS.intersection(name_words(column.name)) and column.has_fractions:
        why = f"its name says probability, but it has {column.range_text}: perhaps its negative logarithm"
        yield replace(one, names={column.name: f"{base}:nll"}, clarity="hinted", why=why)


def _scale_text(top: int) -> str:
    return "percent" if top == 100 else f"0 to {top}"


def _as_words(column: ColumnValues, name: str) -> Iterator[Candidate]:
    """Yield a confidence in words, of which only a person can say the numbers."""
    words = sorted(set(column.present))
    if name == "confidence" and not column.numbers and 2 <= len(words) <= MAX_WORDS:
        if {"|", "="} & {*"".join(words)}:
            return  # these have a meaning in a mapping
        numbers = "|".join(f"{word}=…" for word in words)
        yield Candidate({column.name: f"confidence:{numbers}"}, "possible", "its values, which are words")


def _are_mostly_shares(numbers: Sequence[float]) -> bool:
    """Return whether numbers lie from 0 to 1, but for a few that are bad; not if all are 0 or 1."""
    n_inside = sum(0 <= number <= 1 for number in numbers)
    return n_inside >= MIN_FITTING * len(numbers) and not set(numbers) <= {0, 1}


def as_outcome(column: ColumnValues, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield how a column of two values may be read as an outcome; both directions where neither is said.

    Parameters
    ----------
    column : ColumnValues
    said : iterable of Meaning
        What its name says.
    """
    if grades := [*_as_letter_grades(column), *_as_grades_with_others(column)]:
        yield from grades
        return
    meaning = next((one for one in said if role_of(one.name) == "correct"), None)
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
    if any(name == "event" for name, _ in said):
        as_yes = as_right.replace("correct", "event", 1)
        yield Candidate({column.name: as_yes}, "said", f"its name and {seen}", missing)
        return
    lowered, telling = {text.lower() for text in spellings}, RIGHT_VALUES | WRONG_VALUES
    if (lowered <= telling and (right or meaning)) or (lowered & telling and right and wrong):
        yield Candidate({column.name: as_right}, "said", seen, missing)
        return
    directions = (as_right, as_wrong)
    if meaning is not None and meaning.name == "correct:not":
        directions = (as_wrong, as_right)
    are_numbers = all(NUMBER.match(text) for text in spellings)
    is_told = are_numbers or not is_untold(column.name)
    if meaning is not None and meaning.clarity == "said" and is_told:
        yield Candidate({column.name: directions[0]}, "said", f"its name and {seen}", missing)
    elif right and wrong and not {name for name, _ in said} & ANSWERS:
        values = join_names([shorten(text, 20) for text in spellings], "or")
        why = f"its name does not say which of its values means right, {values}"
        for name in directions:
            yield Candidate({column.name: name}, "hinted" if meaning else "possible", why, missing)


def _as_grades_with_others(column: ColumnValues) -> Iterator[Candidate]:
    """Yield grades among which are others than right, wrong and not judged, in both readings of these."""
    values = sorted({*column.present})
    right = [text for text in values if text.lower() in RIGHT_VALUES]
    known = RIGHT_VALUES | WRONG_VALUES | UNJUDGED_VALUES
    others = tuple(text for text in values if text.lower() not in known)
    n_wrong = sum(text.lower() in WRONG_VALUES for text in values)
    if right and n_wrong and 0 < len(others) <= MAX_OTHER_GRADES:
        listed = join_names([repr(shorten(text, 20)) for text in others])
        why = f"its values right and wrong, and besides {listed}: wrong, or left out as missing"
        unjudged = tuple(text for text in values if text.lower() in UNJUDGED_VALUES - set(UNJUDGED_WORDS))
        for missing in ((*unjudged, *others), unjudged):
            yield Candidate({column.name: f"correct:{'|'.join(right)}"}, "hinted", why, missing)


def _as_letter_grades(column: ColumnValues) -> Iterator[Candidate]:
    """Yield grades as SimpleQA's judge gives them, in both readings of what was not attempted."""
    letters = sorted({*column.present})
    if not (GRADING.intersection(name_words(column.name)) and {"A"} < {*letters} <= {"A", "B", "C"}):
        return
    why = f"its name and the letters {join_names(letters)}; in SimpleQA, A is right and B is wrong"
    if "C" in letters:
        how = worded(f"left out with {Advice(missing=('C',))}", on_page="left out as missing")
        why += f", C is not attempted: wrong, or {how}"
        yield Candidate({column.name: "correct:A"}, "hinted", why, ("C",))
    yield Candidate({column.name: "correct:A"}, "hinted", why)


def is_untold(name: str) -> bool:
    """Return whether a name such as "verdict" says an outcome, but not what yes means in it."""
    return UNTOLD.issuperset(name_words(name.rpartition(".")[2]))


def _is_plain_flag(text: str) -> bool:
    """Return whether an outcome is read without saying which values mean right."""
    lowered = text.lower()
    return lowered in (*RIGHT_WORDS, *WRONG_WORDS) or bool(NUMBER.match(text) and float(text) in (0, 1))


def _as_untold_confidence(column: ColumnValues, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield numbers from 0 to 1 whose name does not say confidence; one that says outcome hints at it."""
    names = {name for name, _ in said}
    if not column.are_shares or "p_false" in names or len(set(column.numbers)) < 2:
        return
    if NO_SHARE.intersection(name_words(column.name)):
        return
    is_score = bool(SCORES.intersection(name_words(column.name)))
    is_hinted = "correct:not" in names or ("correct" in names and is_score)
    why = f"its {column.range_text} could be a confidence, but its name does not say so"
    for name in ("confidence:inverted", "confidence") if "correct:not" in names else ("confidence",):
        yield Candidate({column.name: name}, "hinted" if is_hinted else "possible", why)


def _as_supporting(column: ColumnValues, said: Iterable[Meaning]) -> Iterator[Candidate]:
    """Yield how a column may be read that decides on no number: its id, its model and so on."""
    for name, _ in said:
        if name == "id":
            if not (column.are_letters and any(each == "gold" for each, _ in said)):
                yield from _as_id(column)
        elif name == "subject":
            yield from _as_subject(column)
        elif name in SUPPORTING and not column.are_shares and fits(column.raw, name):
            is_unique = 1 < len(set(column.present)) == len(column.present)
            if not (is_unique and name in RUN_COLUMNS):  # or each row would be a run
                yield Candidate({column.name: name}, "said", "its name")


def _as_id(column: ColumnValues) -> Iterator[Candidate]:
    """Yield a column of ids: present in every row, and not all equal."""
    texts = column.present
    if column.has_fractions or len(texts) < max(2, len(column.texts)) or len(set(texts)) < 2:
        return
    yield Candidate({column.name: "id"}, "said", f"its name and {len(set(texts)):,} values")


def _as_subject(column: ColumnValues) -> Iterator[Candidate]:
    """Yield a column of few texts that its name calls subjects."""
    n_values = len(set(column.present))
    is_spelt = spelling_rank(column.name, "subject") is not None
    if not column.numbers and (is_spelt or 2 <= n_values <= min(MAX_SUBJECTS, len(column.texts) // 2)):
        yield Candidate({column.name: "subject"}, "said", f"its name and {n_values} values")
