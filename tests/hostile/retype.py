"""Gives one value of a good JSON file another type or shape, and finds numbers that change in silence.

    python tests/hostile/retype.py --number 10000 --seed 7      (make fuzz-types N=10000 SEED=7)

A digit that another digit replaces is another number, and nobody can tell. A list in the place of a text can
be told: where it moves a number, bad rows, counts, notes, remarks, warnings or recipes have to differ, too.
What is left is lawful (`is_lawful`): the new value may stand there as well.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from calib_core import readers
from calib_core.errors import CalibError
from calib_core.results.files import check_file
from calib_core.results.score import score
from hostile.good_files import Good, goods

StepPath = tuple[str | int, ...]

GONE: Final = object()
"""Stands for a key or an element that is taken out."""

_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "text": (0.5, 1, True, False, None, math.nan, {"a": 1}, ["x"], [], GONE),
    "number": ("0.5", "x", "", True, False, None, math.nan, {"a": 1}, [1], [], GONE),
    "flag": ("x", "true", 2, None, math.nan, {"a": 1}, [True], GONE),
    "list": ("x", 1, True, None, math.nan, {"a": 1}, GONE),
    "object": ("x", 1, True, None, math.nan, ["x"], [], GONE),
    "null": ("x", 0.5, True, math.nan, {"a": 1}, ["x"], GONE),
}
"""Kind of a value → what may stand in its place."""

_ANSWER_FIELDS: Final = frozenset({"gold", "prediction", "samples", "origin_prediction"})
"""Fields of tables in which a number is a text, too, and that may hold several answers."""
_OUTCOME_FIELDS: Final = frozenset({"correct", "acc", "em", "exact_match", "success", "is_correct"})


@dataclass(frozen=True, slots=True)
class Retyped:
    """A value that was given another type."""

    path: StepPath
    was: Any
    now: Any

    def __str__(self) -> str:
        now = "nothing" if self.now is GONE else json.dumps(self.now)
        return f"{'.'.join(map(str, self.path))}: {json.dumps(self.was)[:60]} → {now}"


class Document:
    """A JSON file, or JSON lines, whose values can be exchanged one at a time."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8-sig")
        try:
            self._value, self._is_lines = json.loads(text), False
        except ValueError:
            self._value, self._is_lines = [json.loads(line) for line in text.splitlines() if line], True
        self._paths: dict[StepPath, list[StepPath]] = {}
        for path in _paths_in(self._value):
            field = tuple("*" if isinstance(step, int) else step for step in path)
            self._paths.setdefault(field, []).append(path)

    def drawn(self, chance: random.Random) -> Retyped:
        """One value and another for it; a field is as likely as any other, however often it stands there."""
        path = chance.choice(self._paths[chance.choice([*self._paths])])
        was: Any = self._value
        for step in path:
            was = was[step]
        return Retyped(path, was, chance.choice(_VALUES[_kind(was)]))

    def with_change(self, change: Retyped) -> bytes:
        """The file with the value exchanged."""
        value = copy.deepcopy(self._value)
        holder: Any = value
        for step in change.path[:-1]:
            holder = holder[step]
        if change.now is GONE:
            del holder[change.path[-1]]
        else:
            holder[change.path[-1]] = change.now
        if self._is_lines:
            return "".join(f"{json.dumps(record)}\n" for record in value).encode()
        return json.dumps(value).encode()


def _paths_in(value: Any, path: StepPath = ()) -> Iterator[StepPath]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in items:
        yield (*path, step)
        yield from _paths_in(part, (*path, step))


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "flag"), (int | float, "number"), (str, "text"), (list, "list"))
    return next((kind for type_, kind in kinds if isinstance(value, type_)), "object")


def is_lawful(change: Retyped) -> bool:
    """Whether the new value may be what its field says, so that nobody can tell that it was another.

    A number may be written as text; in tables an answer may be a number, and a gold a list of right answers;
    a question may have one sample less; and an outcome has many spellings.
    """
    kinds = _kind(change.was), _kind(change.now)
    if change.now == "0.5" and kinds[0] == "number":
        return True
    if _ANSWER_FIELDS.intersection(change.path):
        is_shorter = change.now is GONE and isinstance(change.path[-1], int)
        is_list = change.path[-1] == "gold" and kinds[1] == "list" and bool(change.now)
        is_number = kinds == ("text", "number") and change.now in (0.5, 1)
        return is_shorter or is_list or is_number
    return bool(_OUTCOME_FIELDS.intersection(change.path)) and change.now in (0, 1, "true")


