"""Corrupts a good file, reproducibly for each seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hostile.good_files import Good

_NUMBER: Final = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_NUMBERS: Final = (
    b"0",
    b"1",
    b"-1",
    b"2",
    b"0.5",
    b"1e-9",
    b"1e400",
    b"-1e400",
    b"nan",
    b"NaN",
    b"Infinity",
    b"-0.0",
    b"0.9999999",
    b"1.0000001",
    b"85%",
    b"0,5",
    b"007",
    b"null",
    b"true",
    b'""',
    b"9" * 30,
    b"9" * 5000,
    b"0x1F",
    b"1_000",
    b"[]",
    b"{}",
    b"",
)
_TOKENS: Final = (
    b'"',
    b"'",
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b"\\",
    b"\x00",
    b"\xff",
    b"\t",
    b";",
    b"=1+1",
    b"\xef\xbb\xbf",
    b"\\ud800",
    b"[" * 3000,
    b'{"a":' * 500,
    "\u202e😀é".encode(),
)

Change = Callable[[random.Random, bytes], bytes]


def flip(chance: random.Random, data: bytes) -> bytes:
    """One to eight bits."""
    spoilt = bytearray(data)
    for _ in range(chance.randint(1, 8)):
        spoilt[chance.randrange(len(spoilt))] ^= 1 << chance.randrange(8)
    return bytes(spoilt)


def overwrite(chance: random.Random, data: bytes) -> bytes:
    """A few bytes by others."""
    at, size = chance.randrange(len(data)), chance.randint(1, 16)
    return data[:at] + chance.randbytes(size) + data[at + size :]


def cut(chance: random.Random, data: bytes) -> bytes:
    """The end is not there."""
    return data[: chance.randrange(len(data))]


def behead(chance: random.Random, data: bytes) -> bytes:
    """The beginning is not there."""
    return data[chance.randrange(len(data)) :]


def leave_out(chance: random.Random, data: bytes) -> bytes:
    """A piece of the middle is not there."""
    at = chance.randrange(len(data))
    return data[:at] + data[at + chance.randint(1, max(1, len(data) // 4)) :]


def splice(chance: random.Random, data: bytes) -> bytes:
    """A piece stands in a second place, too."""
    start, to = chance.randrange(len(data)), chance.randrange(len(data))
    piece = data[start : start + chance.randint(1, max(1, len(data) // 4))]
    return data[:to] + piece + data[to:]


def change_numbers(chance: random.Random, data: bytes) -> bytes:
    """One to three numbers, by others or by what is none."""
    found = list(_NUMBER.finditer(data))
    for match in sorted(chance.sample(found, min(len(found), chance.randint(1, 3))), key=_end, reverse=True):
        data = data[: match.start()] + chance.choice(_NUMBERS) + data[match.end() :]
    return data


def insert(chance: random.Random, data: bytes) -> bytes:
    """Marks that mean something to a reader."""
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(data) + 1)
        data = data[:at] + chance.choice(_TOKENS) + data[at:]
    return data


def repeat_a_line(chance: random.Random, data: bytes) -> bytes:
    """One line twice."""
    lines = data.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines.insert(chance.randrange(len(lines) + 1), lines[at])
    return b"".join(lines)


def drop_a_line(chance: random.Random, data: bytes) -> bytes:
    """One line less."""
    lines = data.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def shuffle_lines(chance: random.Random, data: bytes) -> bytes:
    """Two lines in each other's place."""
    lines = data.splitlines(keepends=True)
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


BINARY: Final[tuple[Change, ...]] = (*[flip] * 6, *[overwrite] * 3, cut, behead, leave_out, splice)
"""Of bytes: most leave the file as long as it was, so that its parts are still found."""
TEXT: Final[tuple[Change, ...]] = (
    *[change_numbers] * 6,
    flip,
    flip,
    overwrite,
    cut,
    behead,
    leave_out,
    splice,
    insert,
    insert,
    repeat_a_line,
    drop_a_line,
    shuffle_lines,
)
"""Of text."""


@dataclass(frozen=True, slots=True)
class Spoilt:
    """A good file, its files with one of them spoilt, and in what way."""

    good: Good
    files: Mapping[str, bytes]
    way: str


class Corrupter:
    """Good files, each with bytes spoilt in one file or its companions."""

    def __init__(self, known: Sequence[Good]) -> None:
        self.goods = known

    def drawn(self, seed: int) -> tuple[Good, str, list[Change], random.Random]:
        """The good file for this seed, which of its files to spoil, the changes, and the random generator."""
        chance = random.Random(seed)  # noqa: S311  spoilt files, not keys
        good = self.goods[seed % len(self.goods)]
        name = good.main if chance.random() < 0.8 else chance.choice(sorted(good.files))
        return good, name, draw_changes(chance, text=name not in good.binary), chance

    def spoilt(self, seed: int) -> Spoilt:
        """The file of this seed."""
        good, name, changes, chance = self.drawn(seed)
        way = changes[0].__name__ if len(changes) == 1 else "two of these"
        return Spoilt(good, {**good.files, name: mutant(chance, good.files[name], changes)}, way)


def draw_changes(chance: random.Random, *, text: bool) -> list[Change]:
    """One change or, one time in five, two."""
    return [chance.choice(TEXT if text else BINARY) for _ in range(2 if chance.random() < 0.2 else 1)]


def mutant(chance: random.Random, data: bytes, changes: list[Change]) -> bytes:
    """The bytes spoilt by one change after the other."""
    for change in changes:
        if data:
            data = change(chance, data)
    return data


def _end(match: re.Match[bytes]) -> int:
    return match.end()
