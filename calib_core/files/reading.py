"""What did one file hold, and which runs does it give once somebody has chosen about its bad rows?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from calib_core.problems import BadRowsFound, Problem, Refused
from calib_core.records import Run


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
