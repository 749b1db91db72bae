"""Whether numbers changed while the same is said, and whether anyone could have told.

A digit that another digit replaces is another number, and nobody can tell. A list in the place of a text can
be told: where it moves a number, bad rows, counts, notes, remarks, warnings or recipes have to differ, too.
What is left is lawful (`is_lawful`): all that the two files say differently may stand there as well.

It is judged by what the two files say, so of each way of spoiling it lets through only: of numbers and bytes
(change_numbers, flip, overwrite), another value within the range of its field; of marks and pieces (insert,
splice, leave_out), another wording of a text that is no number, or a sample or a token less; of lines
(repeat, drop, shuffle) and of ends (cut, behead), nothing but the same records in another order, which only
moves numbers where right answers are joined on the row; of types, a number written as text, and in tables an
answer that is a number or a list of right ones. Where a file has lawful and other changes at once
("mixed"), which of them moved the number is for a person to read.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final

from calib_core.readers.format import Reading
from calib_core.results.files import FileReport, FileStatus
from calib_core.results.score import score
from hostile import independent_reading

StepPath = tuple[str | int, ...]

GONE: Final = object()
"""Stands for a key or an element that is taken out, or that was not there before."""

METRICS: Final = ("brier", "bias", "ece")
"""With the accuracy, what is compared: bias is the mean confidence less the accuracy."""
_LOSSES: Final = frozenset({"loss", "PPL", "BPB"})
"""Fields of losses, which have no upper end, although those of a file may all be below 1."""
_ROUNDED: Final = 1e-6
"""A number so little outside its range is read as its edge, in tables with a count of them."""
LARGEST_POSITION: Final = 20
"""Whole numbers up to it may be positions or outcomes; among larger ones, as in percent, fractions may be."""
_ANSWER_FIELDS: Final = frozenset({"gold", "prediction", "samples", "origin_prediction"})
"""Fields of tables in which a number is a text, too, and that may hold several answers."""
_TOKEN_FIELDS: Final = frozenset({"logProbs", "path_logprobs", "answer_logprobs"})
"""Fields whose list alone says how many tokens an answer has."""
_OUTCOME_FIELDS: Final = frozenset({"correct", "acc", "em", "exact_match", "success", "is_correct"})


@dataclass(frozen=True, slots=True)
class Result:
    """What a file comes to: the numbers of its methods, and all that is said beside them."""

    outcome: FileStatus
    message: str
    reading: Reading | None = None
    numbers: Sequence[tuple[Any, ...]] = ()
    said: Mapping[str, object] = field(default_factory=dict[str, object])

    def differs(self, good: Result) -> bool:
        """Whether numbers differ from those of the good file, but for the last digits."""
        flat, other_flat = ([value for row in one.numbers for value in row] for one in (self, good))
        return len(flat) != len(other_flat) or not all(map(_equal, flat, other_flat))


def _equal(one: object, other: object) -> bool:
    """Whether values are equal but for the last digits, which hang on the order of sums."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    return one == other


def result_of(reading: Reading, report: FileReport, message: str) -> Result:
    """Score every run with every method, and collect what is said of them."""
    numbers: list[tuple[Any, ...]] = []
    said: dict[str, object] = {
        "bad rows": (reading.n_bad_rows, reading.problems),
        "beside": (report.notes, report.warnings),
    }
    for at, run in enumerate(report.runs):
        said[f"run {at}"] = (run.run.row_counts, run.missing, run.survey.unavailable, run.n_known_outcomes)
        numbers.append((at, run.accuracy))
        for method, evidence in run.survey.usable.items():
            scores = [score(evidence, metric) for metric in METRICS]
            values = [value for each in scores for value in (each.value, each.low, each.high)]
            assert all(math.isfinite(value) for value in values if value is not None)
            numbers.append((at, method, evidence.n_used, *values))
            said[f"run {at}, {method}"] = [(each.recipe, each.remarks, each.remark) for each in scores]
    return Result(report.status, message, reading, numbers, said)


@dataclass(frozen=True, slots=True)
class Change:
    """A value that stands in the place of another, and what the good file holds in this field elsewhere."""

    path: StepPath
    was: Any
    now: Any
    others: Sequence[Any] = ()

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.path))}: {_shown(self.was)} → {_shown(self.now)}"


def _shown(value: object) -> str:
    return "nothing" if value is GONE else repr(value)[:80]


def changes_of(good: Mapping[str, bytes], spoilt: Mapping[str, bytes]) -> tuple[list[str], list[str]]:
    """What the spoilt files say that the good ones do not, in words: what may stand there, and what not."""
    lawful: list[str] = []
    unlawful: list[str] = []
    for name, data in good.items():
        if spoilt[name] == data:
            continue
        was = independent_reading.document(name, data)
        try:
            now = independent_reading.document(name, spoilt[name])
        except Exception as error:  # noqa: BLE001  whatever the libraries raise
            unlawful.append(f"{name} was read, and cannot be read here: {error!r}"[:300])
            continue
        for change in changes(was, now, fields=_fields(was)):
            (lawful if is_lawful(change) else unlawful).append(f"{name}, {change}")
    return lawful, unlawful


