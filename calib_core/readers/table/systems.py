"""Systems that stand side by side in each row, found by patterns of names that repeat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import polars as pl

from calib_core.readers.format import Candidate
from calib_core.readers.table.column_values import ColumnValues
from calib_core.readers.table.columns import (
    PROBABILITY_COLUMNS,
    SEPARATOR,
    MappedName,
)
from calib_core.readers.table.names import (
    meanings,
)
from calib_core.readers.table.one_column import as_confidence, as_outcome
from calib_core.runs import schema_name

WIDE_NAMES: Final = ("confidence", "verbal_confidence", "p_true", "correct", "prediction")
"""Names that are looked for in columns of systems side by side, the most important first."""


def find_systems(
    columns: Sequence[str], values_of: Callable[[str], pl.Series], *, has_gold: bool
) -> tuple[Candidate, ...]:
    """Find patterns for the columns of several systems that stand side by side in each row.

    Parameters
    ----------
    columns
        Columns of the file, and paths to nested fields.
    values_of
        Gives the first values of a column.
    has_gold
        Whether each row has a right answer, by which the systems' own answers can be judged.

    Returns
    -------
    tuple of Candidate
        Pattern with one star → what its columns may be read as. It is empty unless two systems or more have
        a confidence and an outcome each. Several patterns for the confidence or the outcome of the same
        systems are alternatives. Numbers are no systems: they count the answers of one. Nor are single
        letters without outcomes of their own, which may be choices.

    Examples
    --------
    >>> columns = {"m7-conf": [0.5, 0.7], "m7-wrong": [0, 1], "m70-conf": [0.6, 0.9], "m70-wrong": [1, 0]}
    >>> found = find_systems([*columns], lambda name: pl.Series(columns[name]), has_gold=False)
    >>> [dict(one.names) for one in found]
    [{'*-conf': 'confidence'}, {'*-wrong': 'correct:not'}]
    """
    patterns = _systems_by_pattern(columns)
    best: dict[str, list[Candidate]] = {}
    common: set[str] = set()
    for name in WIDE_NAMES:
        for pattern, systems in sorted(patterns[name].items(), key=lambda item: -len(item[1])):
            shared = common & systems.keys() if best else {*systems}
            if name == "prediction" and "correct" not in best:
                shared = {system for system in shared if len(system) > 1}
            is_needed = name != "prediction" or "correct" not in best
            if len(shared) < 2 or not is_needed or (name in best and shared != common):
                continue
            one = _as_pattern(pattern, name, [values_of(systems[system]) for system in sorted(shared)])
            if one is not None:
                best.setdefault(name, []).append(one)
                common = shared
    outcome = "correct" if "correct" in best else "prediction"
    if "confidence" not in best or outcome not in best or (outcome == "prediction" and not has_gold):
        return ()
    return tuple(one for of_name in best.values() for one in of_name)


def _systems_by_pattern(columns: Sequence[str]) -> dict[str, dict[str, dict[str, str]]]:
    """Map each name of `WIDE_NAMES` to the patterns that may stand for it, each with system → column."""
    found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in WIDE_NAMES}
    for column in columns:
        for separator in SEPARATOR.finditer(column):
            before, after = column[: separator.start()], column[separator.end() :]
            for system, label, pattern in (
                (before, after, f"*{column[separator.start() :]}"),
                (after, before, f"{column[: separator.end()]}*"),
            ):
                said = {MappedName.parse(name).name for name, clarity in meanings(label) if clarity == "said"}
                for name in said & {*WIDE_NAMES}:
                    if system and not system.isdecimal():
                        found[name].setdefault(pattern, {})[system] = column
    return found


def _as_pattern(pattern: str, name: str, values: Sequence[pl.Series]) -> Candidate | None:
    """Return how the columns of all systems may be read as a name; None if those of one do not fit."""
    label = pattern.replace("*", "").strip("-_./: ")
    columns = [ColumnValues(label, raw) for raw in values]
    if any(column.raw.dtype.is_nested() or not column.present for column in columns):
        return None
    all_texts = [text for column in columns for text in column.present]
    together = ColumnValues(label, pl.Series(all_texts, dtype=pl.String))
    said = next((one for one in meanings(label) if MappedName.parse(one.name).name == name), None)
    if said is None:
        return None
    if schema_name(name) in PROBABILITY_COLUMNS:
        one = next(as_confidence(together, said.name, said.clarity), None)
    elif name == "correct":
        one = next(as_outcome(together, [said]), None)
    else:
        one = None if together.are_shares else Candidate({label: name}, "said", "its name")
    return None if one is None else Candidate({pattern: one.name}, one.clarity, one.why, one.missing)
