"""How does a reading get from the process that parsed a file to the one that asked for it?

As plain data: a JSON tree of our own dataclasses, and beside it blobs, in the tree's order: Arrow IPC streams
for frames, bare bytes for arrays. Nothing in it can name code, and what arrives is held to the types that
`Reading` declares: whatever else comes is no reading. Blobs are made and taken one at a time, so that
neither side ever holds a second copy of the whole.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
from math import prod
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl

from calib_core.files.reading import Reading

Json: TypeAlias = Any
Blob: TypeAlias = bytes | bytearray | memoryview
Pull: TypeAlias = Callable[[], Blob]
"""Gives the next blob."""

SLICE: Final = 2**20
"""Bytes of a frame that goes as one blob; of a larger one each column goes by itself, in slices of about so
many. What stays in a core's own cache arrives several times as fast, and the next is packed meanwhile."""

_PLAIN: Final = frozenset("biuf")
"""Kinds of NumPy arrays: booleans and numbers."""

_COMPACT: Final = pl.CompatLevel.oldest()
"""Texts of a slice alone; the newer layout sends those of the whole column with each slice."""


class NoReadingError(Exception):
    """What arrived is not what a reading is made of."""


def packed(reading: Reading) -> tuple[Json, Iterator[Blob]]:
    """The tree of a reading, and its blobs, made one by one as they are taken.

    Raises TypeError where it holds what has no place in one.
    """
    sources: list[Callable[[], Iterator[Blob]]] = []
    tree = _tree(reading, sources)
    return tree, (blob for source in sources for blob in source())


