"""What do the choices of a document say: by the prompts that differ, and by the document's own fields?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Final

from calib_core.files.harness.json_values import as_list, as_object
from calib_core.files.tables.raw import as_json_text

_OPTION_KEYS: Final = ("choices", "options", "endings", "opts", "candidates")


def differing_parts(contexts: Sequence[str]) -> list[str]:
    """The part of each context that the others do not share, in whole words."""

    def n_shared_words(texts: Sequence[list[str]]) -> int:
        return sum(1 for _ in takewhile(lambda words: len(set(words)) == 1, zip(*texts, strict=False)))

    words = [context.split(" ") for context in contexts]
    before = n_shared_words(words)
    after = n_shared_words([list(reversed(part[before:])) for part in words])
    return [" ".join(part[before : len(part) - after]) for part in words]


def document_options(fields: Mapping[str, object], n_choices: int) -> list[str]:
    """The document's own texts of the choices, where it has as many as there are choices."""
    for key in _OPTION_KEYS:
        value = fields.get(key)
        texts = as_list(value) or as_list(as_object(value).get("text"))  # ARC: {"text": […], "label": […]}
        if n_choices and len(texts) == n_choices and all(isinstance(text, str | int | float) for text in texts):
            return [as_json_text(text) or "" for text in texts]
    return []


def marked_choices(fields: Mapping[str, object], choices: Sequence[str]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What marks some of the choices as right: TruthfulQA has {"choices": […], "labels": [1, 0, …]}."""
    for key, value in fields.items():
        told = as_object(value)
        labels = as_list(told.get("labels"))
        texts = [as_json_text(text) for text in as_list(told.get("choices"))]
        marked = len(labels) == len(texts) > 0 and all(label in (0, 1) for label in labels)
        if marked and texts == list(choices):
            yield key, tuple(at for at, label in enumerate(labels) if label == 1)
