"""A fitted map that outlives its run: as JSON, as a few lines of Python, and applied to other runs."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final, Literal, cast

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from calib_core.errors import Refused, Unavailable, shorten, single_line
from calib_core.inference.recalibration import (
    CHOICE_FLOOR,
    EPSILON,
    MAP_KINDS,
    MAX_KNOTS,
    Parameters,
    tempered_choices,
)
from calib_core.methods import METHODS
from calib_core.methods.answers.outcomes import with_assumed_outcomes
from calib_core.methods.method import MethodOptions
from calib_core.results.evidence import AnswerEvidence, gather_evidence
from calib_core.runs import AnswerRun, Run, as_run
from calib_core.terms import ProbabilityOf
from calib_core.tokens.row_checks import SUM_TOLERANCE
from calib_core.values import Value

MapTarget = Literal["confidence", "choices"]
"""What a map changes: one confidence per row, or the probabilities of all choices."""

MAP_VERSION: Final = 1
"""The version of the JSON document."""

MAX_MAP_BYTES: Final = 8_000_000
"""A larger file is not a map."""

RECALIBRATED_COLUMNS: Final[Mapping[ProbabilityOf, str]] = MappingProxyType(
    {"answer": "confidence.recalibrated", "event": "event_prob.recalibrated"}
)
"""The column that a map adds to a table."""

SUMS_ONLY: Final = (
    "Recalibration needs individual confidences, but a token-level run keeps sums only. Read a file of "
    "whole distributions as questions, with the right class (target) as gold, to fit a temperature; or "
    "recalibrate the logits before they are saved."
)

_VERSION_KEY: Final = "calib_map"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RecalibrationMap(Value):
    """A map with what it was fitted to.

    Attributes
    ----------
    by : str
        Key of `MAP_KINDS`.
    target : {"confidence", "choices"}
        Only a temperature changes choices.
    parameters : Mapping[str, float or tuple of float]
    run, method : str
        Label of the run, and id of the method, whose rows it was fitted to.
    n_rows : int
        Number of those rows.
    folds, seed : int
        With which it was judged.
    recipe : str
        Of the confidences it was fitted to.
    rows_digest : str
        Of these rows (`rows_digest`), by which they are known again; "" in a map of an older version.
    """

    by: str
    target: MapTarget
    parameters: Parameters
    run: str
    method: str
    n_rows: int
    folds: int
    seed: int
    recipe: str
    rows_digest: str = ""

    def __call__(self, confidence: ArrayLike) -> NDArray[np.float64]:
        """Recalibrate confidences, or the probabilities of all choices where `target` is "choices".

        Parameters
        ----------
        confidence : array_like
            Of any shape, in [0, 1]; of all choices, shape (..., K), each row summing to 1. NaN is missing.

        Returns
        -------
        NDArray[np.float64], of the same shape
            In [0, 1]; NaN where the confidence, or one of a row's choices, is missing.

        Raises
        ------
        ValueError
            If a value is outside [0, 1], or the choices of a row do not sum to 1 within 1e-3.

        Examples
        --------
        >>> import calib_core
        >>> (run,) = calib_core.load(confidence=[0.9, 0.6] * 50, correct=[1, 0, 1, 1] * 25)
        >>> calib_core.recalibrate(run).map([0.9, 0.6]).round(2).tolist()
        [0.99, 0.51]
        """
        values = np.asarray(confidence, np.float64)
        known = ~np.isnan(values)
        if (wrong := values[known & ~((values >= 0) & (values <= 1))]).size:
            raise ValueError(
                f"confidence: expected numbers from 0 to 1, found {wrong[0]:g}. Divide percentages by 100."
            )
        if self.target == "confidence":
            mapped = np.full(values.shape, np.nan)
            mapped[known] = MAP_KINDS[self.by].apply(self.parameters, values[known])
            return mapped
        if not values.ndim or (np.abs(values[known.all(axis=-1)].sum(axis=-1) - 1) > SUM_TOLERANCE).any():
            raise ValueError(
                "This map is a temperature of all choices: expected the probabilities of all choices on the "
                "last axis, summing to 1."
            )
        logs = np.log(np.maximum(values, CHOICE_FLOOR)) / cast("float", self.parameters["temperature"])
        powers = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def apply(
        self, run: Run, *, method: str | None = None, options: MethodOptions | None = None
    ) -> AnswerRun:
        """Recalibrate a run, with or without outcomes.

        Parameters
        ----------
        run : AnswerRun
        method : str, optional
            Id of a confidence method; by default the one that the map was fitted to.
        options : MethodOptions, optional
            Of the method.

        Returns
        -------
        AnswerRun
            The same rows, with the recalibrated confidence as their only one, and the outcome of the answer
            that it is of; both are null where the run has none.

        Raises
        ------
        Unavailable
            If the method, or a map of choices, cannot be used with this run.
        """
        options = options or MethodOptions()
        return self.applied(as_run(run), method or self.method, options).run_with_it_alone()

    def applied(self, run: Run, method: str, options: MethodOptions) -> AppliedMap:
        """What the map makes of a run; parameters and errors as in `apply`."""
        evidence = gather_evidence(with_assumed_outcomes(run), method, options)
        if not isinstance(run, AnswerRun) or not isinstance(evidence, AnswerEvidence):
            raise Unavailable(SUMS_ONLY)
        if not evidence.n_used:
            raise Unavailable("No row has a confidence.")
        judged = None
        with suppress(Unavailable):
            judged = gather_evidence(run, method, options)
        return AppliedMap(self, run, self.of_evidence(evidence), judged)

    def of_evidence(self, evidence: AnswerEvidence) -> AnswerEvidence:
        """The evidence with recalibrated confidences.

        Raises
        ------
        Unavailable
            If the map changes choices, and the evidence has none.
        """
        if self.target == "choices":
            distribution = evidence.confidences.distribution
            if distribution is None or not distribution.normalised:
                raise Unavailable(
                    "The map is a temperature of all choices, but these rows do not have the probability of "
                    "every choice."
                )
            return with_choices(
                evidence, tempered_choices(distribution, cast("float", self.parameters["temperature"]))
            )
        confidence = evidence.confidences.pairs.confidence.astype(np.float64)
        return with_confidences(evidence, MAP_KINDS[self.by].apply(self.parameters, confidence))

    @property
    def formula(self) -> str:
        """What the map does, by the names of its parameters."""
        return MAP_KINDS[self.by].formula if self.target == "confidence" else CHOICE_FORMULA

    def to_json(self) -> str:
        """The map as a JSON document."""
        document = {
            _VERSION_KEY: MAP_VERSION,
            "by": self.by,
            "target": self.target,
            "formula": self.formula,
            "parameters": plain_parameters(self.parameters),
            "epsilon": EPSILON if self.target == "confidence" else CHOICE_FLOOR,
            "run": self.run,
            "method": self.method,
            "n_rows": self.n_rows,
            "folds": self.folds,
            "seed": self.seed,
            "recipe": self.recipe,
            "rows_digest": self.rows_digest,
        }
        return json.dumps(document, indent=2, allow_nan=False) + "\n"

    @classmethod
    def from_json(cls, data: bytes | str, name: str = "the map") -> RecalibrationMap:
        """The map in a JSON document.

        Parameters
        ----------
        data : bytes or str
        name : str, optional
            What messages call the file.

        Raises
        ------
        Refused
            If it is not a map, with what was expected and found.
        """
        document = _document(data.encode() if isinstance(data, str) else data, name)
        by, target = _text(document, "by", name), _text(document, "target", name)
        if by not in MAP_KINDS:
            raise _wrong(name, "by", f"one of {', '.join(MAP_KINDS)}", by)
        if target not in ("confidence", "choices") or (target == "choices" and by != "temperature"):
            raise _wrong(name, "target", '"confidence", or "choices" for a temperature', target)
        epsilon = EPSILON if target == "confidence" else CHOICE_FLOOR
        if document.get("epsilon") != epsilon:
            raise _wrong(name, "epsilon", f"{epsilon!r}, this version's", document.get("epsilon"))
        parameters = document.get("parameters")
        if not isinstance(parameters, dict):
            raise _wrong(name, "parameters", "an object", parameters)
        return cls(
            by=by,
            target=target,
            parameters=_checked_parameters(cast("dict[str, object]", parameters), by, name),
            run=_text(document, "run", name),
            method=_text(document, "method", name),
            n_rows=_whole_number(document, "n_rows", name),
            folds=_whole_number(document, "folds", name),
            seed=_whole_number(document, "seed", name),
            recipe=_text(document, "recipe", name),
            rows_digest=_text({"rows_digest": "", **document}, "rows_digest", name),
        )

    def question_of_use(self, evidence: AnswerEvidence) -> str | None:
        """Why the map may not hold for these rows, as a sentence; None if nothing speaks against it.

        Parameters
        ----------
        evidence : AnswerEvidence
            The rows before it is applied; those without an outcome don't matter.
        """
        run, method = evidence.run.label, evidence.method.id
        if self.rows_digest and rows_digest(evidence) == self.rows_digest:
            return (
                f"{run}: the map was fitted to these rows, so they look better with it than others would. "
                "Recalibrate without a map to judge it out of fold."
            )
        if (run, method) == (self.run, self.method):
            return None
        return (
            f"{run}, {method}: the map was fitted to another run or method, {self.run}, {self.method}. It "
            "holds only as far as equal numbers from the two come true equally often."
        )

    @property
    def target_text(self) -> str:
        """What is recalibrated, in words: "confidence", "probability of yes" or "choices"."""
        return METHODS[self.method].terms.confidence if self.target == "confidence" else self.target

    def to_python(self) -> str:
        """A function `recalibrate` in plain Python, without any library but `math`."""
        head = [
            f"# {MAP_KINDS[self.by].title}, fitted to {self.n_rows} rows of {json.dumps(self.run)},",
            f"# method {json.dumps(self.method)}, by Calib. {MAP_KINDS[self.by].source}.",
        ]
        values = {name: repr(value) for name, value in plain_parameters(self.parameters).items()}
        template = _PYTHON["choices" if self.target == "choices" else self.by]
        body = template.format(epsilon=repr(EPSILON), floor=repr(CHOICE_FLOOR), **values)
        return "\n".join(head) + "\n" + body


CHOICE_FORMULA: Final = "p_k = p_k^(1/temperature) / Σ_j p_j^(1/temperature)"
"""What a temperature does to the probabilities of all choices."""

_LOGIT: Final = """import math


