"""What the columns of a table may be read as: names that say a role and a direction, and values that fit.

Nothing is applied unasked. `results.files` tries what follows from the candidates and says what each comes
to. It proposes only what names (or each value) say; what they merely hint at or allow is asked or told. The
order of the columns in the file decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

import polars as pl

from calib_core.readers.format import Candidate
from calib_core.readers.table.candidate_lists import list_columns, lists_of_columns
from calib_core.readers.table.cells import (
    ColumnJudge,
)
from calib_core.readers.table.column_values import NUMBER, ColumnValues, share_fitting
from calib_core.readers.table.columns import (
    CHOICE_SCORES,
    COLUMN_JUDGES,
    COUNTED_FROM_ONE,
    MappedName,
    choice_labels,
    role_of,
)
from calib_core.readers.table.event_columns import event_candidates
from calib_core.readers.table.judge_columns import judge_candidates
from calib_core.readers.table.list_cells import as_lists
from calib_core.readers.table.names import (
    SPELLINGS,
    UNANSWERED,
    meanings,
    name_words,
    says_who_labels,
    spelling_rank,
)
from calib_core.readers.table.one_column import (
    ANSWERS,
    FLAG_VALUES,
    MAX_SUBJECTS,
    NO_VALUES,
    RIGHT_VALUES,
    as_confidence,
    is_untold,
    of_one_column,
)

MAX_ANSWERS: Final = 12
"""Limit on the columns that are compared with the right answers."""
MIN_OF_EACH_CLASS: Final = 2
"""Rows that predict each of two classes from which on a probability is compared with what they predict …"""
MIN_OF_EACH_CUT_CLASS: Final = 5
"""… where what it is below for one class and above for the other is not one half."""
ANSWER_AND_GOLD: Final = "answer and gold"
"""What messages call an outcome that is not a column, but follows from these two."""
SUMMARY_WORDS: Final = frozenset({"ece", "auroc", "auc", "aurc"})
"""Words of the name of a metric of many rows: no row of predictions has one of its own."""


def find_candidates(
    values: Mapping[str, pl.Series],
    read_as: Mapping[str, str],
    with_commas: Collection[str] = (),
    labels: Collection[str] = (),
) -> tuple[Candidate, ...]:
    """Find what the columns of a table may be read as.

    Parameters
    ----------
    values : Mapping[str, pl.Series]
        ColumnValues, or path of a nested field → its first values, the same rows of each.
    read_as : Mapping[str, str]
        ColumnValues → the name that it is read as already; it may be read otherwise, such as in percent.
    with_commas : collection of str
        Columns whose decimal commas were replaced by points; another name than their own implies that.
    labels : collection of str
        Labels of the choices that lists name, in lower case.

    Returns
    -------
    tuple of Candidate
        For each name the likeliest first; the same whatever the order of the columns is. Empty for a table of
        metrics, such as one row a model with its ECE.

    Examples
    --------
    >>> columns = {"Conf (%)": pl.Series(["90", "55", "90"]), "hallucinated": pl.Series(["yes", "no", "no"])}
    >>> for candidate in find_candidates(columns, {}):
    ...     print(dict(candidate.names), candidate.clarity, candidate.why)
    {'Conf (%)': 'confidence/100'} said its name, which says percent, and values from 55 to 90
    {'hallucinated': 'correct:not'} said its name and the values no and yes
    """
    columns = [
        ColumnValues(name, values[name]) for name in sorted(values) if not values[name].dtype.is_nested()
    ]
    columns = [column for column in columns if column.present]
    if any(map(_is_summary_metric, columns)):
        return ()
    free = [column for column in columns if column.name not in read_as]
    lists = [*lists_of_columns(free, _values_of_answers(columns, read_as)), *list_columns(values, read_as)]
    # two columns whose rows sum to less than 1 may be the confidences of two answers
    in_lists = {name for one in lists if one.clarity == "said" or len(one.names) > 2 for name in one.names}
    single = [column for column in columns if column.name not in in_lists]
    found = [one for column in single for one in of_one_column(column, read_as, with_commas)]
    found = _without_p_true(found, single, read_as)
    outcomes = {
        name
        for one in found
        for name in one.names
        if role_of(one.name) == "correct" and (one.clarity == "said" or _names_right_values(one.name))
    } | {column for column, name in read_as.items() if name == "correct"}
    has_distribution = bool(labels) or any(
        name.startswith("choice_") for one in lists for name in one.names.values()
    )
    golds = {column: "gold" for one in lists if one.name == "gold" for column in one.names}
    found += _answers(single, {**read_as, **golds}, outcomes, are_needed=has_distribution or not outcomes)
    found += lists
    by_label = [*_answers_by_label(found, single, read_as, labels)]
    labelled = {column for one in by_label for column in one.names}
    found = [one for one in found if one.name != "subject" or labelled.isdisjoint(one.names)] + by_label
    positions = [
        *_counted_from_one(found, columns, values, read_as),
        *_beside_letters(found, columns, read_as),
    ]
    counted = {name for one in positions for name in one.names}
    found = [one for one in found if not counted.intersection(one.names)] + positions
    found = _probabilities_of_a_class(found, {column.name: column for column in columns}, read_as)
    found = [one for each in found for one in _doubted(each, found, single, read_as)]
    found = judge_candidates(found, single, read_as)
    found += event_candidates(found, single, read_as)
    return tuple(_compared(sorted(found, key=_likeliness), columns, read_as))


def _names_right_values(name: str) -> bool:
    """Return whether values that mean right say so themselves, whatever others there are."""
    return not RIGHT_VALUES.isdisjoint(value.lower() for value in MappedName.parse(name).right_values)


def _likeliness(one: Candidate) -> tuple[object, ...]:
    """Sort by importance of the name, clarity, and the place among the usual spellings."""
    name = MappedName.parse(one.name).name
    order = [*SPELLINGS].index(name) if name in SPELLINGS else len(SPELLINGS)
    rank = spelling_rank(next(iter(one.names)), name)
    clarity = ("said", "hinted", "possible").index(one.clarity)
    return order, clarity, len(one.names) == 1, 99 if rank is None else rank, list(one.names)


def _is_summary_metric(column: ColumnValues) -> bool:
    """Return whether a column holds a metric of many rows, another one in each row."""
    has_values = column.has_fractions and len(column.numbers) == len(column.present)
    return has_values and bool(SUMMARY_WORDS & {*name_words(column.name)}) and len(set(column.numbers)) > 1


def spelled_candidates(
    values: Mapping[str, pl.Series], judges: Mapping[str, ColumnJudge], taken: Collection[str]
) -> tuple[Candidate, ...]:
    """Find columns that have a usual spelling of a name, for tables with columns of their own.

    Parameters
    ----------
    values
        ColumnValues → its first values.
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
        if spelling_rank(column, name) is not None and share_fitting(values[column], judges[name]) >= 0.5
    )


