"""The types that all readers share: a file's first look (`Head`), a format, and what was read (`Reading`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias
from zlib import crc32

import polars as pl

from calib_core.advice import option_name
from calib_core.errors import BadRowsFound, Problem, Refused, shorten
from calib_core.readers.content import Content
from calib_core.readers.table.raw import ReadProgress
from calib_core.runs import Run
from calib_core.wording import join_names

Clarity: TypeAlias = Literal["said", "hinted", "possible"]
"""How clear it is what a column means: its name says so, or each of its values; its name hints at it; or the
values merely allow it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What one column may be read as, or several that form one list.

    Attributes
    ----------
    names
        Column → what it may be read as, as it is written after `--map COLUMN=`.
    clarity
        Only what is said is proposed; what is hinted at or possible is asked, or told.
    why
        What speaks for it, as in "its name and values from 0.2 to 0.9", or what is not known.
    missing
        Its values that would have to count as missing.
    n_compared, n_differing, example, compared_with
        Of an outcome: the first rows that have also the outcome that is read, or else is likelier; those in
        which they differ, and the first of these in words; and what that outcome is called.
    """

    names: Mapping[str, str]
    clarity: Clarity
    why: str
    missing: tuple[str, ...] = ()
    n_compared: int = 0
    n_differing: int = 0
    example: str = ""
    compared_with: str = ""

    @property
    def name(self) -> str:
        """What its first column may be read as."""
        return next(iter(self.names.values()))

    @property
    def difference(self) -> str:
        """How often it differs from the outcome that it is compared with; "" for never."""
        if not self.n_differing:
            return ""
        ours, theirs = next(iter(self.names)), self.compared_with
        rows = f"{self.n_differing:,} of the first {self.n_compared:,} rows"
        return f"{shorten(ours, 40)!r} differs from {shorten(theirs, 40)!r} in {rows}"


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What one file holds.

    Attributes
    ----------
    file
        What messages call the file.
    format
        An id of `FORMATS`.
    n_rows
        Records in the file, bad ones included.
    n_bad_rows
        Records with at least one bad value.
    problems
        The bad values by kind.
    good_runs
        The runs without their bad rows. A run that has only bad rows is missing here.
    columns
        The columns, as in the file.
    unused_columns
        Columns that nothing is read from.
    candidates
        What columns that are not read may be read as, the likeliest of each name first; never applied without
        being asked for.
    wide_candidates
        The same for patterns of columns, where several systems seem to stand side by side in each row.
    unique_within
        Columns within whose values the ids do not repeat, the likeliest first, where they repeat in the file.
    proposed_rows
        Paths to the places with rows, where there are several in the file and the user named none.
    notes
        Sentences for the person who reads the numbers.
    refusal
        Why nothing in the file can be used although it was read, and what to do; otherwise None.
    needs_gold
        Whether that is for want of right answers, which a table may have.
    group_columns
        Columns without a role whose few values split the rows into groups.
    column_roles
        Column of the file → the name it is read as, for tables and for logs read as tables.
    preview
        Column of the file → its first values as text, where a person has to say what the columns mean.
    """

    file: str
    format: str
    n_rows: int
    n_bad_rows: int
    problems: tuple[Problem, ...]
    good_runs: tuple[Run, ...]
    columns: tuple[str, ...]
    unused_columns: tuple[str, ...]
    candidates: tuple[Candidate, ...] = ()
    wide_candidates: tuple[Candidate, ...] = ()
    unique_within: tuple[str, ...] = ()
    proposed_rows: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    needs_gold: bool = False
    group_columns: tuple[str, ...] = ()
    column_roles: Mapping[str, str] = field(default_factory=dict[str, str])
    preview: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    @property
    def proposed_mapping(self) -> Mapping[str, str]:
        """Column → what its name says that it is read as; columns of one name form a list, or are rivals."""
        mapping: dict[str, str] = {}
        for one in self.candidates:
            if one.clarity == "said" and not one.names.keys() & self.column_roles.keys():
                mapping |= {column: name for column, name in one.names.items() if column not in mapping}
        return mapping

    def runs(self, *, skip_bad_rows: bool) -> tuple[Run, ...]:
        """Return the runs, without their bad rows.

        Parameters
        ----------
        skip_bad_rows
            Whether the caller accepts that bad rows are left out.

        Raises
        ------
        Refused
            Nothing in the file can be used.
        BadRowsFound
            There are bad rows and `skip_bad_rows` is False.
        """
        if self.refusal is not None:
            raise Refused(self.refusal)
        if self.n_bad_rows and not skip_bad_rows:
            raise BadRowsFound(self.file, self.n_bad_rows, self.n_rows, self.problems)
        return self.good_runs


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """How the user wants a file to be read; by default everything is recognised by its content.

    Attributes
    ----------
    columns
        Column of the file → Calib's name for it, for columns that do not have that name already. Several
        columns may get the name of one list (samples, choices, choice_probs …): they become its elements,
        in the order of the mapping, and an empty cell is an unknown element. What follows the name says what
        the values mean (`MappedName`). A probability may be divided (`{"conf": "confidence/100"}` for
        percentages), stored as its logarithm (`{"logprob": "confidence:log"}`) or minus
        that (`{"nll": "confidence:nll"}`), that of being wrong (`{"risk": "confidence:inverted"}`), that of
        one of two classes (`{"p": "confidence:class:pos"}`) or in words
        (`{"sure": "confidence:high=0.9|low=0.3"}`). An outcome may name the values that mean right
        (`{"grade": "correct:Correct|Mostly correct"}`), or say what is wrong (`{"error": "correct:not"}`).
        "choice_masses" are probabilities of the choices that sum to less than 1. A column with the empty name
        (`{"choices": ""}`; `--map choices=` on the command line) is left out, if there is one. A nested field
        is named by its path (`{"signals.stated": "confidence"}`, `{"results.0.score": "correct"}`); a column
        that has dots in its name comes first. `{"row": "id"}` takes the number of each row, from 1, as its
        id, unless there is a column `row`.
    rows
        Path to the rows in JSON, such as "results.items", from one object or from every record of a list;
        "" looks for them. Rows are a list of objects, an object of objects by id, or an object with `columns`
        and `data`. A star as one step ("results.*") stands for every key there: the rows below each are a run
        of their own, and the key is the model, unless the rows name one. The keys may also be those of data
        sets, ids or subjects ("*.{dataset}"). Where lists or such steps are on the way, rows have what the
        objects around them say of what they are: their model, question or right answer.
    wide
        Pattern of columns → name they are read as, where several systems stand side by side in each row
        (`{"*-evals": "correct", "*-confidence_levels": "confidence"}`). The text at the star becomes the
        model, each system is a run of its own, and a list of one value is that value.
    missing
        Values that count as missing, such as "Unparseable".
    gold_on
        The column that a table of right answers is joined on, or `THIS=THAT` if the two files name it
        differently; "" joins on the ids.
    gold_columns
        Column of that table → Calib's name for it (`{"label": "correct"}`, `{"verdict": "correct:ok|fine"}`),
        for columns that are not found by their usual names.
    dataset
        What the data are called, of runs whose file names no data set; one that is named there is kept.
    finds_candidates
        Whether what else the columns of a table may be read as is looked for.
    """

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: str = ""
    wide: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: Sequence[str] = ()
    gold_on: str = ""
    gold_columns: Mapping[str, str] = field(default_factory=dict[str, str])
    dataset: str = ""
    finds_candidates: bool = True

    def in_plain_types(self) -> ReadOptions:
        """Return these options in the types that can be sent to another process."""
        return replace(
            self,
            columns=dict(self.columns),
            wide=dict(self.wide),
            missing=tuple(self.missing),
            gold_columns=dict(self.gold_columns),
        )

    def adding(self, further: ReadOptions) -> ReadOptions:
        """Return these options with what others name in addition, whose path of the rows comes first."""
        return replace(
            self,
            columns={**self.columns, **further.columns},
            wide={**self.wide, **further.wide},
            rows=further.rows or self.rows,
            missing=(*self.missing, *further.missing),
            finds_candidates=self.finds_candidates and further.finds_candidates,
        )