def recalibrate(p):
    c = min(max(p, {epsilon}), 1 - {epsilon})
"""

_SIGMOID: Final = """    q = 1 / (1 + math.exp(-max(z, -700)))
    return min(max(q, {epsilon}), 1 - {epsilon})
"""

_PYTHON: Final[Mapping[str, str]] = MappingProxyType(
    {
        "temperature": _LOGIT + "    z = math.log(c / (1 - c)) / {temperature}\n" + _SIGMOID,
        "platt": _LOGIT + "    z = {slope} * math.log(c / (1 - c)) + {intercept}\n" + _SIGMOID,
        "beta": _LOGIT + "    z = {a} * math.log(c) - {b} * math.log(1 - c) + {intercept}\n" + _SIGMOID,
        "isotonic": """from bisect import bisect_right

STATED = {confidence}
PROBABILITY = {probability}


def recalibrate(p):
    if p >= STATED[-1]:
        return PROBABILITY[-1]
    i = max(bisect_right(STATED, p), 1)
    if p <= STATED[0]:
        return PROBABILITY[0]
    share = (p - STATED[i - 1]) / (STATED[i] - STATED[i - 1])
    return PROBABILITY[i - 1] + share * (PROBABILITY[i] - PROBABILITY[i - 1])
""",
        "histogram": """from bisect import bisect_left

