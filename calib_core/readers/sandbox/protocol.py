"""How does a reading get from the process that parsed a file to the one that asked for it?

As plain data: a JSON tree of our own dataclasses, and beside it blobs, in the tree's order: Arrow IPC streams
for frames, bare bytes for arrays. Nothing in it can name code, and what arrives is held to the types that
`Reading` declares: whatever else comes is no reading. Blobs are made and taken one at a time, so that
neither side ever holds a second copy of the whole.
"""

from __future__ import annotations

import io
import json
import socket
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import pairwise
from math import prod
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, TypeAlias, Union, cast, get_args, get_origin, get_type_hints

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.readers.format import Reading

# MERGED wire: How do the process that wants a file read and the one that reads it talk?
#
# Over one pair of sockets, in messages: a letter for the kind, eight bytes for the length, and so many bytes.
# A request brings open files along, as handles.

MESSAGE_HEADER: Final = struct.Struct("<cQ")

REQUEST_MESSAGE: Final = b"q"
"""JSON: what is to be read; with the handles."""
READY_MESSAGE: Final = b"r"
"""Nothing: the process has started and waits for a request."""
PROGRESS_MESSAGE: Final = b"p"
"""JSON: the share that is done, and a short text."""
TREE_MESSAGE: Final = b"t"
"""JSON: a reading's tree (`transport`), whose blobs follow."""
BLOB_MESSAGE: Final = b"b"
DONE_MESSAGE: Final = b"d"
"""JSON, after the last blob: whether the process ends now."""
REFUSED_MESSAGE: Final = b"x"
"""JSON: why the file is refused."""
FAILED_MESSAGE: Final = b"f"
"""JSON: the name of what went wrong otherwise, and where; the process ends after it."""

MAX_TEXT_BYTES: Final = 2**26
"""Bytes of a message that is no blob."""

MAX_HANDLES: Final = 250
"""Handles that one message may bring: the system's own limit is 253."""


class ProtocolError(Exception):
    """The other side said what is no message, or more than it may."""


class PeerClosedError(Exception):
    """The other side is no longer there."""


class DeadlineError(Exception):
    """The other side said nothing more in time."""


def send_message(connection: socket.socket, kind: bytes, body: bytes | bytearray | memoryview = b"") -> None:
    """Sends one message."""
    connection.sendall(MESSAGE_HEADER.pack(kind, len(body)))
    if len(body):
        connection.sendall(body)


def send_json(connection: socket.socket, kind: bytes, value: Any) -> None:  # noqa: ANN401  whatever JSON holds
    """Sends one message of JSON; lone surrogates in texts are kept."""
    send_message(connection, kind, json.dumps(value).encode("ascii"))


def send_request(connection: socket.socket, value: Any, handles: Sequence[int]) -> None:  # noqa: ANN401  as above
    """Sends a request, its handles with its first bytes."""
    body = json.dumps(value).encode("ascii")
    head = MESSAGE_HEADER.pack(REQUEST_MESSAGE, len(body))
    sent = socket.send_fds(connection, [head], list(handles))
    connection.sendall(head[sent:] + body)


def receive_request(connection: socket.socket) -> tuple[Any, list[int]] | None:
    """The next request and its handles; None where the other side has gone."""
    head, handles, _, _ = socket.recv_fds(connection, MESSAGE_HEADER.size, MAX_HANDLES)
    if not head:
        return None
    head += bytes(_receive_into(connection, bytearray(MESSAGE_HEADER.size - len(head)), None))
    _, length = MESSAGE_HEADER.unpack(head)
    return json.loads(_receive_into(connection, bytearray(length), None)), list(handles)


def receive_message(
    connection: socket.socket, deadline: float, max_blob_bytes: int
) -> tuple[bytes, bytearray]:
    """The next message, as kind and body.

    deadline: by `time.monotonic`; limit: the most bytes that a blob may have. Raises LateError past the
    deadline, EndedError where nobody is there any more, BrokenTalkError where this is no message.
    """
    kind, length = MESSAGE_HEADER.unpack(_receive_into(connection, bytearray(MESSAGE_HEADER.size), deadline))
    known = kind in (
        READY_MESSAGE,
        PROGRESS_MESSAGE,
        TREE_MESSAGE,
        BLOB_MESSAGE,
        DONE_MESSAGE,
        REFUSED_MESSAGE,
        FAILED_MESSAGE,
    )
    if not known or length > (max_blob_bytes if kind == BLOB_MESSAGE else MAX_TEXT_BYTES):
        raise ProtocolError(f"a message {kind!r} of {length:,} bytes")
    return kind, _receive_into(connection, bytearray(length), deadline)


