"""What does an Inspect log say of one question, whose samples are one answer, or several of one model?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from calib_core.files.harness.inspect_choice import AnswerToken, find_answer_token, gold_letters
from calib_core.files.harness.inspect_sample import InspectSample, SampleScore
from calib_core.files.harness.inspect_span import answer_span
from calib_core.files.harness.json_values import as_list, as_text, is_list, is_invalid_logprob
from calib_core.files.harness.letters import invalid_logprob_list, choice_letters, path_logprobs, invalid_top_logprobs
from calib_core.files.harness.translated import LogEntry
from calib_core.files.tables.raw import BrokenRecord

QUESTION_COLUMNS: Final[Mapping[str, str]] = {
    "input": "question",
    "target": "gold",
    "output.choices": "samples",
    "output.completion": "prediction_text",
    "logprobs": "path_logprobs",
    "top_logprobs": "choice_logprobs",
    "metadata.subject": "subject",
}
"""Fields of a question → what they are read as, beside those that have the program's names."""

_MODEL_GRADED: Final = "model_graded"


@dataclass(slots=True, eq=False)
class QuestionReader:
    """Turns the samples of a question into the fields of a table.

    scorer: the score by which answers are right; several: whether the samples are several answers of one
    question; counts: what was met on the way, by its name; spellings of `remarks`.
    """

    scorer: str | None
    has_multiple_answers: bool
    counts: Counter[str] = field(default_factory=Counter[str])

    @property
    def score_field(self) -> str:
        """The field of the score by which answers are right."""
        return f"scores.{self.scorer}"

    def entry(self, samples: Sequence[InspectSample], share: float) -> LogEntry:
        """One question. samples: its answers, at least one, in the order of their epochs."""
        self.counts["questions"] += 1
        self.counts["records"] += len(samples)
        self.counts["failed"] += sum(sample.is_failed for sample in samples)
        self.counts["invalid"] += sum(sample.is_invalidated for sample in samples)
        self.counts["limited"] += sum(sample.is_limited for sample in samples)
        answered = [sample for sample in samples if not sample.is_failed and not sample.is_refused]
        if not answered:
            self.counts["refused"] += not samples[0].is_failed
            status = "error" if samples[0].is_failed else "refused"
            return LogEntry({**self._question_fields(samples[0]), "status": status}, share=share)
        first = answered[0]
        chosen = find_answer_token(first, self._score_of(first), self.score_field) if self._is_answered_by_letter(first) else None
        if isinstance(chosen, BrokenRecord):
            return LogEntry({}, share=share, broken=chosen)
        fields = {**self._question_fields(first), **self._letter_fields(first, chosen), **self._token_fields(first, chosen)}
        fields |= self._multiple_answer_fields(answered) if self.has_multiple_answers else self._single_answer_fields(first)
        return LogEntry(fields, share=share)

    def _score_of(self, sample: InspectSample) -> SampleScore | None:
        return sample.scores.get(self.scorer) if self.scorer is not None else None

    def _question_fields(self, sample: InspectSample) -> dict[str, object]:
        """The question and its right answer."""
        fields: dict[str, object] = {"id": sample.id, "input": sample.question}
        fields |= {f"metadata.{name}": value for name, value in sample.metadata.items()}
        if sample.choices:
            fields["choices"] = list(sample.choices)
            right = gold_letters(sample)
            letters = choice_letters(len(sample.choices))
            if len(right) == 1:
                position = letters.index(right[0])
                return fields | {"gold_index": position, "target": sample.choices[position]}
            if right:  # all of them have to be named, as one answer
                self.counts["several right"] += 1
                return fields | {"target": ", ".join(right), "answer_kind": "text", "choices": None}
        if self.has_multiple_answers and not sample.choices and (self.scorer or "").startswith(_MODEL_GRADED):
            return fields  # texts that differ may mean the same: the grader's word counts
        golds = [text for part in as_list(sample.target) if (text := as_text(part)) is not None]
        if len(golds) > 1:
            return fields | {"gold_all": golds}
        return fields | {"target": golds[0] if golds else _none_if_list(sample.target)}

    def _is_answered_by_letter(self, sample: InspectSample) -> bool:
        return bool(sample.choices) and len(gold_letters(sample)) <= 1 and bool(sample.positions)

    def _token_fields(self, sample: InspectSample, answer_token: AnswerToken | None) -> dict[str, object]:
        """The log-probabilities of the answer's tokens, and which of them are the answer itself."""
        if not sample.positions:
            return {}
        score = self._score_of(sample)
        span = None if answer_token is None else (answer_token.position, answer_token.position + 1)
        if not sample.choices:
            span = answer_span([place.token for place in sample.positions], score.answer if score else None)
        path = path_logprobs(sample.positions)
        fields: dict[str, object] = {"logprobs": path}
        if (wrong := invalid_top_logprobs(sample.positions)) and not any(map(is_invalid_logprob, path or ())):
            fields["top_logprobs"] = invalid_logprob_list(wrong, len(sample.choices))
        return fields if span is None else fields | {"answer_start": span[0], "answer_end": span[1]}

    def _letter_fields(self, sample: InspectSample, answer_token: AnswerToken | None) -> dict[str, object]:
        """The log-probabilities of the choices' letters at the answer's token."""
        if answer_token is None:
            self.counts["no letter"] += self._is_answered_by_letter(sample)
            return {}
        fields = answer_token.fields
        listed = as_list(fields.pop("choice_logprobs", None))
        self.counts["letters"] += 1
        self.counts["unlisted"] += not listed or None in listed
        self.counts["reasoned"] += answer_token.is_after_reasoning
        return fields | {"top_logprobs": list(listed)} if listed else {}

    def _single_answer_fields(self, sample: InspectSample) -> dict[str, object]:
        """One answer and its scores."""
        self.counts["choices left"] += len(sample.completions) > 1
        fields: dict[str, object] = {}
        for name, score in sample.scores.items():
            fields |= {f"scores.{name}": score.correct, f"scores.{name}.answer": score.answer}
            fields |= {f"scores.{name}.{key}": value for key, value in score.metadata.items()}
        if (score := self._score_of(sample)) is not None:
            self.counts["partial"] += score.is_partial
            self.counts["unscored"] += score.correct is None and not score.partial
            fields["status"] = "no_answer" if score.value == "N" else None
        elif self.scorer is not None:
            self.counts["unscored"] += 1
        return fields | {"output.completion": sample.completions[0] if sample.completions else None}

    def _multiple_answer_fields(self, answered: Sequence[InspectSample]) -> dict[str, object]:
        """The answers of all samples, the first of each with its score."""
        texts: list[str] = []
        read: list[str | None] = []
        scores: list[object] = []
        for sample in answered:
            score, generated = self._score_of(sample), sample.completions
            if sample.choices and score is not None and score.explanation.startswith("Choices were shuffled"):
                generated = generated[:1]  # of the others nobody has mapped the letters back
            texts += generated
            outcome = None if score is None else score.correct
            scores += [outcome, *([None] * (len(generated) - 1))][: len(generated)]
            read += [(score.answer or None) if score is not None else None][: len(generated)]
            self.counts["partial"] += score is not None and score.is_partial
        fields: dict[str, object] = {"output.choices": texts, self.score_field: scores}
        if answered[0].choices and len(read) == len(texts) and any(read):
            fields["samples_parsed"] = read
        return fields


def _none_if_list(target: object) -> object:
    """The target as stored; an empty list is none."""
    return None if is_list(target) else target