EDGES = {edges}
PROBABILITY = {probability}


def recalibrate(p):
    return PROBABILITY[bisect_left(EDGES, p)]
""",
        "choices": """import math


def recalibrate(probabilities):
    logs = [math.log(max(p, {floor})) / {temperature} for p in probabilities]
    powers = [math.exp(log - max(logs)) for log in logs]
    return [power / sum(powers) for power in powers]
""",
    }
)
"""The code of each map, by its kind; "choices" is the temperature of all choices."""


def plain_parameters(parameters: Parameters) -> dict[str, float | list[float]]:
    """The parameters as JSON has them."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in parameters.items()}


# --- Evidence with other confidences --------------------------------------------------------------------


def with_confidences(evidence: AnswerEvidence, confidence: NDArray[np.float64]) -> AnswerEvidence:
    """The evidence with one other confidence for each usable row, and without the choices they came from."""
    confidences = evidence.confidences
    pairs = replace(confidences.pairs, confidence=confidence, computed=True)
    return replace(evidence, confidences=replace(confidences, pairs=pairs, distribution=None))


def with_choices(evidence: AnswerEvidence, probs: NDArray[np.float64]) -> AnswerEvidence:
    """The evidence with other probabilities of all choices, whose order within each row is the same."""
    confidences = evidence.confidences
    if confidences.distribution is None:
        raise ValueError("the evidence has no choices")
    distribution = replace(confidences.distribution, probs=probs, computed=True)
    # The top label stays: rounding could make two choices equal that were not.
    pairs = replace(confidences.pairs, confidence=distribution.max_prob, computed=True)
    return replace(evidence, confidences=replace(confidences, pairs=pairs, distribution=distribution))


