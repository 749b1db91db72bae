"""Gives one value of a good JSON file another type or shape, reproducibly for each seed."""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from hostile.good_files import Good
from hostile.independent_reading import json_document
from hostile.mutate import Spoilt
from hostile.silence import GONE, Change, StepPath, kind, paths_in

_VALUES: Final[Mapping[str, tuple[Any, ...]]] = {
    "text": (0.5, 1, True, False, None, math.nan, {"a": 1}, ["x"], [], GONE),
    "number": ("0.5", "x", "", True, False, None, math.nan, {"a": 1}, [1], [], GONE),
    "flag": ("x", "true", 2, None, math.nan, {"a": 1}, [True], GONE),
    "list": ("x", 1, True, None, math.nan, {"a": 1}, GONE),
    "object": ("x", 1, True, None, math.nan, ["x"], [], GONE),
    "null": ("x", 0.5, True, math.nan, {"a": 1}, ["x"], GONE),
}
"""Kind of a value → what may stand in its place."""


class Document:
    """A JSON file, or JSON lines, whose values can be exchanged one at a time."""

    def __init__(self, data: bytes) -> None:
        self._value = json_document(data)
        self._is_lines = isinstance(self._value, list) and data.lstrip()[:1] == b"{"
        self._paths: dict[StepPath, list[StepPath]] = {}
        for path, _ in paths_in(self._value):
            field = tuple("*" if isinstance(step, int) else step for step in path)
            self._paths.setdefault(field, []).append(path)

    def drawn(self, chance: random.Random) -> Change:
        """One value and another for it; a field is as likely as any other, however often it stands there."""
        path = chance.choice(self._paths[chance.choice([*self._paths])])
        was: Any = self._value
        for step in path:
            was = was[step]
        return Change(path, was, chance.choice(_VALUES[kind(was)]))

    def with_change(self, change: Change) -> bytes:
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


class Retyper:
    """Good files with JSON in them, each with one value of another type."""

    def __init__(self, known: Sequence[Good]) -> None:
        self.documents = dict(_documents(known))
        self.goods = [good for good in known if any(id_ == good.id for id_, _ in self.documents)]

    def drawn(self, seed: int) -> tuple[Good, str, Change]:
        """The good file for this seed, the name of the file to change, and the change."""
        chance = random.Random(seed)  # noqa: S311  spoilt files, not keys
        good = self.goods[seed % len(self.goods)]
        names = [name for id_, name in self.documents if id_ == good.id]
        name = good.main if good.main in names and chance.random() < 0.8 else chance.choice(names)
        return good, name, self.documents[good.id, name].drawn(chance)

    def spoilt(self, seed: int) -> Spoilt:
        """The file of this seed."""
        return self.changed(*self.drawn(seed))

    def changed(self, good: Good, name: str, change: Change) -> Spoilt:
        """A good file with one value exchanged."""
        now = "nothing" if change.now is GONE else kind(change.now)
        data = self.documents[good.id, name].with_change(change)
        return Spoilt(good, {**good.files, name: data}, f"{kind(change.was)} → {now}")


def _documents(known: Sequence[Good]) -> Iterator[tuple[tuple[str, str], Document]]:
    for good in known:
        for name, data in good.files.items():
            if name.endswith((".json", ".jsonl")) and name not in good.binary:
                yield (good.id, name), Document(data)