AS_IT_LIES: Final = ReadOptions()
"""The file is read as it is: everything is recognised by its content."""

ContentKind = Literal[
    "parquet", "arrow", "frame", "json lines", "json list", "json object", "text", "zip", "npy"
]
"""What the bytes are, whatever the file is called."""

JSON_KINDS: Final[frozenset[ContentKind]] = frozenset({"json lines", "json list", "json object"})
"""Kinds of content that hold JSON objects."""


_KIND_TEXTS: Final[Mapping[ContentKind, str]] = MappingProxyType(
    {
        "parquet": "a Parquet file",
        "arrow": "an Arrow file",
        "frame": "a data frame",
        "json lines": "JSON lines",
        "json list": "a JSON list",
        "json object": "a JSON object",
        "text": "text such as CSV",
        "zip": "an archive",
        "npy": "a NumPy array",
    }
)
"""What a file's content is called in messages."""


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """A file's bytes and what a first look at them shows.

    Attributes
    ----------
    file
        What messages call the file.
    content
        The bytes, unpacked if the file is compressed; empty for the kinds "zip" and "npy", which are read
        from `path`.
    kind
        What the bytes are.
    first_objects
        The first JSON objects, up to 20.
    list_elements
        All elements of a JSON list, which cannot be parsed in part.
    names
        Columns of a Parquet or Arrow file or of a frame, or members of an archive.
    metadata
        The key-value pairs of a Parquet or Arrow file.
    frame
        The table of the kind "frame", which is in memory.
    path
        The file; None if only its bytes are known.
    companions
        Name → path of the existing files that are read together with this one.
    gold_path
        A table of right answers that the user named; otherwise None.
    gold_on, gold_columns, finds_candidates
        As in `ReadOptions`.
    """

    file: str
    content: Content
    kind: ContentKind
    first_objects: tuple[Mapping[str, object], ...] = ()
    list_elements: tuple[object, ...] = ()
    names: tuple[str, ...] = ()
    metadata: Mapping[str, str] | None = None
    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    path: Path | None = None
    companions: Mapping[str, Path] = field(default_factory=dict[str, Path])
    gold_path: Path | None = None
    gold_on: str = ""
    gold_columns: Mapping[str, str] = field(default_factory=dict[str, str])
    finds_candidates: bool = True

    @property
    def checksum(self) -> int:
        """A number that differs where the content does."""
        if self.kind != "frame":
            return self.content.checksum()
        return crc32(self.frame.hash_rows().to_numpy().tobytes())

    @property
    def all_bytes(self) -> bytes:
        """Read all bytes at once; a large text is better read from `content`."""
        return self.content.read_all()


