"""The protocol between the worker process that parses files and the process that asks for a reading.

Messages go over a pair of sockets: one letter for the kind, eight bytes for the length, then the body. A
request brings open files along, as handles. A reading travels as plain data: a JSON tree of the dataclasses
in `Reading`, followed by blobs in the tree's order, which are Arrow IPC streams for frames and bare bytes for
arrays. Nothing in it can name code, and whatever arrives is checked against the types that `Reading`
declares. Blobs are made and consumed one at a time, so that neither side holds a second copy of all the data.
"""

from __future__ import annotations

import io
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache, partial
from itertools import pairwise
from math import prod
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.readers.format import Reading

MESSAGE_HEADER: Final = struct.Struct("<cQ")

REQUEST_MESSAGE: Final = b"q"
"""JSON: what to read; comes with the handles."""
READY_MESSAGE: Final = b"r"
"""Empty: the worker has started and waits for a request."""
PROGRESS_MESSAGE: Final = b"p"
"""JSON: the share that is done, and a short text."""
CODE_MESSAGE: Final = b"c"
"""JSON: the dtype for which the other side is to compile code; it answers with the same, once it has."""
TREE_MESSAGE: Final = b"t"
"""JSON: the tree of a reading; its blobs follow."""
BLOB_MESSAGE: Final = b"b"
"""The bytes of a frame, part of a frame, or an array."""
DONE_MESSAGE: Final = b"d"
"""JSON, after the last blob: whether the worker ends now."""
REFUSED_MESSAGE: Final = b"x"
"""JSON: why the file is refused, and whether the worker ends now."""
FAILED_MESSAGE: Final = b"f"
"""JSON: the name of any other error and its traceback; the worker then ends."""

MAX_TEXT_BYTES: Final = 2**26
"""Limit on the body of a message that is not a blob."""

MAX_HANDLES: Final = 250
"""Handles that one message may bring; Linux's own limit is 253."""

DataclassT = TypeVar("DataclassT")
Json: TypeAlias = Any
Blob: TypeAlias = bytes | bytearray | memoryview
NextBlob: TypeAlias = Callable[[], Blob]
"""Returns the next blob."""
Unpacker: TypeAlias = Callable[[Json, NextBlob], Any]
"""Rebuilds a value from its tree and its blobs."""

SLICE_BYTES: Final = 2**20
"""Frames up to this size go as one blob. The columns of a larger one go one by one, in slices of about this
size: a slice that fits the processor's cache arrives several times as fast, and the next one is packed
meanwhile."""

_PLAIN_ARRAY_KINDS: Final = frozenset("biuf")
"""Kinds of NumPy arrays that are sent: booleans and numbers."""

_OLDEST_LAYOUT: Final = pl.CompatLevel.oldest()
"""This layout sends the texts of a slice only; the newer one sends those of the whole column each time."""


class ProtocolError(Exception):
    """The other side sent something that is not a message, or more than it may."""


class PeerClosedError(Exception):
    """The other side has closed the connection."""


class DeadlineError(Exception):
    """The other side sent nothing more in time."""


class InvalidReadingError(Exception):
    """The data that arrived does not make a `Reading`."""


# --- Messages ---------------------------------------------------------------------------------------------


def send_message(connection: socket.socket, kind: bytes, body: bytes | bytearray | memoryview = b"") -> None:
    """Send one message."""
    connection.sendall(MESSAGE_HEADER.pack(kind, len(body)))
    if len(body):
        connection.sendall(body)


def send_json(connection: socket.socket, kind: bytes, value: Json) -> None:
    """Send one message of JSON; lone surrogates in texts are kept."""
    send_message(connection, kind, json.dumps(value).encode("ascii"))


def send_request(connection: socket.socket, value: Json, handles: Sequence[int]) -> None:
    """Send a request, with its handles attached to its first bytes."""
    body = json.dumps(value).encode("ascii")
    header = MESSAGE_HEADER.pack(REQUEST_MESSAGE, len(body))
    n_sent = socket.send_fds(connection, [header], list(handles))
    connection.sendall(header[n_sent:] + body)