def unpacked(tree: Json, pull: Pull) -> Reading:
    """The reading of a tree; pull: see `Pull`. Raises NoReadingError where it is none."""
    try:
        return _value(Reading, tree, pull)
    except (KeyError, ValueError, TypeError, OverflowError, OSError, RecursionError) as error:
        raise NoReadingError(str(error)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise NoReadingError(str(error)) from None


def _tree(value: object, sources: list[Callable[[], Iterator[Blob]]]) -> Json:
    if value is None or type(value) in (bool, int, float, str):
        return value
    match value:
        case pl.DataFrame():
            tree = _shape_of(value)
            sources.append(lambda: _blobs_of(value, tree))
        case np.ndarray():
            array = cast("np.ndarray[Any, np.dtype[Any]]", value)
            sources.append(lambda: iter((_bytes_of(array),)))
            tree = {"dtype": array.dtype.str, "shape": list(array.shape)}
        case tuple() | list():
            tree = [_tree(part, sources) for part in cast("tuple[object, ...]", value)]
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            tree = [[_tree(key, sources), _tree(part, sources)] for key, part in pairs]
        case np.generic():
            tree = cast("Json", value.item())
        case _ if is_dataclass(value):
            kept = {field.name: _tree(getattr(value, field.name), sources) for field in fields(value)}
            tree = {"is": type(value).__name__, "of": kept}
        case _:
            raise TypeError(f"a reading holds no {type(value).__name__}")
    return tree


def _shape_of(frame: pl.DataFrame) -> Json:
    """How a frame is cut: into groups of columns, and each group into so many slices of rows."""
    if frame.estimated_size() <= SLICE:
        return [[frame.columns, 1]]
    return [[[column.name], _slices(column)] for column in frame]


def _slices(column: pl.Series) -> int:
    return max(1, min(column.len(), -(-int(column.estimated_size()) // SLICE)))


def _blobs_of(frame: pl.DataFrame, shape: Json) -> Iterator[Blob]:
    for group, slices in shape:
        columns = frame.select(group)
        ends = [frame.height * number // slices for number in range(slices + 1)]
        for start, end in pairwise(ends):
            stream = io.BytesIO()
            columns.slice(start, end - start).write_ipc_stream(stream, compat_level=_COMPACT)
            yield stream.getbuffer()


def _bytes_of(array: np.ndarray[Any, np.dtype[Any]]) -> Blob:
    if array.dtype.kind not in _PLAIN:
        raise TypeError(f"a reading holds no array of {array.dtype}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _value(hint: Any, tree: Json, pull: Pull) -> Any:  # noqa: ANN401  a type of the program, or one in it
    """What the tree holds, which has to be of the type that is declared."""
    origin = get_origin(hint)
    if origin is Union or origin is UnionType:
        return _value(_one_of(get_args(hint), tree), tree, pull)
    if origin is not None or hint is pl.DataFrame or is_dataclass(hint):
        return _compound(hint, origin, tree, pull)
    if hint is float:
        return _checked(isinstance(tree, float | int) and not isinstance(tree, bool), tree, hint)
    return _checked(hint in (bool, int, str, NoneType) and type(tree) is hint, tree, hint)


def _compound(hint: Any, origin: Any, tree: Json, pull: Pull) -> Any:  # noqa: ANN401  as `_value`
    parts = get_args(hint)
    if hint is pl.DataFrame:
        value = _frame(tree, pull)
    elif origin is Literal:
        value = _checked(tree in parts, tree, hint)
    elif origin is np.ndarray:
        value = _array(tree, pull)
    elif origin is tuple:
        value = _tuple(parts, _checked(isinstance(tree, list), tree, hint), pull)
    elif is_dataclass(hint):
        value = _dataclass(cast("type[Any]", hint), tree, pull)
    else:
        key, part = parts
        pairs = {_value(key, name, pull): _value(part, held, pull) for name, held in tree}
        value = pairs if origin is dict else MappingProxyType(pairs)
    return value


def _checked(good: bool, tree: Json, hint: object) -> Any:  # noqa: ANN401, FBT001  the tree itself
    if not good:
        raise TypeError(f"{type(tree).__name__} where {hint} is declared")
    return tree


def _one_of(hints: tuple[Any, ...], tree: Json) -> Any:  # noqa: ANN401  the type of the union that is meant
    if tree is None and NoneType in hints:
        return NoneType
    held = [hint for hint in hints if hint is not NoneType]
    if len(held) == 1:
        return held[0]
    name = cast("dict[str, object]", tree)["is"] if isinstance(tree, dict) else type(tree).__name__
    return next((hint for hint in held if hint.__name__ == name), held[0])


def _tuple(parts: tuple[Any, ...], trees: list[Json], pull: Pull) -> tuple[Any, ...]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_value(parts[0], tree, pull) for tree in trees)
    return tuple(_value(part, tree, pull) for part, tree in zip(parts, trees, strict=True))


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    """What each field of one of our dataclasses is declared as."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _dataclass(kind: type[Any], tree: Json, pull: Pull) -> Any:  # noqa: ANN401  one of that kind
    hints = _hints(kind)
    _checked(tree["is"] == kind.__name__ and list(tree["of"]) == list(hints), tree, kind)
    return kind(**{name: _value(hint, tree["of"][name], pull) for name, hint in hints.items()})


def _frame(tree: Json, pull: Pull) -> pl.DataFrame:
    columns: list[pl.Series] = []
    for group, number in tree:
        slices = [pl.read_ipc_stream(io.BytesIO(pull())) for _ in range(number)]
        _checked(all(part.columns == group for part in slices), tree, pl.DataFrame)
        columns.extend(pl.concat(slices, rechunk=True))
    return pl.DataFrame(columns)


def _array(tree: Json, pull: Pull) -> np.ndarray[Any, np.dtype[Any]]:
    dtype, shape = np.dtype(tree["dtype"]), tuple(tree["shape"])
    blob = pull()
    fits = dtype.kind in _PLAIN and min(shape, default=0) >= 0 and prod(shape) * dtype.itemsize == len(blob)
    _checked(fits, tree, dtype)
    array = np.frombuffer(blob, dtype).reshape(shape)
    array.flags.writeable = False
    return array
