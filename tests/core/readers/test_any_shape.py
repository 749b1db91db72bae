"""However people write a table, it is read exactly, refused, or warned about: never wrong in silence."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from calib_core import readers
from calib_core.errors import Refused
from calib_core.readers.format import AS_IT_LIES, Reading, ReadOptions
from calib_core.results.evidence import gather_evidence
from calib_core.results.files import FileReport, check_file

N_ROWS: Final = 240
LETTERS: Final = "ABCD"
TEXTS: Final = ("salt", "zinc", "tin", "lead")

Row = dict[str, Any]


def exact_rows() -> list[tuple[tuple[float, ...], int]]:
    """The probabilities of the four choices, a multiple of 1/64 each, and the right choice."""
    draw = np.random.default_rng(7)
    rows: list[tuple[tuple[float, ...], int]] = []
    for _ in range(N_ROWS):
        parts = draw.permutation(np.array([40 + draw.integers(0, 15), 5, 3]))
        shares = draw.permutation([*parts, 64 - parts.sum()]) / 64
        top = int(np.argmax(shares))
        rows.append((tuple(map(float, shares)), top if draw.random() < 0.7 else int(draw.integers(0, 4))))
    return rows


EXACT: Final = exact_rows()
OUTCOMES: Final = [int(np.argmax(shares)) == gold for shares, gold in EXACT]
PAIRS: Final = [(max(shares), right) for (shares, _), right in zip(EXACT, OUTCOMES, strict=True)]

OUTCOME_SPELLINGS: Final[Mapping[str, tuple[object, object]]] = {
    "bool": (True, False),
    "number": (1, 0),
    "yes": ("yes", "no"),
    "word": ("Correct", "Wrong"),
    "grade": ("A", "C"),
}
SCALES: Final = {"share": 1, "percent": 100, "sign": 100, "tenth": 10}
GOLDS: Final = ("letter", "index", "one-based", "text", "shifted letter")


def gold_of(gold: int, form: str) -> object:
    match form:
        case "letter":
            return LETTERS[gold]
        case "index":
            return gold
        case "one-based":
            return gold + 1
        case "text":
            return TEXTS[gold]
        case _:
            return LETTERS[(gold + 1) % 4]


def scaled(share: float, scale: str) -> object:
    value = share * SCALES[scale]
    return f"{value}%" if scale == "sign" else value


def as_csv(rows: Sequence[Row]) -> bytes:
    flat = [
        {name: json.dumps(value) if isinstance(value, list) else value for name, value in row.items()}
        for row in rows
    ]
    return pl.DataFrame(flat, infer_schema_length=None).write_csv().encode()


def as_parquet(rows: Sequence[Row]) -> bytes:
    target = io.BytesIO()
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(target)
    return target.getvalue()


WRITERS: Final[Mapping[str, Callable[[Sequence[Row]], bytes]]] = {
    "csv": as_csv,
    "parquet": as_parquet,
    "json lines": lambda rows: "\n".join(map(json.dumps, rows)).encode(),
    "below a key": lambda rows: json.dumps({"version": 3, "log": {"rows": rows}}).encode(),
    "by id": lambda rows: json.dumps({f"q{number}": row for number, row in enumerate(rows)}).encode(),
    "split": lambda rows: json.dumps(
        {"columns": list(rows[0]), "data": [list(row.values()) for row in rows]}
    ).encode(),
    "nested": lambda rows: json.dumps([{"meta": {"lang": "en"}, "out": row} for row in rows]).encode(),
}
"""How the rows lie in a file that holds nothing else of use."""


def read_file(content: bytes, options: ReadOptions) -> FileReport | None:
    """The report on the file, read with what is proposed where nothing is known; None if it is refused."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "quiz.dat")
        path.write_bytes(content)

        def read(further: ReadOptions = AS_IT_LIES) -> Reading:
            return readers.read_in_this_process(path, file="quiz.dat", options=options.adding(further))

        try:
            report = check_file(read(), read_again=read)
            if report.proposal is not None:
                report = check_file(read(report.proposal.options))
        except Refused:
            return None
    return report if report.status == "loads" else None


def pairs_by(report: FileReport, method: str) -> list[tuple[float, bool]]:
    (run,) = report.runs
    pairs = gather_evidence(run.run, method).pairs  # type: ignore[union-attr]
    return list(zip(pairs.confidence.tolist(), pairs.correct.tolist(), strict=True))


def is_exact(found: list[tuple[float, bool]]) -> bool:
    return [right for _, right in found] == OUTCOMES and np.allclose(
        [confidence for confidence, _ in found], [confidence for confidence, _ in PAIRS], rtol=0, atol=1e-12
    )