@dataclass(frozen=True, slots=True)
class Result:
    """What a file comes to: the numbers of its methods, and all that is said beside them."""

    outcome: str
    numbers: tuple[tuple[Any, ...], ...]
    said: Mapping[str, object]

    def changed_in_silence(self, good: Result) -> bool:
        """Whether numbers differ from those of the good file, while the same is said."""
        return self.outcome != "refused" and self.said == good.said and not _equal(self.numbers, good.numbers)


def _equal(some: Sequence[tuple[Any, ...]], others: Sequence[tuple[Any, ...]]) -> bool:
    """Whether all numbers are equal but for the last digits, which hang on the order of sums."""
    flat, other_flat = ([value for row in rows for value in row] for rows in (some, others))
    return len(flat) == len(other_flat) and all(
        math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        if isinstance(one, float) and isinstance(other, float)
        else one == other
        for one, other in zip(flat, other_flat, strict=True)
    )


def read(folder: Path, good: Good, contents: Mapping[str, bytes]) -> Result:
    """The file read, reported and scored in this process; folder: emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in contents.items():
        (folder / name).write_bytes(data)
    gold = folder / good.gold if good.gold else None
    try:
        reading = readers.read_in_this_process(folder / good.main, file=good.main, gold=gold)
        report = check_file(reading)
    except CalibError:
        return Result("refused", (), {})
    if report.status == "refused":
        return Result("refused", (), {})
    numbers: list[tuple[Any, ...]] = []
    said: dict[str, object] = {
        "bad rows": (reading.n_bad_rows, reading.problems),
        "beside": (report.notes, report.warnings),
    }
    for at, run in enumerate(report.runs):
        said[f"run {at}"] = (run.run.row_counts, run.missing, run.survey.unavailable, run.n_known_outcomes)
        numbers.append((at, run.accuracy))
        for method, evidence in run.survey.usable.items():
            scores = [score(evidence, metric) for metric in ("brier", "ece")]
            values = [value for each in scores for value in (each.value, each.low, each.high)]
            numbers.append((at, method, evidence.n_used, *values))
            said[f"run {at}, {method}"] = [(each.recipe, each.remarks, each.remark) for each in scores]
    return Result(report.status, tuple(numbers), said)


class Retyper:
    """Good files with JSON in them, and what comes of those in which one value has another type."""

    def __init__(self, folder: Path, known: Sequence[Good]) -> None:
        self._folder = folder
        self.documents = dict(_documents(known))
        self.goods = [good for good in known if any(id_ == good.id for id_, _ in self.documents)]
        self._sound = {good.id: read(folder, good, good.files) for good in self.goods}

    def drawn(self, seed: int) -> tuple[Good, str, Retyped]:
        """The good file for this seed, the name of the file to change, and the change."""
        chance = random.Random(seed)  # noqa: S311  spoilt files, not keys
        good = self.goods[seed % len(self.goods)]
        names = [name for id_, name in self.documents if id_ == good.id]
        name = good.main if good.main in names and chance.random() < 0.8 else chance.choice(names)
        return good, name, self.documents[good.id, name].drawn(chance)

    def result(self, good: Good, name: str, change: Retyped) -> tuple[str, bool]:
        """ "refused", "asks" or "loads", and whether a number changed in silence that should not have."""
        changed = self.documents[good.id, name].with_change(change)
        result = read(self._folder, good, {**good.files, name: changed})
        return result.outcome, result.changed_in_silence(self._sound[good.id]) and not is_lawful(change)


def _documents(known: Sequence[Good]) -> Iterator[tuple[tuple[str, str], Document]]:
    for good in known:
        for name, data in good.files.items():
            if name.endswith((".json", ".jsonl")) and name not in good.binary:
                yield (good.id, name), Document(data)


def main() -> int:
    """The command line: 1 where a number changed in silence."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--number", type=int, default=10_000, help="how many values are changed")
    parser.add_argument("--seed", type=int, default=0, help="of the first one")
    wish = parser.parse_args()
    begun, outcomes, silent = time.monotonic(), Counter[str](), 0
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as work:
        retyper = Retyper(Path(work) / "file", goods(Path(made)))
        for seed in range(wish.seed, wish.seed + wish.number):
            good, name, change = retyper.drawn(seed)
            outcome, is_silent = retyper.result(good, name, change)
            outcomes[outcome] += 1
            silent += is_silent
            if is_silent:
                print(f"seed {seed}, {good.id}, {name}: {change}", flush=True)  # noqa: T201
    told = ", ".join(f"{count:,} {outcome}" for outcome, count in sorted(outcomes.items()))
    print(f"{wish.number:,} values in {time.monotonic() - begun:.0f} s: {told}; {silent:,} in silence")  # noqa: T201
    return 1 if silent else 0


if __name__ == "__main__":
    sys.exit(main())