def rows_digest(evidence: AnswerEvidence) -> str:
    """A checksum of the pairs of confidence and outcome, whatever their order; 64 hexadecimal digits."""
    pairs = evidence.confidences.pairs
    confidence = pairs.confidence.astype("<f8")
    order = np.lexsort((pairs.correct, confidence))
    content = confidence[order].tobytes() + np.packbits(pairs.correct[order]).tobytes()
    return sha256(content).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class AppliedMap:
    """A run and what a map makes of it.

    Attributes
    ----------
    map : RecalibrationMap
    run : AnswerRun
        As it came.
    recalibrated : AnswerEvidence
        Of every row with a confidence; where the outcome is not known it says “wrong”.
    judged : AnswerEvidence or None
        Of the rows whose outcome is known, before the map; None where there are none.
    """

    map: RecalibrationMap
    run: AnswerRun
    recalibrated: AnswerEvidence
    judged: AnswerEvidence | None

    @property
    def column(self) -> pl.Series:
        """The recalibrated confidence of every row of the run, Float64; null where there is none."""
        pairs = self.recalibrated.confidences.pairs
        values = pl.repeat(None, self.run.rows.height, dtype=pl.Float64, eager=True)
        return values.scatter(pl.Series(pairs.rows, dtype=pl.UInt32), pairs.confidence).alias(
            RECALIBRATED_COLUMNS[self._of]
        )

    @property
    def _of(self) -> ProbabilityOf:
        return self.recalibrated.method.probability_of

    @property
    def question(self) -> str | None:
        """As `RecalibrationMap.question_of_use`."""
        return self.map.question_of_use(self.judged or self.recalibrated)

    def run_with_it(self) -> AnswerRun:
        """The run with one more confidence, of `RECALIBRATED_COLUMNS`; of an event a run has only one."""
        column = self.column if self._of == "answer" else self.column.alias("event_prob")
        return self._noted(self.run.rows.with_columns(column))

    def run_with_it_alone(self) -> AnswerRun:
        """The run with the recalibrated confidence as its only one, and the outcome of what it is of."""
        kept = [
            name for name in ("row", "id", "trial_of", "subject", "question") if name in self.run.rows.columns
        ]
        outcome = pl.repeat(None, self.run.rows.height, dtype=pl.Boolean, eager=True)
        if self.judged is not None:
            pairs = self.judged.confidences.pairs
            outcome = outcome.scatter(pl.Series(pairs.rows, dtype=pl.UInt32), pairs.correct)
        names = ("event_prob", "event") if self._of == "event" else ("confidence", "correct")
        new = (self.column.alias(names[0]), outcome.alias(names[1]))
        return self._noted(self.run.rows.select(kept).with_columns(*new))

    def _noted(self, rows: pl.DataFrame) -> AnswerRun:
        note = (
            f"{self.recalibrated.method.id} after {self.map.by} recalibration, fitted to "
            f"{self.map.n_rows:,} rows of {single_line(self.map.run, 120)}"
        )
        counts = replace(self.run.row_counts, notes=(note, *self.run.row_counts.notes))
        return replace(self.run, rows=rows, row_counts=counts, reported_metrics=())


