"""What is a file format to this program, and what is looked at to recognise one?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from calib_core.errors import BadRowsFound, Problem, Refused
from calib_core.readers.content import Content
from calib_core.readers.table.raw import ReadProgress
from calib_core.runs import Run

# MERGED reading: What did one file hold, and which runs does it give once somebody has chosen about its bad rows?


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One file, read once.

    file: as messages call it; format: an id of `FORMATS`; rows: records in the file, bad ones
    included; bad_rows: records with at least one bad value; problems: the bad values by kind;
    good_runs: the runs without their bad rows (a run of bad rows alone is not among them); columns:
    as in the file; unused: those of them that nothing is read from; groups: those without a name here
    whose few values sort the rows into groups; proposals: file column → the name
    it probably stands for, never applied (several columns may stand for one name: parts of a list, or
    rivals); notes: what else a person has to know, each a sentence; refusal: why nothing of the file
    can be used although it could be read, and what to do; None where that is not known here; read_as: file
    column → the name it is read as, of files that are tables or become one.
    """

    file: str
    format: str
    n_rows: int
    n_bad_rows: int
    problems: tuple[Problem, ...]
    good_runs: tuple[Run, ...]
    columns: tuple[str, ...]
    unused_columns: tuple[str, ...]
    proposed_mapping: Mapping[str, str]
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    group_columns: tuple[str, ...] = ()
    column_roles: Mapping[str, str] = field(default_factory=dict[str, str])

    def runs(self, *, skip_bad_rows: bool) -> tuple[Run, ...]:
        """The runs; skip_bad_rows says that bad rows are to be left out.

        Raises Refused where nothing can be used, BadRowsFound where there are bad rows and nobody has
        chosen to leave them out.
        """
        if self.refusal is not None:
            raise Refused(self.refusal)
        if self.n_bad_rows and not skip_bad_rows:
            raise BadRowsFound(self.file, self.n_bad_rows, self.n_rows, self.problems)
        return self.good_runs


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
