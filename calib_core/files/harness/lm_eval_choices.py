"""What do the choices of a document say: by the prompts that differ, and by the document's own fields?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object
from calib_core.files.tables.raw import as_text

_OPTIONS: Final = ("choices", "options", "endings", "opts", "candidates")


def differing(contexts: Sequence[str]) -> list[str]:
    """The part of each context that the others do not share, in whole words."""

    def shared(texts: Sequence[list[str]]) -> int:
        return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False)))

    words = [context.split(" ") for context in contexts]
    before = shared(words)
    after = shared([list(reversed(part[before:])) for part in words])
    return [" ".join(part[before : len(part) - after]) for part in words]


def options_of(fields: Mapping[str, object], count: int) -> list[str]:
    """The document's own texts of the choices, where it has as many as there are choices."""
    for key in _OPTIONS:
        value = fields.get(key)
        texts = as_list(value) or as_list(as_object(value).get("text"))  # ARC: {"text": […], "label": […]}
        if count and len(texts) == count and all(isinstance(text, str | int | float) for text in texts):
            return [as_text(text) or "" for text in texts]
    return []


def marks_of(fields: Mapping[str, object], choices: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What marks some of the choices as right: TruthfulQA has {"choices": […], "labels": [1, 0, …]}."""
    for key, value in fields.items():
        told = as_object(value)
        labels = as_list(told.get("labels"))
        texts = [as_text(text) for text in as_list(told.get("choices"))]
        marked = len(labels) == len(texts) > 0 and all(label in (0, 1) for label in labels)
        if marked and texts == list(choices):
            yield key, tuple(at for at, label in enumerate(labels) if label == 1)
