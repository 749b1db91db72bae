"""What does an Inspect log say of one question, whose samples are one answer, or several of one model?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from calib_core.files.harness.inspect_choice import Chosen, chosen_of, right_letters
from calib_core.files.harness.inspect_sample import Sample, Score
from calib_core.files.harness.inspect_span import answer_span
from calib_core.files.harness.json_values import as_list, as_text, is_list, is_wrong
from calib_core.files.harness.letters import bad_list, letters_of, path_of, wrong_in
from calib_core.files.harness.translated import Entry
from calib_core.files.tables.raw import Broken

COLUMNS: Final[Mapping[str, str]] = {
    "input": "question",
    "target": "gold",
    "output.choices": "samples",
    "output.completion": "prediction_text",
    "logprobs": "path_logprobs",
    "top_logprobs": "choice_logprobs",
    "metadata.subject": "subject",
}
"""Fields of a question → what they are read as, beside those that have the program's names."""

_JUDGED_BY_A_MODEL: Final = "model_graded"


@dataclass(slots=True, eq=False)
class Reader:
    """Turns the samples of a question into the fields of a table.

    scorer: the score by which answers are right; several: whether the samples are several answers of one
    question; counts: what was met on the way, by its name; spellings of `remarks`.
    """

    scorer: str | None
    several: bool
    counts: Counter[str] = field(default_factory=Counter[str])

    @property
    def column(self) -> str:
        """The field of the score by which answers are right."""
        return f"scores.{self.scorer}"

    def entry(self, samples: Sequence[Sample], share: float) -> Entry:
        """One question. samples: its answers, at least one, in the order of their epochs."""
        self.counts["questions"] += 1
        self.counts["records"] += len(samples)
        self.counts["failed"] += sum(sample.failed for sample in samples)
        self.counts["invalid"] += sum(sample.invalid for sample in samples)
        self.counts["limited"] += sum(sample.limited for sample in samples)
        answered = [sample for sample in samples if not sample.failed and not sample.refused]
        if not answered:
            self.counts["refused"] += not samples[0].failed
            status = "error" if samples[0].failed else "refused"
            return Entry({**self._asked(samples[0]), "status": status}, share=share)
        first = answered[0]
        chosen = chosen_of(first, self._score(first), self.column) if self._by_letter(first) else None
        if isinstance(chosen, Broken):
            return Entry({}, share=share, broken=chosen)
        fields = {**self._asked(first), **self._letters(first, chosen), **self._tokens(first, chosen)}
        fields |= self._several(answered) if self.several else self._one(first)
        return Entry(fields, share=share)

    def _score(self, sample: Sample) -> Score | None:
        return sample.scores.get(self.scorer) if self.scorer is not None else None

    def _asked(self, sample: Sample) -> dict[str, object]:
        """The question and its right answer."""
        fields: dict[str, object] = {"id": sample.id, "input": sample.question}
        fields |= {f"metadata.{name}": value for name, value in sample.metadata.items()}
        if sample.choices:
            fields["choices"] = list(sample.choices)
            right = right_letters(sample)
            letters = letters_of(len(sample.choices))
            if len(right) == 1:
                position = letters.index(right[0])
                return fields | {"gold_index": position, "target": sample.choices[position]}
            if right:  # all of them have to be named, as one answer
                self.counts["several right"] += 1
                return fields | {"target": ", ".join(right), "answer_kind": "text", "choices": None}
        if self.several and not sample.choices and (self.scorer or "").startswith(_JUDGED_BY_A_MODEL):
            return fields  # texts that differ may mean the same: the grader's word counts
        golds = [text for part in as_list(sample.target) if (text := as_text(part)) is not None]
        if len(golds) > 1:
            return fields | {"gold_all": golds}
        return fields | {"target": golds[0] if golds else _missing_list(sample.target)}

    def _by_letter(self, sample: Sample) -> bool:
        return bool(sample.choices) and len(right_letters(sample)) <= 1 and bool(sample.places)

    def _tokens(self, sample: Sample, chosen: Chosen | None) -> dict[str, object]:
        """The log-probabilities of the answer's tokens, and which of them are the answer itself."""
        if not sample.places:
            return {}
        score = self._score(sample)
        span = None if chosen is None else (chosen.at, chosen.at + 1)
        if not sample.choices:
            span = answer_span([place.token for place in sample.places], score.answer if score else None)
        path = path_of(sample.places)
        fields: dict[str, object] = {"logprobs": path}
        if (wrong := wrong_in(sample.places)) and not any(map(is_wrong, path or ())):
            fields["top_logprobs"] = bad_list(wrong, len(sample.choices))
        return fields if span is None else fields | {"answer_start": span[0], "answer_end": span[1]}

    def _letters(self, sample: Sample, chosen: Chosen | None) -> dict[str, object]:
        """The log-probabilities of the choices' letters at the answer's token."""
        if chosen is None:
            self.counts["no letter"] += self._by_letter(sample)
            return {}
        fields = chosen.fields
        listed = as_list(fields.pop("choice_logprobs", None))
        self.counts["letters"] += 1
        self.counts["unlisted"] += not listed or None in listed
        self.counts["reasoned"] += chosen.reasoned
        return fields | {"top_logprobs": list(listed)} if listed else {}

    def _one(self, sample: Sample) -> dict[str, object]:
        """One answer and its scores."""
        self.counts["choices left"] += len(sample.completions) > 1
        fields: dict[str, object] = {}
        for name, score in sample.scores.items():
            fields |= {f"scores.{name}": score.correct, f"scores.{name}.answer": score.answer}
            fields |= {f"scores.{name}.{key}": value for key, value in score.metadata.items()}
        if (score := self._score(sample)) is not None:
            self.counts["partial"] += score.partial
            self.counts["unscored"] += score.correct is None and not score.partial
            fields["status"] = "no_answer" if score.value == "N" else None
        elif self.scorer is not None:
            self.counts["unscored"] += 1
        return fields | {"output.completion": sample.completions[0] if sample.completions else None}

    def _several(self, answered: Sequence[Sample]) -> dict[str, object]:
        """The answers of all samples, the first of each with its score."""
        texts: list[str] = []
        read: list[str | None] = []
        scores: list[object] = []
        for sample in answered:
            score, generated = self._score(sample), sample.completions
            if sample.choices and score is not None and score.explanation.startswith("Choices were shuffled"):
                generated = generated[:1]  # of the others nobody has mapped the letters back
            texts += generated
            outcome = None if score is None else score.correct
            scores += [outcome, *([None] * (len(generated) - 1))][: len(generated)]
            read += [(score.answer or None) if score is not None else None][: len(generated)]
            self.counts["partial"] += score is not None and score.partial
        fields: dict[str, object] = {"output.choices": texts, self.column: scores}
        if answered[0].choices and len(read) == len(texts) and any(read):
            fields["samples_parsed"] = read
        return fields


def _missing_list(target: object) -> object:
    """The target as stored; an empty list is none."""
    return None if is_list(target) else target
