"""What is a file format to this program, and what is looked at to recognise one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from calib_core.files.content import Content
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import ReadProgress

ContentKind = Literal["parquet", "json lines", "json list", "json object", "text", "zip", "npy"]
"""What the bytes are, whatever the file is called."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A file's bytes and what a first look at them shows.

    file: as messages call it; content: its bytes, none of the kinds "zip" and "npy", which are read from
    `path`; kind: see `Kind`; objects: up to the first 20 JSON objects;
    records: all elements of a JSON list (which cannot be parsed in part); names: columns of a Parquet
    file, members of an archive; metadata: the key-value pairs of a Parquet file; path: where the file
    lies, None where only its bytes are known; beside: name → path of the files that are read with it, if
    they are there (`partners.companions`); gold: a table of right answers that the person named, None
    where none was.
    """

    file: str
    content: Content
    kind: ContentKind
    first_objects: tuple[Mapping[str, object], ...] = ()
    list_elements: tuple[object, ...] = ()
    names: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    path: Path | None = None
    companions: Mapping[str, Path] = field(default_factory=dict[str, Path])
    gold_path: Path | None = None

    @property
    def all_bytes(self) -> bytes:
        """All bytes at once. A large text is better read from `content`."""
        return self.content.read_all()


ReadFunction: TypeAlias = Callable[[Head, Mapping[str, str], ReadProgress], Reading]
"""A file, what its columns mean (file column → contract name), who is told of the progress → a reading.

Raises `problems.Refused` where nothing in the file can be used.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """One way in which predictions are written down.

    id: as on the command line; title: for people; marks: what it is recognised by, for people, to stand
    after "because it has"; recognises: whether a file is one, by its content alone; read: see `Read`.
    """

    id: str
    title: str
    recognised_by: str
    recognises: Callable[[Head], bool]
    read: ReadFunction