# --- The model's answer and the right one -----------------------------------------------------------------


def _without_p_true(
    found: list[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> list[Candidate]:
    """Read p(False) as the probability of being wrong where there is no p(True)."""
    if "p_true" in (*read_as.values(), *(role_of(one.name) for one in found)):
        return found
    kept = [one for one in found if role_of(one.name) != "p_false"]
    for column in columns:
        own = read_as.get(column.name)
        if own == "p_false" or (own is None and any(name == "p_false" for name, _ in meanings(column.name))):
            kept += as_confidence(column, "confidence:inverted", "said")
    return kept


def _values_of_answers(columns: Sequence[ColumnValues], read_as: Mapping[str, str]) -> list[frozenset[str]]:
    """Return the values of each column that is or may be an answer, in lower case."""
    named = [
        column
        for column in columns
        if ANSWERS.intersection((read_as.get(column.name), *(name for name, _ in meanings(column.name))))
    ]
    return [frozenset(filter(None, column.lowered)) for column in named]


def _answers(
    columns: Sequence[ColumnValues],
    read_as: Mapping[str, str],
    outcomes: Collection[str],
    *,
    are_needed: bool,
) -> Iterator[Candidate]:
    """Yield the right answers and the model's; a name that may be either is what the others leave it.

    `outcomes` are the columns that are said to be outcomes. Where answers are not needed, as beside one, such
    a name alone is neither.
    """
    free = [column for column in columns if column.name not in {*read_as, *outcomes}]
    says = {
        column.name: said & ANSWERS
        for column in free
        if not column.are_shares
        if (said := {name for name, clarity in meanings(column.name) if clarity == "said"}) & ANSWERS
        if "id" not in said or column.are_letters
    }
    certain = (name for said in says.values() if len(said) == 1 for name in said)
    known = ANSWERS.intersection((*read_as.values(), *certain))
    of_partner = {*read_as, *(name for name, said in says.items() if len(said) == 1)}
    partners = [column for column in columns if column.name in of_partner]
    values = {text for column in partners for text in column.lowered}
    golds = [one for one in partners if read_as.get(one.name) == "gold" or says.get(one.name) == {"gold"}]
    people = [column for column in free if says_who_labels(column.name) == "human"]
    judges = [
        column
        for column in free
        for gold in golds[:1]
        if column.name not in says and is_untold(column.name) and _have_same_values(column, gold)
    ]

    def share_known(column: ColumnValues) -> float:
        return sum(text in values for text in column.lowered if text) / len(column.present)

    for column in sorted(columns, key=lambda column: -share_known(column)):
        said = says.get(column.name, set())
        is_meant = (known or are_needed) and not (judges and not share_known(column))
        if len(said) > 1 and known != ANSWERS and is_meant:
            is_judged = "gold" in known or any(_have_same_values(column, one) for one in people)
            said = {"prediction"} if is_judged else {"gold"}
            known = known | said
        if len(said) == 1:
            yield Candidate({column.name: next(iter(said))}, "said", "its name")
    if known == frozenset({"gold"}) and golds:
        for column in judges:
            why = f"the same values as {golds[0].name!r}; its name does not say whose answer it is"
            yield Candidate({column.name: "prediction"}, "hinted", why)
        others = [column for column in free if column.name not in says and column not in judges]
        yield from _answers_that_agree(golds[0], others)


def _answers_by_label(
    found: Sequence[Candidate],
    columns: Sequence[ColumnValues],
    read_as: Mapping[str, str],
    labels: Collection[str],
) -> Iterator[Candidate]:
    """Yield columns of labels as the right answers, where no name says which are.

    They have labels of the choices, or those that the model gives; yes and no are such only if people say so.
    """
    said = {column: one.name for one in found if one.clarity == "said" for column in one.names} | {**read_as}
    lists = [[column for column, name in said.items() if name == scores] for scores in CHOICE_SCORES]
    classes = {*labels, *(label.lower() for names in lists for label in choice_labels(names))}
    predicted = [column for column in columns if said.get(column.name) == "prediction"]
    given = {text for one in predicted if len({*one.present}) <= MAX_SUBJECTS for text in one.lowered}
    for column in columns if {"gold", "correct"}.isdisjoint(map(role_of, said.values())) else ():
        values = {text for text in column.lowered if text}
        is_human = says_who_labels(column.name) == "human"
        is_free = column.name not in read_as and {name for name, _ in meanings(column.name)} <= {"subject"}
        are_labels = values <= classes or (values <= given and (is_human or not values <= FLAG_VALUES))
        if is_free and 1 < len(values) < len(column.present) and are_labels:
            why = "the same labels as the model's; its name does not say whose they are"
            # A yes may mean that the answer is right.
            clarity = "possible" if values <= FLAG_VALUES else "hinted"
            yield Candidate({column.name: "gold"}, clarity, why)


def _have_same_values(one: ColumnValues, other: ColumnValues) -> bool:
    values = {*one.lowered} - {None}
    return len(values) > 1 and values == {*other.lowered} - {None}


def _counted_from_one(
    found: Sequence[Candidate],
    columns: Sequence[ColumnValues],
    values: Mapping[str, pl.Series],
    read_as: Mapping[str, str],
) -> Iterator[Candidate]:
    """Yield answers that are numbers from 1 to the number of choices as positions counted from 1."""
    said = [one for one in found if one.clarity == "said"]
    scores = [one.names for one in said if one.name in CHOICE_SCORES]
    scores += [{column: name} for column, name in read_as.items() if name in CHOICE_SCORES]
    sizes = [
        len(names) if len(names) > 1 else as_lists(values[column])[0].list.len().max()
        for names in scores
        for column in [*names][:1]
        if not any(label.isdecimal() for label in choice_labels([*names]))
    ]
    named = {**read_as, **{column: one.name for one in said for column in one.names if one.name in ANSWERS}}
    for column in columns if sizes else ():
        numbers = column.numbers if len(column.numbers) == len(column.present) else []
        is_whole = bool(numbers) and all(number.is_integer() and number >= 1 for number in numbers)
        if named.get(column.name) in ANSWERS and is_whole and max(numbers) == sizes[0]:
            name = f"{named[column.name]}_index:{COUNTED_FROM_ONE}"
            why = f"its name and numbers from 1 to {sizes[0]}, the number of choices"
            yield Candidate({column.name: name}, "said", why)


def _beside_letters(
    found: Sequence[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield answers that are whole numbers where the others are letters as positions.

    They count from 0 where there is a 0, and from 1 where the largest is the number of letters.
    """
    named = {column: one.name for one in found if one.clarity == "said" for column in one.names} | {**read_as}
    answers = [column for column in columns if named.get(column.name) in ANSWERS]
    last = max((max(map(str.upper, one.present)) for one in answers if one.are_letters), default="")
    size = ord(last) - ord("A") + 1 if last else 0
    for column in answers if size else ():
        numbers = column.numbers if len(column.numbers) == len(column.present) else []
        if not numbers or not all(number.is_integer() and 0 <= number <= 2 * size for number in numbers):
            continue
        forms = ["_index", f"_index:{COUNTED_FROM_ONE}"]
        if min(numbers) == 0 or max(numbers) == size:
            forms = forms[:1] if min(numbers) == 0 else forms[1:]
        why = f"numbers from {min(numbers):.0f} to {max(numbers):.0f} beside answers that are letters"
        for form in forms:
            clarity = "said" if len(forms) == 1 else "hinted"
            yield Candidate({column.name: f"{named[column.name]}{form}"}, clarity, why)


def _answers_that_agree(gold: ColumnValues, columns: Sequence[ColumnValues]) -> Iterator[Candidate]:
    """Yield columns that agree with the right answers more often than chance alone would have them agree."""
    others = [
        column
        for column in columns
        if not (column.has_fractions or meanings(column.name)) and len(set(column.present)) > 1
    ]
    for other in others[:MAX_ANSWERS]:
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
    found: Sequence[Candidate], columns: Mapping[str, ColumnValues], read_as: Mapping[str, str]
) -> list[Candidate]:
    """Ask of a confidence that is lower just where one of two classes is predicted what it is of."""
    predicted = [column for column, name in read_as.items() if name == "prediction"]
    predicted += [column for one in found for column, name in one.names.items() if name == "prediction"]
    result: list[Candidate] = []
    for one in found:
        column = columns.get(next(iter(one.names)))
        others = predicted if column is not None and one.name == "confidence" else []
        labels = {
            label: other
            for other in others
            if column is not None and other in columns
            if (label := _one_sided_class(column, columns[other]))
        }
        for label, other in [*labels.items()][:1]:
            why = f"values that are lower exactly where {other!r} is not {label!r}"
            names = (f"confidence:class:{label}", "confidence")
            result += [
                Candidate(dict.fromkeys(one.names, name), "hinted", why, one.missing) for name in names
            ]
        if not labels:
            result.append(one)
    return result


def _one_sided_class(column: ColumnValues, prediction: ColumnValues) -> str | None:
    """Return the class whose probability a column seems to be; None where it is no such probability."""
    if not column.are_shares:
        return None
    shares: dict[str, list[float]] = {}
    for text, label in zip(column.texts, prediction.texts, strict=True):
        if text is not None and label is not None and NUMBER.match(text):
            shares.setdefault(label, []).append(float(text))
    n_least = min(map(len, shares.values()), default=0)
    if len(shares) != 2 or n_least < MIN_OF_EACH_CLASS:
        return None
    (_, below), (label, above) = sorted(shares.items(), key=lambda item: sum(item[1]) / len(item[1]))
    is_at_half = max(below) <= 0.5 <= min(above) and min(below) < 0.5
    is_cut = max(below) < min(above) and n_least >= MIN_OF_EACH_CUT_CLASS
    return label if is_at_half or is_cut else None


# --- Outcomes ---------------------------------------------------------------------------------------------


def _doubted(
    one: Candidate, found: Sequence[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield a candidate; an outcome that is turned round, as a question where something else may be meant."""
    column = next((column for column in columns if column.name in one.names), None)
    if column is None or one.clarity != "said" or not _is_turned_round(one):
        yield one
        return
    others = [other for other in columns if other is not column]
    right = MappedName.parse(one.name).judge(column.raw).values
    doubts = [
        f"inverted, it counts as right where {other.name!r} is {value!r}"
        for other in others
        for value in _values_of_unanswered(other)
        if right.filter([text == value for text in other.texts]).mean() == 1
    ]
    read = [
        *read_as.items(),
        *(item for each in found if each.clarity == "said" for item in each.names.items()),
    ]
    has_gold = any(name == "gold" for _, name in read)
    for other in others:
        is_read = (other.name, "prediction") in read
        if not has_gold and (is_read or is_untold(other.name)) and _have_same_values(other, column):
            doubts.append(
                f"{other.name!r} has the same, so that one may be the right answer, the other the model's"
            )
            names = {column.name: "gold"} if is_read else {column.name: "gold", other.name: "prediction"}
            yield Candidate(
                names, "hinted", f"the same values as {other.name!r}" if is_read else "the same values"
            )
    yield replace(one, clarity="hinted", why="; ".join((one.why, *doubts))) if doubts else one


def _is_turned_round(one: Candidate) -> bool:
    """Return whether a candidate is an outcome whose values say what is wrong."""
    mapped = MappedName.parse(one.name)
    right = {value.lower() for value in mapped.right_values}
    return role_of(one.name) == "correct" and (mapped.is_inverted or bool(right & NO_VALUES))


def _values_of_unanswered(column: ColumnValues) -> tuple[str, ...]:
    """Return the two values of a column that tells whether there is an answer; () for any other."""
    values = tuple(dict.fromkeys(column.present))
    names = " ".join((column.name, *values)) if len(values) == 2 else ""
    return values if UNANSWERED.intersection(name_words(names)) else ()


def _compared(
    found: Sequence[Candidate], columns: Sequence[ColumnValues], read_as: Mapping[str, str]
) -> Iterator[Candidate]:
    """Yield the candidates; an outcome with how often it differs from the one that is read, or else said."""
    by_name = {column.name: column for column in columns}
    read = {name: by_name[column] for column, name in read_as.items() if column in by_name}
    said = [one for one in found if one.clarity == "said" and role_of(one.name) == "correct"]
    ours, own_name = None, ""
    if "correct" in read:
        ours, own_name = COLUMN_JUDGES["correct"](read["correct"].raw).values, read["correct"].name
    elif read.keys() >= ANSWERS:
        both = zip(read["gold"].lowered, read["prediction"].lowered, strict=True)
        equal = [(a is not None and a == b) or None for a, b in both]  # texts that differ may be right
        ours, own_name = pl.Series(equal, dtype=pl.Boolean), ANSWER_AND_GOLD
    elif said:
        own_name = next(iter(said[0].names))
        ours = MappedName.parse(said[0].name).judge(by_name[own_name].raw).values
    for one in found:
        column = by_name.get(next(iter(one.names)))
        if ours is None or column is None or one not in said or column.name == own_name:
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
        yield replace(
            one,
            compared_with=own_name,
            n_compared=n_compared,
            n_differing=differing.len(),
            example=example,
        )