def parse_message(body: bytearray) -> Any:  # noqa: ANN401  whatever JSON holds
    """The JSON of a message; raises BrokenTalkError where it is none."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(str(error)) from None


def _receive_into(connection: socket.socket, buffer: bytearray, deadline: float | None) -> bytearray:
    """`room`, filled with the next bytes."""
    view = memoryview(buffer)
    while view:
        if deadline is not None:
            if (left := deadline - time.monotonic()) <= 0:  # also where there is always more to take
                raise DeadlineError
            connection.settimeout(left)
        try:
            got = connection.recv_into(view)
        except TimeoutError:
            raise DeadlineError from None
        except OSError:
            raise PeerClosedError from None
        if not got:
            raise PeerClosedError
        view = view[got:]
    return buffer


Json: TypeAlias = Any
Blob: TypeAlias = bytes | bytearray | memoryview
NextBlob: TypeAlias = Callable[[], Blob]
"""Gives the next blob."""

SLICE_BYTES: Final = 2**20
"""Bytes of a frame that goes as one blob; of a larger one each column goes by itself, in slices of about so
many. What stays in a core's own cache arrives several times as fast, and the next is packed meanwhile."""

_PLAIN_ARRAY_KINDS: Final = frozenset("biuf")
"""Kinds of NumPy arrays: booleans and numbers."""

_OLDEST_LAYOUT: Final = pl.CompatLevel.oldest()
"""Texts of a slice alone; the newer layout sends those of the whole column with each slice."""


class InvalidReadingError(Exception):
    """What arrived is not what a reading is made of."""


def pack_reading(reading: Reading) -> tuple[Json, Iterator[Blob]]:
    """The tree of a reading, and its blobs, made one by one as they are taken.

    Raises TypeError where it holds what has no place in one.
    """
    sources: list[Callable[[], Iterator[Blob]]] = []
    tree = _pack_value(reading, sources)
    return tree, (blob for source in sources for blob in source())


def unpack_reading(tree: Json, next_blob: NextBlob) -> Reading:
    """The reading of a tree; pull: see `Pull`. Raises NoReadingError where it is none."""
    try:
        return _unpack_value(Reading, tree, next_blob)
    except (KeyError, ValueError, TypeError, OverflowError, OSError, RecursionError) as error:
        raise InvalidReadingError(str(error)) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise InvalidReadingError(str(error)) from None


def _pack_value(value: object, sources: list[Callable[[], Iterator[Blob]]]) -> Json:
    if value is None or type(value) in (bool, int, float, str):
        return value
    match value:
        case pl.DataFrame():
            tree = _frame_layout(value)
            sources.append(lambda: _frame_blobs(value, tree))
        case np.ndarray():
            array = cast("np.ndarray[Any, np.dtype[Any]]", value)
            sources.append(lambda: iter((_array_bytes(array),)))
            tree = {"dtype": array.dtype.str, "shape": list(array.shape)}
        case tuple() | list():
            tree = [_pack_value(part, sources) for part in cast("tuple[object, ...]", value)]
        case Mapping():
            pairs = cast("Mapping[object, object]", value).items()
            tree = [[_pack_value(key, sources), _pack_value(part, sources)] for key, part in pairs]
        case np.generic():
            tree = cast("Json", value.item())
        case _ if is_dataclass(value):
            kept = {field.name: _pack_value(getattr(value, field.name), sources) for field in fields(value)}
            tree = {"is": type(value).__name__, "of": kept}
        case _:
            raise TypeError(f"a reading holds no {type(value).__name__}")
    return tree


def _frame_layout(frame: pl.DataFrame) -> Json:
    """How a frame is cut: into groups of columns, and each group into so many slices of rows."""
    if frame.estimated_size() <= SLICE_BYTES:
        return [[frame.columns, 1]]
    return [[[column.name], _slice_count(column)] for column in frame]


