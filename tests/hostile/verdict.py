"""What came of one spoilt file, and whether every number agrees with its bytes.

1. A result or a message: nothing is raised but what is meant for a person, within 2,000 characters, naming
   the file and no folder of the machine.
2. No row is lost without a word: the rows read, and the bad ones among them, are as many as the records that
   a careful reading finds.
3. No number is changed on the quiet: a record that the mutation left as it was gives what it gave in the good
   file, and another gives, of a plain table, what its own text says, column by column. Of logs no more rows
   may differ than records do, unless a new note says why; sums are the good file's or refused; of arrays the
   positions, the right ones and the confidence add up to what NumPy finds.
4. No number moves in silence: where accuracy, mean confidence, Brier score or ECE differ, so do bad rows,
   counts, notes, remarks or warnings, unless the new values may stand there (`silence`).

A spoilt record of a log may lawfully give other values (its bytes say something else now), and what it gives
is the business of that format's own tests.
"""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from calib_core import readers
from calib_core.errors import BadRowsFound, CalibError
from calib_core.readers.format import Reading
from calib_core.results.files import check_file
from calib_core.runs import AnswerRun, TokenRun
from hostile import independent_reading
from hostile.good_files import Good
from hostile.silence import Result, changes_of, result_of
from hostile.verdict_arrays import of_arrays

Row = tuple[tuple[str, Any], ...]

OUTCOMES: Final = ("refused", "asks", "told", "equal", "lawful", "mixed", "silent")
"""What came of a spoilt file: refused; numbers differ with bad rows, or with something else said; all numbers
are equal; they differ, and all that is new in the file may stand there, or some of it; they differ in
silence."""

NUMBERS: Final = ("confidence", "verbal_confidence", "p_true", "p_false")
TEXTS: Final = ("id", "subject", "question")
"""Columns whose cells are shown as they are."""
_HASHED: Final = re.compile(r" \([0-9a-f]{64}\)$")
"""What documents of one number are told apart by, where a spoilt one has taken another's number."""
CLIPPED: Final = 1e-6
"""Values up to so far outside [0, 1] are moved onto its edge, and the ledger says so."""


class Judge:
    """Reads spoilt files in a folder and compares them with the good ones."""

    def __init__(self, folder: Path, goods: Sequence[Good]) -> None:
        self._folder = folder
        self._sound = {good.id: self._read(good, good.files) for good in goods}
        refused = {id_: sound.message for id_, sound in self._sound.items() if sound.reading is None}
        assert not refused, f"no good files: {refused}"

    def faults(
        self, good: Good, spoilt: Mapping[str, bytes], read: Mapping[str, bytes] | None = None
    ) -> dict[str, Any]:
        """outcome: one of `OUTCOMES`; faults: what should not be, each in words.

        read: what the program is given, by default what it is judged by; for tests of this judge.
        """
        sound, result = self._sound[good.id], self._read(good, spoilt if read is None else read)
        wrong = list(_of_message(good, result.message, self._folder))
        if result.reading is None:
            return {"outcome": "refused", "faults": wrong}
        assert sound.reading is not None
        with suppress(independent_reading.UnclearError):
            wrong += _of_rows(good, spoilt, sound.reading, result.reading)
        if not result.differs(sound):
            return {"outcome": "equal", "faults": wrong[:5]}
        if result.said != sound.said:
            return {"outcome": "asks" if result.outcome == "asks" else "told", "faults": wrong[:5]}
        lawful, unlawful = changes_of(good.files, spoilt)
        if not lawful and not unlawful:
            (lawful if good.numbered else unlawful).append("the same records in another order")
        if not lawful:
            wrong += [f"numbers moved in silence: {one}" for one in unlawful]
        outcome = "mixed" if lawful and unlawful else "lawful" if lawful else "silent"
        return {"outcome": outcome, "faults": wrong[:5]}

    def _read(self, good: Good, contents: Mapping[str, bytes]) -> Result:
        """The file read, reported and scored."""
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir()
        for name, data in contents.items():
            (self._folder / name).write_bytes(data)
        gold = self._folder / good.gold if good.gold else None
        try:
            reading = readers.read_in_this_process(self._folder / good.main, file=good.main, gold=gold)
            report = check_file(reading)
            if report.status == "refused":
                return Result("refused", report.message)
        except CalibError as refusal:
            return Result("refused", str(refusal))
        try:
            reading.runs(skip_bad_rows=False)
        except BadRowsFound as asked:
            return result_of(reading, report, str(asked))
        return result_of(reading, report, report.message)