ReadFunction: TypeAlias = Callable[[Head, ReadOptions, ReadProgress], Reading]
"""Reads a file: (head, how the user wants it to be read, progress) → reading.

Raises `calib_core.errors.Refused` if nothing in the file can be used.
"""


@dataclass(frozen=True, slots=True)
class Format:
    """A file format that Calib reads.

    Attributes
    ----------
    id
        Its name on the command line.
    title
        Its name in messages.
    recognised_by
        What it is recognised by, worded to follow "because it has".
    kinds
        Kinds of content that a file of this format may have.
    recognises
        Whether a file of one of these kinds has this format, judged by its content alone.
    read
        Reads such a file.
    """

    id: str
    title: str
    recognised_by: str
    kinds: frozenset[ContentKind]
    recognises: Callable[[Head], bool]
    read: ReadFunction


def wrong_kind_message(head: Head, format_: Format) -> str:
    """Say what a file of the format that the user chose would hold, and what this one holds."""
    expected = [text for kind, text in _KIND_TEXTS.items() if kind in format_.kinds]
    return (
        f"{head.file} cannot be read as {format_.title}: expected {join_names(expected, 'or')} with "
        f"{format_.recognised_by}, found {_KIND_TEXTS[head.kind]}. Leave {option_name('format')} out."
    )
