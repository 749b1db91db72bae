"""Is it the shots, the size, the tuning?  Pairs of runs that differ in nothing else → paired differences."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from calib_core.analysis.bootstrap import PairedDifference, paired_difference
from calib_core.analysis.evidence import AnswerEvidence
from calib_core.analysis.families import model_stem
from calib_core.analysis.groupings import RUN_FACTS, fact_level, ordered_levels
from calib_core.bins import Scheme
from calib_core.problems import Unavailable
from calib_core.records import RunInfo

NO_COMPARABLE_RUNS: Final = "No two runs here differ in this and in nothing else."
DIFFERENT_QUESTIONS: Final = "Runs on different data sets answer different questions: nothing is paired."

_TUNING_WORDS: Final = re.compile(
    r"(?<![a-z])(?:base|pretrained|chat|instruct(?:ed)?|inst|it|tuned|finetuned|sft|rlhf|dpo)(?![a-z])"
)


@dataclass(frozen=True, slots=True)
class Contrast:
    """One level of a fact against another.

    against, level: their names; pairs: run keys (of `against`, of `level`); difference: level − against, mean
    over the pairs, None where there is none, for the reason `why`.
    """

    reference: str
    level: str
    run_pairs: tuple[tuple[str, str], ...]
    difference: PairedDifference | None
    reason: str | None


def paired_contrasts(
    evidences: Mapping[str, AnswerEvidence],
    fact: str,
    metric_id: str,
    scheme: Scheme | None = None,
    *,
    reference: str | None = None,
) -> tuple[Contrast, ...]:
    """Every level of a fact against one of them, by default the lowest, on the same questions.

    seen: run key → what one method says of the run. Runs are a pair where they differ in this fact and in
    nothing else that their files say of them (of two sizes or tunings of a model, the name differs too, in
    that word alone). Where two runs would do, none is taken.
    """
    infos = {key: evidence.run.info for key, evidence in evidences.items()}
    levels = ordered_levels(infos, fact)
    if len(levels) < 2:
        return ()
    base = reference if reference in levels else levels[0]
    rest = _runs_by_other_facts(infos, fact)
    found: list[Contrast] = []
    for level in (level for level in levels if level != base):
        pairs = tuple(
            (own[base][0], own[level][0]) for own in rest.values()
            if len(own[base]) == len(own[level]) == 1
        )
        found.append(_paired_contrast(evidences, fact, base, level, pairs, (metric_id, scheme)))
    return tuple(found)


def _paired_contrast(
    evidences: Mapping[str, AnswerEvidence],
    fact: str,
    reference: str,
    level: str,
    run_pairs: tuple[tuple[str, str], ...],
    metric: tuple[str, Scheme | None],
) -> Contrast:
    if not run_pairs:
        return Contrast(reference, level, (), None, DIFFERENT_QUESTIONS if fact == "dataset" else NO_COMPARABLE_RUNS)
    try:
        value = paired_difference([(evidences[first], evidences[second]) for first, second in run_pairs], *metric)
    except Unavailable as reason:
        return Contrast(reference, level, run_pairs, None, str(reason))
    return Contrast(reference, level, run_pairs, value, None)


def _runs_by_other_facts(
    infos: Mapping[str, RunInfo], fact: str
) -> dict[tuple[object, ...], defaultdict[str, list[str]]]:
    """What is known of a run but this fact → level → the runs of which both are true."""
    rest: dict[tuple[object, ...], defaultdict[str, list[str]]] = {}
    for key, info in infos.items():
        level = fact_level(info, fact)
        if level is not None and info.model is not None and fact != "dataset":
            rest.setdefault(_other_facts(info, fact), defaultdict(list))[level].append(key)
    return rest


def _other_facts(info: RunInfo, fact: str) -> tuple[object, ...]:
    """Everything that tells one run from another, but this fact and what follows from it."""
    name = info.model or ""
    if fact == "model":
        return (info.dataset, info.shots, info.temperature)
    if fact == "params":
        name = model_stem(name)
    elif fact == "tuning":
        name = "-".join(re.findall(r"[^\s_\-–·/]+", _TUNING_WORDS.sub(" ", name.lower())))
    facts = {id_: fact_level(info, id_) for id_ in RUN_FACTS if id_ not in (fact, "model")}
    return (name, *facts.values(), info.checkpoint, info.temperature)
