"""Runs and results as values: equal to their copies, pickled, and one line long where they are printed."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any, Final, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

_KeyT = TypeVar("_KeyT")
_ValueT = TypeVar("_ValueT")

_MAX_REPR_CHARS: Final = 160


def _read_only(mapping: dict[_KeyT, _ValueT]) -> MappingProxyType[_KeyT, _ValueT]:
    return MappingProxyType(mapping)


def _reduce_mapping(mapping: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return _read_only, (dict(mapping),)


# Python does not pickle or copy read-only mappings, of which frozen results have many.
copyreg.pickle(MappingProxyType, _reduce_mapping)


class Value:
    """A frozen dataclass that equals another with the same content, whose repr is one line.

    Its decorator says `eq=False, repr=False`.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return have_equal_values(self, other)

    def __hash__(self) -> int:
        plain = (getattr(self, one.name) for one in fields(cast("Any", self)))
        return hash((type(self).__qualname__, *(value for value in plain if isinstance(value, (str, int)))))

    def __repr__(self) -> str:
        named = ((one.name, getattr(self, one.name)) for one in fields(cast("Any", self)))
        plain = [
            f"{name}={value!r}"
            for name, value in named
            if isinstance(value, (str, int, float)) and value != ""
        ]
        text = ", ".join(plain).replace("\n", " ")
        if len(text) > _MAX_REPR_CHARS:
            text = text[: _MAX_REPR_CHARS - 1] + "…"
        return f"<{type(self).__name__} {text}>"


def have_equal_values(one: object, other: object) -> bool:
    """Whether two values are of one type and hold the same, NaN being equal to NaN."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    match one:
        case np.ndarray():
            equal = _are_equal_arrays(cast("NDArray[Any]", one), cast("NDArray[Any]", other))
        case pl.DataFrame():
            frame = cast("pl.DataFrame", other)
            equal = one.schema == frame.schema and one.equals(frame)
        case pl.Series():
            equal = one.equals(cast("pl.Series", other), check_dtypes=True, check_names=True)
        case Mapping():
            ours, theirs = cast("Mapping[Any, object]", one), cast("Mapping[Any, object]", other)
            equal = ours.keys() == theirs.keys() and all(
                have_equal_values(ours[key], theirs[key]) for key in ours
            )
        case tuple() | list():
            parts, others = cast("Sequence[object]", one), cast("Sequence[object]", other)
            equal = len(parts) == len(others) and all(map(have_equal_values, parts, others))
        case _ if is_dataclass(one):
            names = [each.name for each in fields(one)]
            equal = all(have_equal_values(getattr(one, name), getattr(other, name)) for name in names)
        case _:
            equal = one == other or (one != one and other != other)  # noqa: PLR0124  NaN
    return equal


def _are_equal_arrays(one: NDArray[Any], other: NDArray[Any]) -> bool:
    has_nan = one.dtype.kind in "fc"
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=has_nan)