def receive_request(connection: socket.socket) -> tuple[Any, list[int]] | None:
    """Receive the next request and its handles; None if the other side has closed the connection."""
    header, handles, _, _ = socket.recv_fds(connection, MESSAGE_HEADER.size, MAX_HANDLES)
    if not header:
        return None
    header += bytes(_receive_into(connection, bytearray(MESSAGE_HEADER.size - len(header)), None))
    _, length = MESSAGE_HEADER.unpack(header)
    return json.loads(_receive_into(connection, bytearray(length), None)), list(handles)


def receive_message(
    connection: socket.socket, deadline: float | None, max_blob_bytes: int
) -> tuple[bytes, bytearray]:
    """Receive the next message, as kind and body.

    Parameters
    ----------
    connection
        The socket.
    deadline
        When to give up, on the clock of `time.monotonic`; None: never.
    max_blob_bytes
        The largest blob that is accepted.

    Raises
    ------
    DeadlineError
        The deadline has passed.
    PeerClosedError
        The other side has closed the connection.
    ProtocolError
        What arrived is not a message, or too long.
    """
    kind, length = MESSAGE_HEADER.unpack(_receive_into(connection, bytearray(MESSAGE_HEADER.size), deadline))
    known = kind in (
        READY_MESSAGE,
        PROGRESS_MESSAGE,
        CODE_MESSAGE,
        TREE_MESSAGE,
        BLOB_MESSAGE,
        DONE_MESSAGE,
        REFUSED_MESSAGE,
        FAILED_MESSAGE,
    )
    if not known or length > (max_blob_bytes if kind == BLOB_MESSAGE else MAX_TEXT_BYTES):
        raise ProtocolError(f"a message {kind!r} of {length:,} bytes")
    return kind, _receive_into(connection, bytearray(length), deadline)


def parse_message(body: bytearray) -> Json:
    """Parse the JSON of a message; raises ProtocolError if it is invalid."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(str(error)) from None


def _receive_into(connection: socket.socket, buffer: bytearray, deadline: float | None) -> bytearray:
    """Fill the buffer with the next bytes."""
    view = memoryview(buffer)
    while view:
        if deadline is not None:
            # checked before each read: bytes that keep trickling in never make the socket time out
            if (remaining := deadline - time.monotonic()) <= 0:
                raise DeadlineError
            connection.settimeout(remaining)
        try:
            n_bytes = connection.recv_into(view)
        except TimeoutError:
            raise DeadlineError from None
        except OSError:
            raise PeerClosedError from None
        if not n_bytes:
            raise PeerClosedError
        view = view[n_bytes:]
    return buffer


# --- Readings ---------------------------------------------------------------------------------------------


def pack_reading(reading: Reading) -> tuple[Json, Iterator[Blob]]:
    """Return the tree of a reading, and its blobs; raises as `pack`."""
    return pack(reading)


def unpack_reading(tree: Json, next_blob: NextBlob) -> Reading:
    """Rebuild a reading from its tree and blobs; raises as `unpack`."""
    return unpack(Reading, tree, next_blob)


def pack(value: object) -> tuple[Json, Iterator[Blob]]:
    """Return the tree of a dataclass, and its blobs, each made when it is consumed.

    A column that has been consumed is let go of, so that it takes memory on one side only.

    Raises
    ------
    TypeError
        It holds a value of a type that is never sent.
    """
    sources = deque[Callable[[], Iterator[Blob]]]()
    tree = _pack_value(value, sources)
    return tree, _blobs(sources)


def _blobs(sources: deque[Callable[[], Iterator[Blob]]]) -> Iterator[Blob]:
    """Make the blobs of one source after another, each of which is let go of before the next one's turn."""
    while sources:
        yield from sources.popleft()()