def _of_message(good: Good, message: str, folder: Path) -> Iterator[str]:
    if len(message) > 2000 or "Traceback" in message or str(folder) in message:
        yield f"a message that should not be: {message[:300]}"
    if not any(name in message for name in good.files):
        yield f"a message that names no file: {message[:300]}"


def _of_rows(good: Good, spoilt: Mapping[str, bytes], sound: Reading, reading: Reading) -> Iterator[str]:
    data = spoilt[good.main]
    if good.records in ("npz", "npy"):
        yield from of_arrays(good, spoilt, reading)
    elif good.records == "sealed":
        if _sums(reading) != _sums(sound):
            yield "sealed sums were altered and read all the same"
    elif good.records == "topk":
        if not reading.n_bad_rows and reading.n_rows != len(independent_reading.jsonl(data)):
            yield f"{reading.n_rows} rows of {len(independent_reading.jsonl(data))} lines"
    elif good.records in independent_reading.VALUES:
        yield from _of_table(good, data, reading)
    beside = all(spoilt[name] == data for name, data in good.files.items() if name != good.main)
    new = bool(good.gold) and bool(_notes(reading) - _notes(sound))
    if good.records in independent_reading.RECORDS and good.records != "topk" and beside and not new:
        yield from _of_records(
            independent_reading.RECORDS[good.records], good.files[good.main], data, sound, reading
        )
    elif not good.records or (good.gold and not beside):
        yield from _of_log(good, spoilt, sound, reading)


def _of_log(good: Good, spoilt: Mapping[str, bytes], sound: Reading, reading: Reading) -> Iterator[str]:
    """More rows that differ than records, where nothing above the records does and nothing new is noted."""
    if _notes(reading) - _notes(sound):
        raise independent_reading.UnclearError
    strange = Counter(filter(None, _shown(reading).values())) - Counter(_shown(sound).values())
    touched = 0
    if not good.main.endswith(".eval"):
        before, now = independent_reading.parts(good.files), independent_reading.parts(spoilt)
        changed = (before - now) + (now - before)
        if any(independent_reading.ABOVE in part for part in changed) or (
            good.numbered and _moved(good, spoilt)
        ):
            raise independent_reading.UnclearError
        touched = changed.total()
    if strange.total() > touched:
        yield f"{strange.total()} rows differ and {touched} records: {[*strange][:1]}"


def _notes(reading: Reading) -> set[str]:
    """What is noted, whatever the numbers in it, and how many choices there are: of a log, all rows tell."""
    notes = (*reading.notes, *(note for run in reading.good_runs for note in run.row_counts.notes))
    widths = {len(dict(row).get("choice_logprobs", ())) for row in _shown(reading).values()}
    return {*(re.sub(r"[\d.]+", "#", note) for note in notes), f"{max(widths, default=0)} choices"}


def _moved(good: Good, spoilt: Mapping[str, bytes]) -> bool:
    """Whether lines stand in other places: their number is what right answers are joined on."""
    before, now = (
        independent_reading.lines(good.files[good.main]),
        independent_reading.lines(spoilt[good.main]),
    )
    return len(before) != len(now) or any(line in before for line in _elsewhere(before, now))


def _elsewhere(before: Sequence[bytes], now: Sequence[bytes]) -> list[bytes]:
    return [new for old, new in zip(before, now, strict=True) if old != new]


