"""How is a list of ids written in the address, so that a link stays short enough for a chat?

A list that would be long has short ids: the first letters, by which a person knows them again, and a
checksum, which makes them the same in every folder. Where nearly all are chosen, those are named that are
not. Lists of full ids are read as ever.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final
from zlib import crc32

MAX_FULL_LIST_LENGTH: Final = 72
"""A list of more letters than this is written with short ids."""

MAX_FULL_ID_LENGTH: Final = 16
"""An id of so many letters is never cut."""

_PREFIX_LENGTH: Final = 10
_BASE36_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_ALL_EXCEPT: Final = "-"
"""In front of a list: all but these. No id begins so."""


def short_id(id_: str) -> str:
    """The id if it is short, else its first letters, "_" and a checksum of four letters: 15 at most."""
    if len(id_) <= MAX_FULL_ID_LENGTH:
        return id_
    rest, letters = crc32(id_.encode()), ""
    for _ in range(4):
        rest, digit = divmod(rest, len(_BASE36_DIGITS))
        letters += _BASE36_DIGITS[digit]
    return f"{id_[:_PREFIX_LENGTH].rstrip('-.')}_{letters}"


def encode_ids(selected: Sequence[str], allowed: Sequence[str], names: Mapping[str, str] | None = None) -> str:
    """The list as it stands in the address.

    names: id → what it is called there, itself if not said.
    """
    called = names or {}
    full = {id_: called.get(id_, id_) for id_ in allowed}
    whole = ",".join(full[id_] for id_ in selected)
    if len(whole) <= MAX_FULL_LIST_LENGTH:
        return whole
    cut = _short_names(full)
    ways = [",".join(cut[id_] for id_ in selected)]
    left_out = [id_ for id_ in allowed if id_ not in selected]
    if left_out and [id_ for id_ in allowed if id_ in selected] == list(selected):
        ways.append(_ALL_EXCEPT + ",".join(cut[id_] for id_ in left_out))
    return min(ways, key=len)


def decode_ids(
    text: str, allowed: Sequence[str], names: Mapping[str, str] | None = None
) -> tuple[list[str], list[str]]:
    """The ids that a list in the address means, each once, and what of it is not among those allowed."""
    called = names or {}
    full = {id_: called.get(id_, id_) for id_ in allowed}
    known = {short_: id_ for id_, short_ in _short_names(full).items()} | {own: id_ for id_, own in full.items()}
    known |= {id_: id_ for id_ in allowed}
    words = [word for word in text.removeprefix(_ALL_EXCEPT).split(",") if word]
    found = list(dict.fromkeys(known[word] for word in words if word in known))
    if text.startswith(_ALL_EXCEPT):
        return [id_ for id_ in allowed if id_ not in found], []
    return found, list(dict.fromkeys(word for word in words if word not in known))


def _short_names(names: Mapping[str, str]) -> dict[str, str]:
    """Id → its name in the address with each part of it short, but in full where two would be the same."""
    made = {id_: "~".join(map(short_id, name.split("~"))) for id_, name in names.items()}
    times: Collection[str] = {name for name, count in Counter(made.values()).items() if count > 1}
    return {id_: names[id_] if name in times else name for id_, name in made.items()}