# --- Reading a map --------------------------------------------------------------------------------------


def _wrong(name: str, key: str, expected: str, found: object) -> Refused:
    return Refused(
        f"{name}, {key}: expected {expected}, found {shorten(repr(found), 60)}. Make the map again with "
        "calib recalibrate FILE --by … -o MAP.json."
    )


def _document(data: bytes, name: str) -> dict[str, Any]:
    if len(data) > MAX_MAP_BYTES:
        raise Refused(
            f"{name} is not a map: it has {len(data):,} bytes, and a map at most {MAX_MAP_BYTES:,}."
        )
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise Refused(
            f"{name} is not a map: expected a JSON document as calib recalibrate -o writes it."
        ) from None
    if not isinstance(document, dict) or _VERSION_KEY not in document:
        raise Refused(f"{name} is not a map: expected a JSON object with {_VERSION_KEY}.")
    found = cast("dict[str, Any]", document)
    if type(found[_VERSION_KEY]) is not int or found[_VERSION_KEY] != MAP_VERSION:
        raise _wrong(name, _VERSION_KEY, str(MAP_VERSION), found[_VERSION_KEY])
    return found


def _refuse_constant(text: str) -> float:
    raise ValueError(text)


def _text(document: Mapping[str, Any], key: str, name: str) -> str:
    value = document.get(key)
    if not isinstance(value, str):
        raise _wrong(name, key, "a text", value)
    return value


def _whole_number(document: Mapping[str, Any], key: str, name: str) -> int:
    value = document.get(key)
    if type(value) is not int or not 0 <= value <= 2**63:
        raise _wrong(name, key, "a whole number", value)
    return value


def _checked_parameters(parameters: Mapping[str, object], by: str, name: str) -> Parameters:
    kind = MAP_KINDS[by]
    expected = (*kind.scalars, *kind.lists)
    if set(parameters) != set(expected):
        raise _wrong(name, "parameters", join_quoted(expected), sorted(parameters))
    checked: dict[str, float | tuple[float, ...]] = {}
    for key, (low, high) in kind.scalars.items():
        value = _number(parameters[key], name, key)
        if not low <= value <= high:
            raise _wrong(name, key, f"a number from {low:g} to {high:g}", value)
        checked[key] = value
    for key in kind.lists:
        checked[key] = _numbers_from_0_to_1(parameters[key], name, key)
    if kind.lists:
        _check_knots(checked, kind.lists, name)
    return MappingProxyType(checked)


def join_quoted(names: tuple[str, ...]) -> str:
    """ "a", "b" and so on, as an expectation names them."""
    return "the keys " + ", ".join(f'"{name}"' for name in names)


def _number(value: object, name: str, key: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _wrong(name, key, "a number", value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _wrong(name, key, "a finite number", value)
    return number


def _numbers_from_0_to_1(value: object, name: str, key: str) -> tuple[float, ...]:
    if not isinstance(value, list):
        raise _wrong(name, key, "a list of numbers", value)
    parts = cast("list[object]", value)
    if len(parts) > MAX_KNOTS:
        raise _wrong(name, key, f"at most {MAX_KNOTS:,} numbers", f"{len(parts):,} numbers")
    numbers = tuple(_number(part, name, key) for part in parts)
    if wrong := [number for number in numbers if not 0 <= number <= 1]:
        raise _wrong(name, key, "numbers from 0 to 1", wrong[0])
    return numbers


def _check_knots(parameters: Parameters, lists: tuple[str, ...], name: str) -> None:
    """Check that places ascend, and that there is a probability for each of them."""
    places, probabilities = (cast("tuple[float, ...]", parameters[key]) for key in lists)
    n_expected = len(places) + (lists[0] == "edges")
    if any(low >= high for low, high in pairwise(places)):
        raise _wrong(name, lists[0], "ascending numbers", list(places[:5]))
    if not probabilities or len(probabilities) != n_expected:
        raise _wrong(name, lists[1], f"{n_expected:,} numbers", f"{len(probabilities):,} numbers")