def _of_records(
    split: Callable[[bytes], list[Any]], was: bytes, now: bytes, sound: Reading, reading: Reading
) -> Iterator[str]:
    """Rows lost; rows that differ although their records do not."""
    before, after = split(was), split(now)
    if reading.format != sound.format or sound.n_rows != len(before):
        return
    if reading.n_rows != len(after):
        yield f"{reading.n_rows} rows of {len(after)} records"
        return
    kept = sum(run.rows.height for run in reading.good_runs if isinstance(run, AnswerRun))
    whole = sum(run.rows.height for run in sound.good_runs if isinstance(run, AnswerRun)) == sound.n_rows
    if whole and kept + reading.n_bad_rows != reading.n_rows:
        yield f"{reading.n_rows} rows, {reading.n_bad_rows} bad and {kept} kept"
    known = {before[at - 1]: shown for at, shown in _shown(sound).items()}
    for at, shown in _shown(reading).items():
        expected = known.get(after[at - 1])
        if expected is not None and expected != shown:
            yield f"row {at} was not touched: it gave {_difference(expected, shown)}"


def _of_table(good: Good, data: bytes, reading: Reading) -> Iterator[str]:
    """Of every row: each number and text is what the record says under that name."""
    if reading.format != "table":
        return
    told = independent_reading.VALUES[good.records](data)
    if reading.n_rows != len(told):
        yield f"{reading.n_rows} rows of {len(told)} records"
        return
    for at, shown in _shown(reading).items():
        for name, value in shown:
            if name in NUMBERS and value is not None and not _says(told[at - 1].get(name), value):
                yield f"row {at}: {name} is {value}, and the file says {told[at - 1].get(name)!r}"
            if name in TEXTS and value is not None and not _spells(told[at - 1].get(name), value):
                yield f"row {at}: {name} is {value!r}, and the file says {told[at - 1].get(name)!r}"


def _says(text: Any, value: float) -> bool:
    try:
        percent = isinstance(text, str) and text.rstrip().endswith("%")
        said = float(text.rstrip().removesuffix("%")) / 100 if percent else float(text)
    except (TypeError, ValueError, OverflowError):
        return False
    clipped = value in (0.0, 1.0) and abs(said - value) <= CLIPPED
    return clipped or math.isclose(said, value)


def _spells(text: Any, value: str) -> bool:
    said = text if isinstance(text, str) else repr(text)
    clean = said.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return clean.strip() == value.strip() or not isinstance(text, str)


def _sums(reading: Reading) -> list[Any]:
    runs = [run for run in reading.good_runs if isinstance(run, TokenRun)]
    return [
        (run.label, run.sums.n_rows, run.sums.top_label.n_correct, run.sums.occurrences.tolist())
        for run in runs
    ]


def _shown(reading: Reading) -> dict[int, Row]:
    """Record number → every value of its row, by column."""
    found: dict[int, Row] = {}
    for run in reading.good_runs:
        if isinstance(run, AnswerRun):
            for row in run.rows.to_dicts():
                values = {name: value for name, value in row.items() if name != "row" and value is not None}
                if len(values.get("gold_all", ())) == 1:  # another row has several
                    values["gold"] = values.pop("gold_all")[0]
                found[row["row"]] = tuple(sorted((name, _plain(value)) for name, value in values.items()))
    return found


def _plain(value: Any) -> Any:
    """A value to compare: lists can be hashed, and an id stands without what tells it from another's."""
    if isinstance(value, str):
        return _HASHED.sub("", value)
    return tuple(value) if isinstance(value, list) else value


def _difference(one: Row, other: Row) -> str:
    was, now = dict(one), dict(other)
    names = [name for name in {*was, *now} if was.get(name) != now.get(name)]
    return "; ".join(f"{name} {was.get(name)!r} and gives {now.get(name)!r}" for name in sorted(names)[:3])
