"""Which responses are answers to one question, asked one by one?  Ids that differ only by "/0", "/1" …

The person's table of right answers decides: where it has the id before the number, and none with it, the
responses of one such id are one question: its choices, each scored as the end of the prompt, or its samples.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Final

from calib_core.files.harness.json_values import as_logprob, is_invalid_logprob
from calib_core.files.harness.responses import ServerAnswer, ServerResponse

_NUMBERED_ID: Final = re.compile(r"(?P<stem>.+)/(?P<number>[0-9]{1,6})")

_TokenLogprobs = tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class ScoredChoices:
    """Choices scored as ends of one prompt: texts, sums of log-probabilities, and numbers of tokens."""

    choices: tuple[str, ...]
    sums: tuple[object, ...]
    counts: tuple[int, ...]


def group_by_stem(responses: Sequence[ServerResponse]) -> dict[str, list[int]]:
    """Stem → positions of its responses in the order of their numbers; {} where not every id is numbered."""
    found: dict[str, list[tuple[int, int]]] = {}
    for at, response in enumerate(responses):
        match = _NUMBERED_ID.fullmatch(response.id or "")
        if match is None:
            return {}
        found.setdefault(match["stem"], []).append((int(match["number"]), at))
    return {stem: [at for _, at in sorted(numbered)] for stem, numbered in found.items()}


def merge_by_stem(responses: Sequence[ServerResponse], stems: Mapping[str, list[int]]) -> list[ServerResponse]:
    """One response for each stem, all answers of its responses in it, in the order of their first."""
    together: list[ServerResponse] = []
    for stem, places in stems.items():
        parts = [responses[at] for at in places]
        first = responses[min(places)]
        answers = tuple(answer for part in parts for answer in part.answers)
        status = next((part.status for part in parts if part.status), None)
        broken = next((part.broken for part in parts if part.broken), None)
        together.append(replace(first, id=stem, answers=answers, status=status, broken=broken))
    return together


def score_choices(answers: Sequence[ServerAnswer], choices: Collection[str] = ()) -> ScoredChoices | None:
    """The choices that answers which repeat their prompt score; None where they are none.

    choices: their texts, where they are known; else a choice begins where the answers first differ.
    """
    echoes = [answer.echo for answer in answers]
    if len(echoes) < 2 or not all(echoes):
        return None
    tokens = [[token for token, _ in echo] for echo in echoes]
    if all(each == tokens[0] for each in tokens):
        return None  # one prompt, answered several times
    alike = sum(1 for _ in takewhile(_all_equal, zip(*tokens, strict=False)))
    starts = [_choice_start(echo, choices, alike) for echo in echoes]
    ends = [echo[start:] for echo, start in zip(echoes, starts, strict=True)]
    if not all(ends):
        return None
    texts = tuple("".join(token for token, _ in end).strip() for end in ends)
    return ScoredChoices(texts, tuple(_sum_logprobs(end) for end in ends), tuple(len(end) for end in ends))


def _all_equal(tokens: tuple[str, ...]) -> bool:
    return len(set(tokens)) == 1


def _choice_start(echo: _TokenLogprobs, choices: Collection[str], n_common: int) -> int:
    """Where the choice begins: as few tokens from the end as make up the text of one of the choices."""
    known = {choice.strip() for choice in choices}
    end = ""
    for at in range(len(echo) - 1, -1, -1):
        end = echo[at][0] + end
        if end.strip() in known:
            return at
    return n_common


def _sum_logprobs(end: _TokenLogprobs) -> object:
    """The sum of the log-probabilities, the first wrong value itself, None where one is not known."""
    for _, value in end:
        if is_invalid_logprob(value):
            return value
    known = [as_logprob(value) for _, value in end]
    found = [value for value in known if value is not None]
    return math.fsum(found) if len(found) == len(known) else None