@given(
    st.sampled_from(sorted(WRITERS)),
    st.sampled_from(sorted(SCALES)),
    st.sampled_from(sorted(OUTCOME_SPELLINGS)),
    st.sampled_from(["confidence", "conf", "Conf (%)", "certainty"]),
    st.sampled_from(["correct", "is_correct", "hit", "grade"]),
    st.permutations(["confidence", "outcome", "length", "note"]),
)
def test_pairs_in_any_shape(
    container: str, scale: str, spelling: str, conf_name: str, outcome_name: str, order: list[str]
) -> None:
    right, wrong = OUTCOME_SPELLINGS[spelling]
    rows: list[Row] = []
    for number, (confidence, is_right) in enumerate(PAIRS):
        row = {
            "confidence": (conf_name, scaled(confidence, scale)),
            "outcome": (outcome_name, right if is_right else wrong),
            "length": ("n_tokens", 3 + number % 50),
            "note": ("raw", f"text {number}, with a comma"),
        }
        rows.append(dict(row[name] for name in order))
    report = read_file(WRITERS[container](rows), ReadOptions())
    if report is not None and report.runs[0].usable and not report.warnings:
        assert is_exact(pairs_by(report, "given"))
        assert spelling != "grade"
        assert scale != "tenth"
    elif scale == "share" and spelling != "grade":
        raise AssertionError("what is plain is read without a question")


@given(
    container=st.sampled_from(sorted(WRITERS)),
    form=st.sampled_from(GOLDS),
    in_file=st.permutations(range(4)),
    in_mapping=st.permutations(range(4)),
    prefix=st.sampled_from(["p_", "prob_", "opt"]),
    has_texts=st.booleans(),
)
def test_choices_in_any_order(
    container: str, form: str, in_file: list[int], in_mapping: list[int], prefix: str, *, has_texts: bool
) -> None:
    """Columns of letters lie in one order in the file, and are mapped in another."""
    names = [f"{prefix}{letter}" for letter in LETTERS]
    texts = {"choices": list(TEXTS)} if has_texts else {}
    rows: list[Row] = [
        {names[index]: shares[index] for index in in_file} | {"gold": gold_of(gold, form)} | texts
        for shares, gold in EXACT
    ]
    path = "out." if container == "nested" else ""
    columns = {f"{path}{names[index]}": "choice_probs" for index in in_mapping}
    if path:
        columns |= {"out.gold": "gold"} | ({"out.choices": "choices"} if has_texts else {})
    report = read_file(WRITERS[container](rows), ReadOptions(columns))
    if report is None or not report.runs[0].usable or report.warnings:
        assert form != "letter" or has_texts
        return
    assert is_exact(pairs_by(report, "choice_softmax"))
    assert form not in ("one-based", "shifted letter")


@given(st.permutations(range(4)), st.sampled_from(["index", "letter"]))
def test_choices_mapped_in_a_wrong_order_are_warned_about(in_mapping: list[int], form: str) -> None:
    """Nothing in the names of the columns says which choice they are."""
    names = ("north", "south", "west", "east")
    rows: list[Row] = [
        dict(zip(names, shares, strict=True)) | {"gold": gold_of(gold, form)} for shares, gold in EXACT
    ]
    columns = {names[index]: "choice_probs" for index in in_mapping}
    report = read_file(as_csv(rows), ReadOptions(columns))
    assert report is not None
    found = pairs_by(report, "choice_softmax")
    if in_mapping == [0, 1, 2, 3]:
        assert is_exact(found)
        assert report.warnings == ()
    elif sum(right for _, right in found) < N_ROWS / 3:
        assert report.warnings


@given(
    order=st.permutations(["a", "b", "c"]),
    container=st.sampled_from(["json lines", "parquet", "csv"]),
    is_nested=st.booleans(),
)
def test_systems_side_by_side_in_any_order(order: list[str], container: str, *, is_nested: bool) -> None:
    """Each system has its own shift of the pairs; nested, each is an object of its own."""
    shift = {"a": 0, "b": 7, "c": 19}
    rows: list[Row] = []
    for number in range(N_ROWS):
        values = {name: PAIRS[(number + shift[name]) % N_ROWS] for name in order}
        if is_nested and container != "csv":
            rows.append({name: {"p": p, "ok": int(ok)} for name, (p, ok) in values.items()})
        else:
            rows.append(
                {f"{name}.p": p for name, (p, _) in values.items()}
                | {f"{name}.ok": int(ok) for name, (_, ok) in reversed(values.items())}
            )
    options = ReadOptions(wide={"*.p": "confidence", "*.ok": "correct"})
    report = read_file(WRITERS[container](rows), options)
    assert report is not None
    for run in report.runs:
        name = str(run.run.info.model)
        pairs = gather_evidence(run.run, "given").pairs  # type: ignore[union-attr]
        expected = [PAIRS[(number + shift[name]) % N_ROWS] for number in range(N_ROWS)]
        assert list(zip(pairs.confidence.tolist(), pairs.correct.tolist(), strict=True)) == expected
    assert {run.run.info.model for run in report.runs} == set(order)
