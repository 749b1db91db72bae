"""Thresholds that are locked before new data come in, and checked against them.

A threshold that is chosen again on every batch always looks good. A locked one was chosen once, with a
guarantee, and new answers may contradict it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, cast

from calib_core.errors import Refused, Unavailable, shorten
from calib_core.methods import METHODS
from calib_core.methods.choice import CHOICE
from calib_core.results.abstention import GuaranteedThreshold, abstention_curve
from calib_core.results.defaults import default_method
from calib_core.results.evidence import Evidence
from calib_core.results.gate import Rule, RuleCheck, not_checked
from calib_core.runs import Run
from calib_core.wording import format_percent

_NUMBERS: Final = ("accuracy", "confidence")


@dataclass(frozen=True, slots=True)
class LockedThreshold:
    """One question's threshold.

    Attributes
    ----------
    question : str
        The run's data set, which of a decision is its question; the run's label where it has none.
    threshold : float or None
        From this confidence on answers are used; None where no threshold has the guarantee.
    accuracy : float
        The target, in (0, 1).
    confidence : float
        How sure the guarantee is, in (0, 1).
    n : int
        Rows that it was chosen on.
    method : str
        Id of the method whose confidence it is.
    model : str or None
    """

    question: str
    threshold: float | None
    accuracy: float
    confidence: float
    n: int
    method: str
    model: str | None = None


def question_of(run: Run) -> str:
    """What a run is a question of."""
    return run.info.dataset or run.label


def locked_method(usable: Sequence[str]) -> str | None:
    """The method whose threshold is locked where none is named: that of the decision, if there is one."""
    if CHOICE.id in usable:
        return CHOICE.id
    return default_method(usable) if usable else None


def lock(run: Run, found: GuaranteedThreshold) -> LockedThreshold:
    """Lock the guaranteed threshold of a run."""
    threshold = None if found.point is None else found.point.threshold
    target, sure, n = found.target_accuracy, found.confidence, found.curve.n_used
    return LockedThreshold(question_of(run), threshold, target, sure, n, found.curve.method, run.info.model)


def write_locked(locked: Sequence[LockedThreshold]) -> bytes:
    """Locked thresholds as JSON."""
    return (json.dumps([asdict(one) for one in locked], indent=1, ensure_ascii=False) + "\n").encode()


def read_locked(data: bytes, file: str) -> tuple[LockedThreshold, ...]:
    """Read what `write_locked` wrote.

    Raises
    ------
    Refused
        The file is something else, or holds a value that no threshold can have.
    """
    try:
        entries: object = json.loads(data)
    except (ValueError, RecursionError):
        entries = None
    listed = cast("list[object]", entries) if isinstance(entries, list) else []
    locked = [_parse(entry) for entry in listed]
    if not locked or None in locked:
        bad = next((number for number, one in enumerate(locked, 1) if one is None), None)
        where = "" if bad is None else f", entry {bad:,}"
        raise Refused(
            f"{file}{where}: expected locked thresholds with question, threshold, accuracy, confidence and "
            "n, as threshold --lock writes them. Lock them again."
        )
    return tuple(one for one in locked if one is not None)


def _parse(entry: object) -> LockedThreshold | None:
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    question, threshold, n = fields.get("question"), fields.get("threshold"), fields.get("n")
    method, model = fields.get("method", CHOICE.id), fields.get("model")
    shares = [fields.get(name) for name in _NUMBERS]
    is_valid = (
        isinstance(question, str)
        and (threshold is None or _is_share(threshold))
        and all(_is_share(share) for share in shares)
        and isinstance(n, int)
        and isinstance(method, str)
        and (model is None or isinstance(model, str))
    )
    if not is_valid:
        return None
    accuracy, confidence = map(float, shares)  # pyright: ignore[reportArgumentType]
    return LockedThreshold(
        str(question),
        None if threshold is None else float(threshold),
        accuracy,
        confidence,
        int(n or 0),
        method,
        model,
    )


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def rule_of(locked: LockedThreshold) -> Rule:
    """The gate rule of a locked threshold; for an event it is on precision, which is not a metric."""
    of_event = locked.method in METHODS and METHODS[locked.method].probability_of == "event"
    return Rule("lock", None if of_event else "accuracy", locked.accuracy)


def check_locked(locked: LockedThreshold, evidence: Evidence) -> RuleCheck:
    """Whether new answers above a locked threshold contradict its target.

    They do if the 95 % interval of their accuracy lies below it. That chance puts the accuracy itself below
    the target is no contradiction: a threshold that just reaches it is below it every other time.
    """
    run, terms, held = evidence.run, evidence.terms, None
    reason = "no threshold was guaranteed when it was locked"
    value, ends, n_answered = None, None, 0
    if locked.threshold is not None:
        try:
            point = abstention_curve(evidence).at_threshold(locked.threshold)
        except Unavailable as unavailable:
            reason = str(unavailable)
        else:
            n_answered, value = point.n_answered, point.accuracy
            reason = f"no {terms.answer} reaches {locked.threshold:.6g}"
            if point.low is not None and point.high is not None and math.isfinite(point.high):
                ends = (point.low, point.high)
                held = point.high >= locked.accuracy
                reason = f"{n_answered:,} {terms.answers} from {locked.threshold:.6g} on"
                if not held:
                    reason += f" {terms.right_how_often('less often than')} {format_percent(locked.accuracy)}"
    return RuleCheck(
        rule_of(locked),
        run.file,
        run.label,
        evidence.method.id,
        value,
        ends,
        held,
        reason,
        n_answered,
        run.n_total,
    )


def check_absent(locked: LockedThreshold, file: str, reason: str) -> RuleCheck:
    """A locked threshold that could not be checked."""
    name = shorten(locked.question)
    return not_checked(rule_of(locked), file, name, reason, method=locked.method)