def _slice_count(column: pl.Series) -> int:
    return max(1, min(column.len(), -(-int(column.estimated_size()) // SLICE_BYTES)))


def _frame_blobs(frame: pl.DataFrame, layout: Json) -> Iterator[Blob]:
    for group, slices in layout:
        columns = frame.select(group)
        ends = [frame.height * number // slices for number in range(slices + 1)]
        for start, end in pairwise(ends):
            stream = io.BytesIO()
            columns.slice(start, end - start).write_ipc_stream(stream, compat_level=_OLDEST_LAYOUT)
            yield stream.getbuffer()


def _array_bytes(array: np.ndarray[Any, np.dtype[Any]]) -> Blob:
    if array.dtype.kind not in _PLAIN_ARRAY_KINDS:
        raise TypeError(f"a reading holds no array of {array.dtype}")
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _unpack_value(hint: Any, tree: Json, next_blob: NextBlob) -> Any:  # noqa: ANN401  a type of the program, or one in it
    """What the tree holds, which has to be of the type that is declared."""
    origin = get_origin(hint)
    if origin is Union or origin is UnionType:
        return _unpack_value(_union_member(get_args(hint), tree), tree, next_blob)
    if origin is not None or hint is pl.DataFrame or is_dataclass(hint):
        return _unpack_compound(hint, origin, tree, next_blob)
    if hint is float:
        return _require_type(isinstance(tree, float | int) and not isinstance(tree, bool), tree, hint)
    return _require_type(hint in (bool, int, str, NoneType) and type(tree) is hint, tree, hint)


def _unpack_compound(hint: Any, origin: Any, tree: Json, next_blob: NextBlob) -> Any:  # noqa: ANN401  as `_value`
    parts = get_args(hint)
    if hint is pl.DataFrame:
        value = _unpack_frame(tree, next_blob)
    elif origin is Literal:
        value = _require_type(tree in parts, tree, hint)
    elif origin is np.ndarray or origin is NDArray:  # the latter since NumPy 2.5
        value = _unpack_array(tree, next_blob)
    elif origin is tuple:
        value = _unpack_tuple(parts, _require_type(isinstance(tree, list), tree, hint), next_blob)
    elif is_dataclass(hint):
        value = _unpack_dataclass(cast("type[Any]", hint), tree, next_blob)
    else:
        key, part = parts
        pairs = {
            _unpack_value(key, name, next_blob): _unpack_value(part, held, next_blob) for name, held in tree
        }
        value = pairs if origin is dict else MappingProxyType(pairs)
    return value


def _require_type(is_valid: bool, tree: Json, hint: object) -> Any:  # noqa: ANN401, FBT001  the tree itself
    if not is_valid:
        raise TypeError(f"{type(tree).__name__} where {hint} is declared")
    return tree


def _union_member(hints: tuple[Any, ...], tree: Json) -> Any:  # noqa: ANN401  the type of the union that is meant
    if tree is None and NoneType in hints:
        return NoneType
    held = [hint for hint in hints if hint is not NoneType]
    if len(held) == 1:
        return held[0]
    name = cast("dict[str, object]", tree)["is"] if isinstance(tree, dict) else type(tree).__name__
    return next((hint for hint in held if hint.__name__ == name), held[0])


def _unpack_tuple(parts: tuple[Any, ...], trees: list[Json], next_blob: NextBlob) -> tuple[Any, ...]:
    if len(parts) == 2 and parts[1] is Ellipsis:
        return tuple(_unpack_value(parts[0], tree, next_blob) for tree in trees)
    return tuple(_unpack_value(part, tree, next_blob) for part, tree in zip(parts, trees, strict=True))


@cache
def _field_types(kind: type) -> Mapping[str, Any]:
    """What each field of one of our dataclasses is declared as."""
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _unpack_dataclass(kind: type[Any], tree: Json, next_blob: NextBlob) -> Any:  # noqa: ANN401  one of that kind
    hints = _field_types(kind)
    _require_type(tree["is"] == kind.__name__ and list(tree["of"]) == list(hints), tree, kind)
    return kind(**{name: _unpack_value(hint, tree["of"][name], next_blob) for name, hint in hints.items()})


def _unpack_frame(tree: Json, next_blob: NextBlob) -> pl.DataFrame:
    columns: list[pl.Series] = []
    for group, number in tree:
        slices = [pl.read_ipc_stream(io.BytesIO(next_blob())) for _ in range(number)]
        _require_type(all(part.columns == group for part in slices), tree, pl.DataFrame)
        columns.extend(pl.concat(slices, rechunk=True))
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