def unpack(kind: type[DataclassT], tree: Json, next_blob: NextBlob) -> DataclassT:
    """Rebuild an instance of a dataclass from its tree and blobs.

    Raises
    ------
    InvalidReadingError
        The data does not have the types that the dataclass declares.
    """
    try:
        return _unpacker(kind)(tree, next_blob)
    except (KeyError, ValueError, TypeError, OverflowError, OSError, RecursionError) as error:
        raise InvalidReadingError(str(error)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InvalidReadingError(str(error)) from None


def _pack_value(value: object, sources: deque[Callable[[], Iterator[Blob]]]) -> Json:
    if value is None or type(value) in (bool, int, float, str):
        return value
    match value:
        case pl.DataFrame():
            tree = _frame_layout(value)
            sources.extend(partial(_frame_blobs, value.select(group), slices) for group, slices in tree)
        case pl.Series():
            tree = _pack_value(value.to_frame(), sources)
        case np.ndarray():
            array = cast("np.ndarray[Any, np.dtype[Any]]", value)
            sources.append(lambda: iter((_array_bytes(array),)))
            tree = {"dtype": array.dtype.str, "shape": list(array.shape)}
        case tuple() | list():
            tree = [_pack_value(element, sources) for element in cast("tuple[object, ...]", value)]
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            tree = [[_pack_value(key, sources), _pack_value(element, sources)] for key, element in pairs]
        case np.generic():
            tree = cast("Json", value.item())
        case _ if is_dataclass(value):
            field_trees = {
                field.name: _pack_value(getattr(value, field.name), sources) for field in fields(value)
            }
            tree = {"is": type(value).__name__, "of": field_trees}
        case _:
            raise TypeError(f"a reading holds no {type(value).__name__}")
    return tree


def _frame_layout(frame: pl.DataFrame) -> Json:
    """Return the blobs that a frame is cut into, as [columns, number of slices of rows] pairs."""
    if frame.estimated_size() <= SLICE_BYTES:
        return [[frame.columns, 1]]
    return [[[column.name], _slice_count(column)] for column in frame]


def _slice_count(column: pl.Series) -> int:
    return max(1, min(column.len(), -(-int(column.estimated_size()) // SLICE_BYTES)))


def _frame_blobs(columns: pl.DataFrame, slices: int) -> Iterator[Blob]:
    ends = [columns.height * number // slices for number in range(slices + 1)]
    for start, end in pairwise(ends):
        stream = io.BytesIO()
        columns.slice(start, end - start).write_ipc_stream(stream, compat_level=_OLDEST_LAYOUT)
        yield stream.getbuffer()


def _array_bytes(array: np.ndarray[Any, np.dtype[Any]]) -> Blob:
    if array.dtype.kind not in _PLAIN_ARRAY_KINDS:
        raise TypeError(f"a reading holds no array of {array.dtype}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


@cache
def _unpacker(hint: Any) -> Unpacker:  # noqa: ANN401  any type
    """Return the function that rebuilds a value of the declared type from its tree, or raises TypeError.

    It is made once for each type: a folder of kept readings is hundreds of thousands of values.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    found: Unpacker
    if origin is None:
        found = _class_unpacker(hint)
    elif origin is Union or origin is UnionType:
        found = partial(_unpack_union, arguments)
    elif origin is Literal:
        found = lambda tree, _: _require_type(tree in arguments, tree, hint)  # noqa: E731  as the others
    elif origin is np.ndarray or origin is NDArray:  # NDArray since NumPy 2.5
        found = _unpack_array
    elif origin is tuple:
        found = partial(_unpack_tuple, arguments)
    else:
        found = partial(_unpack_mapping, origin, *map(_unpacker, arguments))
    return found


def _class_unpacker(hint: Any) -> Unpacker:  # noqa: ANN401  any class
    """Return the function that rebuilds an instance; for a class that is never sent, it raises TypeError."""
    if is_dataclass(hint):
        return partial(_unpack_dataclass, cast("type[Any]", hint))
    if hint is pl.DataFrame:
        return _unpack_frame
    if hint is pl.Series:
        return lambda tree, next_blob: _unpack_frame(tree, next_blob).to_series()
    types = (float, int) if hint is float else (hint,) if hint in (bool, int, str, NoneType) else ()
    return lambda tree, _: _require_type(type(tree) in types, tree, hint)


def _require_type(is_valid: bool, tree: Json, hint: object) -> Any:  # noqa: ANN401, FBT001  returns the tree
    if not is_valid:
        raise TypeError(f"{type(tree).__name__} where {hint} is declared")
    return tree


def _unpack_union(hints: tuple[Any, ...], tree: Json, next_blob: NextBlob) -> Any:  # noqa: ANN401  any type
    return _unpacker(_union_member(hints, tree))(tree, next_blob)


def _union_member(hints: tuple[Any, ...], tree: Json) -> Any:  # noqa: ANN401  a type
    if tree is None and NoneType in hints:
        return NoneType
    members = [hint for hint in hints if hint is not NoneType]
    if len(members) == 1:
        return members[0]
    name = cast("dict[str, object]", tree).get("is") if isinstance(tree, dict) else type(tree).__name__
    return next((hint for hint in members if hint.__name__ == name), members[0])


def _unpack_tuple(parts: tuple[Any, ...], tree: Json, next_blob: NextBlob) -> tuple[Any, ...]:
    trees = cast("list[Json]", _require_type(isinstance(tree, list), tree, tuple))
    if len(parts) == 2 and parts[1] is Ellipsis:
        unpack_part = _unpacker(parts[0])
        return tuple([unpack_part(part, next_blob) for part in trees])
    return tuple([_unpacker(part)(tree, next_blob) for part, tree in zip(parts, trees, strict=True)])


def _unpack_mapping(
    origin: object, unpack_key: Unpacker, unpack_element: Unpacker, tree: Json, next_blob: NextBlob
) -> Mapping[Any, Any]:
    pairs = {unpack_key(key, next_blob): unpack_element(element, next_blob) for key, element in tree}
    return pairs if origin is dict else MappingProxyType(pairs)


@cache
def _field_unpackers(kind: type) -> Mapping[str, Unpacker]:
    """Map each field of a dataclass to what rebuilds it."""
    hints = get_type_hints(kind)
    return {field.name: _unpacker(hints[field.name]) for field in fields(kind)}


def _unpack_dataclass(kind: type[Any], tree: Json, next_blob: NextBlob) -> Any:  # noqa: ANN401  an instance of `kind`
    unpackers, trees = _field_unpackers(kind), tree["of"]
    _require_type(tree["is"] == kind.__name__ and list(trees) == list(unpackers), tree, kind)
    return kind(**{name: unpack_field(trees[name], next_blob) for name, unpack_field in unpackers.items()})


def _unpack_frame(tree: Json, next_blob: NextBlob) -> pl.DataFrame:
    columns: list[pl.Series] = []
    for group, n_slices in tree:
        slices = [pl.read_ipc_stream(io.BytesIO(next_blob())) for _ in range(n_slices)]
        _require_type(all(part.columns == group for part in slices), tree, pl.DataFrame)
        columns.extend(slices[0] if n_slices == 1 else pl.concat(slices, rechunk=True))
    return pl.DataFrame(columns)


def _unpack_array(tree: Json, next_blob: NextBlob) -> np.ndarray[Any, np.dtype[Any]]:
    dtype, shape = np.dtype(tree["dtype"]), tuple(tree["shape"])
    blob = next_blob()
    fits = (
        dtype.kind in _PLAIN_ARRAY_KINDS
        and min(shape, default=0) >= 0
        and prod(shape) * dtype.itemsize == len(blob)
    )
    _require_type(fits, tree, dtype)
    array = np.frombuffer(blob, dtype).reshape(shape)
    array.flags.writeable = False
    return array