def changes(
    was: Any, now: Any, path: StepPath = (), fields: Mapping[StepPath, Sequence[Any]] | None = None
) -> Iterator[Change]:
    """Yield the values that differ; records of the whole file are compared wherever they stand, by any id."""
    if not path:
        was, now = _records(was), _records(now)
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys((*was, *now)):
            yield from changes(was.get(key, GONE), now.get(key, GONE), (*path, key), fields)
    elif isinstance(was, list) and isinstance(now, list):
        pairs = zip_longest(was, now, fillvalue=GONE) if path else _other_records(was, now)
        for at, (one, other) in enumerate(pairs):
            yield from changes(one, other, (*path, at), fields)
    elif repr(was) != repr(now):
        yield Change(path, was, now, (fields or {}).get(_field(path), ()))


def _records(value: Any) -> Any:
    is_by_id = isinstance(value, dict) and all(isinstance(record, dict) for record in value.values())
    return list(value.values()) if is_by_id else value


def _other_records(was: Sequence[Any], now: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    before, after = Counter(map(repr, was)), Counter(map(repr, now))
    gone, come = before - after, after - before
    return zip_longest(_taken(was, gone), _taken(now, come), fillvalue=GONE)


def _taken(records: Sequence[Any], wanted: Counter[str]) -> Iterator[Any]:
    for record in records:
        if wanted[repr(record)] > 0:
            wanted[repr(record)] -= 1
            yield record


def _field(path: StepPath) -> StepPath:
    return tuple("*" if isinstance(step, int) else step for step in path)


def _fields(value: Any) -> dict[StepPath, list[Any]]:
    found: dict[StepPath, list[Any]] = {}
    for path, part in paths_in(value):
        found.setdefault(_field(path), []).append(part)
    return found


def paths_in(value: Any, path: StepPath = ()) -> Iterator[tuple[StepPath, Any]]:
    """Every value within another, with its path."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in items:
        yield (*path, step), part
        yield from paths_in(part, (*path, step))


def kind(value: Any) -> str:
    """What sort of JSON value it is."""
    if value is None:
        return "null"
    kinds = ((bool, "flag"), (int | float, "number"), (str, "text"), (list, "list"))
    return next((kind for type_, kind in kinds if isinstance(value, type_)), "object")


def is_lawful(change: Change) -> bool:
    """Whether the new value may be what its field says, so that nobody can tell that it was another.

    A number may be another one within the range of its field, and be written as text; a text may be another
    one; in tables an answer may be a number, and a gold a list of right answers; a question may have one
    sample less, and an answer one token less where nothing else counts them; and an outcome has many
    spellings.
    """
    kinds = kind(change.was), kind(change.now)
    if _is_in_range(change) or (kinds == ("text", "text") and _is_free(change)):
        return True
    is_shorter = change.now is GONE and isinstance(change.path[-1], int)
    if is_shorter and _TOKEN_FIELDS.intersection(change.path):
        return True
    if _ANSWER_FIELDS.intersection(change.path):
        is_list = change.path[-1] == "gold" and kinds[1] == "list" and bool(change.now)
        is_answer = kinds in (("text", "text"), ("text", "number"), ("number", "number"))
        return is_shorter or is_list or (is_answer and change.now != "" and change.now == change.now)
    return bool(_OUTCOME_FIELDS.intersection(change.path)) and change.now in (0, 1, "true")


def _is_free(change: Change) -> bool:
    """Whether a text stands where texts of any wording do: no number, no outcome, and not left blank."""
    is_judged = bool(_OUTCOME_FIELDS.intersection(change.path))
    return not is_judged and _number(change.was) is None and bool(change.now.strip())


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return None if math.isnan(number) else number


def _is_in_range(change: Change) -> bool:
    """Whether a number lies where those of its field do: on one side of 0, up to 1, whole."""
    now = _number(change.now)
    known = [number for value in (change.was, *change.others) if (number := _number(value)) is not None]
    if now is None or _number(change.was) is None:
        return False
    low = 0.0 if min(known) >= 0 else -math.inf
    is_share = 0 < max(known) <= 1 and _LOSSES.isdisjoint(change.path)
    high = 0.0 if max(known) <= 0 else 1.0 if is_share else math.inf
    is_whole = all(map(float.is_integer, known)) and max(known) <= LARGEST_POSITION
    return low - _ROUNDED <= now <= high + _ROUNDED and (now.is_integer() or not is_whole)
