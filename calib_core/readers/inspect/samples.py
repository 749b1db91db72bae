"""One question of an Inspect log with its samples, each of which is one answer of the model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from calib_core.errors import shorten
from calib_core.readers.choice_letters import (
    SymbolMasses,
    TokenPosition,
    choice_fields,
    choice_letters,
    find_answer_tokens,
    find_answers,
    invalid_logprob_list,
    invalid_top_logprobs,
    mass_above_one,
    parse_positions,
    path_logprobs,
    strip_around_letter,
    symbol_among,
    symbol_masses,
    token_at,
    token_ends,
)
from calib_core.readers.eval_logs import LogEntry
from calib_core.readers.json_values import (
    BadValueError,
    as_float,
    as_integer,
    as_list,
    as_name,
    as_object,
    as_text,
    is_invalid_logprob,
    is_list,
    optional_list,
    optional_name,
    optional_object,
    optional_objects,
    optional_text,
    require_text,
)
from calib_core.readers.table.names import says_who_labels
from calib_core.readers.table.raw import BrokenRecord

_ATTACHMENT_PREFIX: Final = "attachment://"
_PARTIAL_GRADE: Final = "P"
_GRADES: Final[Mapping[str, bool]] = {"C": True, "I": False, "N": False}
"""Grades: correct, incorrect, and no answer, which Inspect counts as incorrect."""

UNNAMED_SCORER: Final = "score"
"""Name of the only scorer in logs that do not name it."""


@dataclass(frozen=True, slots=True, eq=False)
class SampleScore:
    """The verdict of one scorer.

    Attributes
    ----------
    is_part : bool
        Whether the scorer gave several values, of which this is one.
    correct : object
        True or False; None without an outcome; any other value where Inspect has no such grade.
    value : object
        The value as stored.
    is_partial : bool
        Whether partial credit was given.
    answer : str or None
        The answer as the scorer read it.
    explanation : str
        The scorer's explanation; "" without one.
    metadata : Mapping[str, object]
        Texts, numbers and booleans of the score's metadata.
    """

    is_part: bool
    correct: object
    value: object
    is_partial: bool
    answer: str | None
    explanation: str
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True, eq=False)
class InspectSample:
    """One sample: one answer to one question.

    Attributes
    ----------
    id : object
        As stored.
    target : str or Sequence[str] or None
        The right answer or answers; None without one.
    epoch : int
        Number of the repetition, from 1.
    question : str or None
        The question's text.
    choices : tuple[str, ...]
        The choices; () for an open question.
    scores : Mapping[str, SampleScore]
        Scorer (or "scorer.part" where the scorer gives several values) → score.
    completions : tuple[str, ...]
        One text per generated choice; the first as the scorer saw it.
    positions : tuple[TokenPosition, ...]
        Tokens of the first completion.
    is_failed : bool
        Whether the sample ended with an error.
    is_refused : bool
        Whether a content filter stopped the completion.
    is_limited : bool
        Whether the sample hit a limit of tokens, messages or time.
    is_invalidated : bool
        Whether the sample is marked as not to be used.
    metadata : Mapping[str, object]
        Texts, numbers and booleans of the sample's metadata.
    broken : BrokenRecord or None
        Why the sample cannot be read.
    """

    id: object
    epoch: int
    question: str | None = None
    choices: tuple[str, ...] = ()
    target: str | Sequence[str] | None = None
    scores: Mapping[str, SampleScore] = field(default_factory=dict[str, SampleScore])
    completions: tuple[str, ...] = ()
    positions: tuple[TokenPosition, ...] = ()
    is_failed: bool = False
    is_refused: bool = False
    is_limited: bool = False
    is_invalidated: bool = False
    metadata: Mapping[str, object] = field(default_factory=dict[str, object])
    broken: BrokenRecord | None = None


def parse_sample(record: Mapping[str, object]) -> InspectSample:
    """The sample in one record of the log."""
    try:
        return _parse_sample(record)
    except BadValueError as bad:
        return InspectSample(
            as_name(record.get("id")), as_integer(record.get("epoch")) or 1, broken=bad.broken
        )


def _parse_sample(record: Mapping[str, object]) -> InspectSample:
    output = optional_object(record.get("output"), "output")
    generated = [part for part, _ in optional_objects(output.get("choices"), "output.choices")]
    first = generated[0] if generated else as_object(None)
    scores = optional_object(record.get("scores"), "scores") or {UNNAMED_SCORER: record.get("score")}
    logprobs = optional_object(first.get("logprobs"), "output.choices.0.logprobs")
    epoch = record.get("epoch")
    if epoch is not None and as_integer(epoch) is None:
        raise BadValueError("epoch", "a whole number", epoch)
    return InspectSample(
        id=optional_name(record.get("id"), "id"),
        epoch=as_integer(epoch) or 1,
        question=_question_text(record),
        choices=_texts(record.get("choices"), "choices"),
        target=_target(record.get("target")),
        scores={name: score for key, value in scores.items() for name, score in _parse_scores(key, value)},
        completions=_completion_texts(output, generated),
        positions=parse_positions(logprobs.get("content"), "output.choices.0.logprobs.content"),
        is_failed=record.get("error") is not None,
        is_refused=first.get("stop_reason") == "content_filter",
        is_limited=record.get("limit") is not None,
        is_invalidated=record.get("invalidation") is not None,
        metadata=_scalar_values(record.get("metadata")),
    )


def _texts(stored: object, path: str) -> tuple[str, ...]:
    return tuple(require_text(part, f"{path}.{at}") for at, part in enumerate(optional_list(stored, path)))


def _target(stored: object) -> str | Sequence[str] | None:
    return (
        _texts(cast("object", stored), "target")
        if isinstance(stored, list)
        else optional_text(stored, "target")
    )


def _parse_scores(key: str, stored: object) -> Iterator[tuple[str, SampleScore]]:
    """The scores of one scorer: its value, or each part of a value that has several."""
    score = optional_object(stored, f"scores.{key}")
    value = score.get("value")
    parts = as_object(value) or {str(number): part for number, part in enumerate(as_list(value), 1)}
    values: dict[str, object] = {f"{key}.{part}": part_value for part, part_value in parts.items()} or {
        key: value
    }
    for name, score_value in values.items():
        if score:
            correct, partial = _parse_outcome(score_value)
            explanation = optional_text(score.get("explanation"), f"scores.{key}.explanation") or ""
            answer = optional_text(score.get("answer"), f"scores.{key}.answer")
            metadata = _scalar_values(score.get("metadata"))
            yield name, SampleScore(bool(parts), correct, score_value, partial, answer, explanation, metadata)


def _parse_outcome(value: object) -> tuple[object, bool]:
    """The outcome (True, False or None), and whether the score is partial credit, which is not an outcome."""
    if value == _PARTIAL_GRADE:
        return None, True
    if isinstance(value, str):
        return _GRADES.get(value, value), False
    number = as_float(value)
    if number is None:
        return value, False
    if math.isnan(number):
        return None, False
    if 0 < number < 1:
        return None, True
    return (bool(number), False) if number in (0, 1) else (value, False)


def _question_text(record: Mapping[str, object]) -> str | None:
    """The question's text; in a chat, the last message of the user."""
    question = record.get("input")
    for at, part in reversed([*enumerate(as_list(question))]):
        message = as_object(part)
        if message.get("role") == "user":
            question = _message_text(message.get("content"), f"input.{at}.content")
            break
    text = as_text(question)
    if text is not None and text.startswith(_ATTACHMENT_PREFIX):
        return (
            as_text(as_object(record.get("attachments")).get(text.removeprefix(_ATTACHMENT_PREFIX))) or text
        )
    return text


def _completion_texts(output: Mapping[str, object], generated: list[Mapping[str, object]]) -> tuple[str, ...]:
    """Texts of the generated choices, the first as the scorer saw it."""
    paths = [f"output.choices.{at}.message" for at in range(len(generated))]
    messages = [
        optional_object(part.get("message"), path) for part, path in zip(generated, paths, strict=True)
    ]
    texts = [
        _message_text(message.get("content"), f"{path}.content") or ""
        for message, path in zip(messages, paths, strict=True)
    ]
    scored = optional_text(output.get("completion"), "output.completion")
    return (scored, *texts[1:]) if scored and texts else tuple(texts)


def _message_text(content: object, path: str) -> str | None:
    """The text of a message, without reasoning, images and tool calls."""
    if is_list(content):
        parts = [(part, own) for part, own in optional_objects(content, path) if part.get("type") == "text"]
        return "\n".join(optional_text(part.get("text"), f"{own}.text") or "" for part, own in parts)
    return optional_text(content, path)


def _scalar_values(stored: object) -> Mapping[str, object]:
    """The values that are a text, a number or a boolean."""
    return {name: value for name, value in as_object(stored).items() if isinstance(value, str | int | float)}


# --- The answer within a generated text ---------------------------------------

_ANSWER_MARKERS: Final = (
    re.compile(r"(?i)\banswer(?:\s+is\b\s*:?|\s*:)[\s*_`$\"']*(?P<answer>[^\n]*)"),
    re.compile(r"####[^\S\n]*(?P<answer>[^\n]*)"),
    re.compile(r"\\boxed\{(?P<answer>[^{}\n]*)\}"),
)
_TRAILING_CHARACTERS: Final = " \t\r.*_`$\"'"


def answer_span(tokens: Sequence[str], scored_answer: str | None) -> tuple[int, int] | None:
    """The tokens of the answer.

    Parameters
    ----------
    tokens : Sequence[str]
        Tokens of the completion.
    scored_answer : str or None
        The answer as the scorer read it. If it is the whole text, a marker ("the answer is", "####", a box)
        takes precedence, and without a marker the text must be a single line.

    Returns
    -------
    tuple[int, int] or None
        Half-open range of positions; None where the answer cannot be located.
    """
    text = "".join(tokens)
    scored_answer = (scored_answer or "").strip()
    at = text.rfind(scored_answer) if scored_answer and scored_answer != text.strip() else -1
    if at >= 0:
        return token_span(tokens, at, at + len(scored_answer))
    matches = [match for marker in _ANSWER_MARKERS for match in marker.finditer(text)]
    if matches:
        last = max(matches, key=lambda match: match.start("answer"))
        answer = last["answer"].rstrip(_TRAILING_CHARACTERS)
        return (
            token_span(tokens, last.start("answer"), last.start("answer") + len(answer)) if answer else None
        )
    if scored_answer and "\n" not in scored_answer:
        at = text.index(scored_answer)
        return token_span(tokens, at, at + len(scored_answer))
    return None


def token_span(tokens: Sequence[str], start: int, end: int) -> tuple[int, int]:
    """Half-open range of the tokens that hold the characters start to end of their joined text."""
    ends = token_ends(tokens)
    return token_at(ends, start), token_at(ends, max(start, end - 1)) + 1


# --- Letters of choices -------------------------------------------------------
#
# A solver that shuffles the choices writes its answer back in the data set's order but leaves the tokens as
# they were. There, the letters of the tokens are mapped back by the order in the scorer's explanation.

_SHUFFLED_PREFIX: Final = "Choices were shuffled"
_SHUFFLED_ANSWER_MARK: Final = "\nShuffled answer:"
_ANSWER_LEAD: Final = re.compile(r"(?i)\b(?:the\s+)?(?:(?:correct|final|right|best)\s+)?answer(?:\s+is)?\W*$")
_WORD_LETTERS: Final = ("A", "I")
"""Letters that are also English words."""
_MAX_LEAD_WORDS: Final = 2
"""Words before the answer up to which the answer counts as given without reasoning."""
_TARGET_SEPARATOR: Final = re.compile(r"[\s,]+")


@dataclass(frozen=True, slots=True)
class AnswerToken:
    """The token in which a sample names its choice.

    Attributes
    ----------
    position : int
        Position of the token.
    masses : SymbolMasses
        Log-probabilities listed at that position.
    letters : tuple[str, ...]
        Letters of the choices, in the data set's order.
    is_after_reasoning : bool
        Whether text precedes the answer.
    """

    position: int
    masses: SymbolMasses
    letters: tuple[str, ...]
    is_after_reasoning: bool

    @property
    def fields(self) -> dict[str, object]:
        """The log-probabilities of the choices' letters, as fields of a row."""
        return choice_fields(self.masses, self.letters)


def gold_letters(sample: InspectSample) -> tuple[str, ...]:
    """Letters of the right choices; () where the target does not consist of letters."""
    letters = choice_letters(len(sample.choices))
    text = sample.target if isinstance(sample.target, str) else None
    parts = [sample.target] if isinstance(sample.target, str) else (sample.target or ())
    if text is not None and text.strip() not in letters:
        split = _TARGET_SEPARATOR.split(text.strip())
        parts = split if len(split) > 1 else list(text.strip())
    named = [part.strip() for part in parts]
    return tuple(sorted(set(named))) if named and all(part in letters for part in named) else ()


def find_answer_token(
    sample: InspectSample, score: SampleScore | None, scorer: str
) -> AnswerToken | BrokenRecord | None:
    """The token in which a sample names its choice.

    Parameters
    ----------
    sample : InspectSample
        The sample.
    score : SampleScore or None
        The score by which the answer is judged.
    scorer : str
        The score's column, for messages.

    Returns
    -------
    AnswerToken or BrokenRecord or None
        None where there is no such token; a BrokenRecord where the token is not the scored answer's.
    """
    letters = choice_letters(len(sample.choices))
    answer = _scored_letter(sample, score, letters)
    order = _shown_order(sample, score)
    expected = None if answer is None else letters[order.index(letters.index(answer))] if order else answer
    found = _letter_tokens(sample, letters, expected)
    if not found:
        return None
    matching = [(at, letter) for at, letter in found if expected in (None, letter)]
    if not matching or order == ():
        return _token_mismatch(found[-1][1], answer or "", scorer)
    position, _ = matching[-1]
    listed = symbol_masses(sample.positions[position], symbol_among(letters))
    if (broken := mass_above_one(listed, "top_logprobs")) is not None:
        return broken
    if order:
        letters = tuple(letters[place] for place in sorted(range(len(letters)), key=order.__getitem__))
    text_before = "".join(token.token for token in sample.positions[:position])
    return AnswerToken(
        position, listed, letters, len(_ANSWER_LEAD.sub("", text_before).split()) > _MAX_LEAD_WORDS
    )


def _letter_tokens(
    sample: InspectSample, letters: Sequence[str], expected_letter: str | None
) -> list[tuple[int, str]]:
    """The tokens that name a choice, with their letters.

    Where the text has no answer in a usual form, the only token that equals the expected letter.
    """
    named = find_answer_tokens(sample.positions, symbol_among(letters))
    found = [(at, letter) for at, letter in named if letter is not None]
    if not found and expected_letter is not None and expected_letter not in _WORD_LETTERS:
        matching = [
            at
            for at, token in enumerate(sample.positions)
            if strip_around_letter(token.token) == expected_letter
        ]
        found = [(at, expected_letter) for at in matching] if len(matching) == 1 else []
    return found


def _scored_letter(sample: InspectSample, score: SampleScore | None, letters: Sequence[str]) -> str | None:
    """The letter that was scored: as the scorer read it, else the last one in the completion."""
    answer = (score.answer or "").strip() if score is not None else ""
    if answer in letters:
        return answer
    named = find_answers(sample.completions[0], symbol_among(letters)) if sample.completions else []
    found = [letter for _, letter in named if letter is not None]
    return found[-1] if found else None


def _shown_order(sample: InspectSample, score: SampleScore | None) -> tuple[int, ...] | None:
    """Position in the data set of each choice, in the order shown; None where nothing was shuffled.

    () where the choices were shuffled in an unknown order.
    """
    explanation = score.explanation if score is not None else ""
    if not explanation.startswith(_SHUFFLED_PREFIX):
        return None
    listed = "\n" + explanation.partition("\n")[2].partition(_SHUFFLED_ANSWER_MARK)[0].strip() + "\n"
    texts: list[str] = []
    letters = choice_letters(len(sample.choices))
    for letter, following in zip(letters, (*letters[1:], None), strict=True):
        _, mark, rest = listed.partition(f"\n{letter}) ")
        end = rest.find(f"\n{following}) ") if following is not None else len(rest)
        if not mark or end < 0:
            return ()
        texts.append(rest[:end].strip())
        listed = rest[end:]
    choices = [choice.strip() for choice in sample.choices]
    is_permutation = len(set(choices)) == len(choices) and sorted(texts) == sorted(choices)
    return tuple(map(choices.index, texts)) if is_permutation else ()


def _token_mismatch(token: str, answer: str, scorer: str) -> BrokenRecord:
    return BrokenRecord(
        0,
        kind="answer and token differ",
        column=f"{scorer}.answer",
        expected=f"the letter of the token that was generated, {token!r}",
        found=shorten(answer),
        fix="The choices were probably shuffled and the log does not say how, so that nobody can tell which "
        "letter was which: leave the sample out, or run it again without the solver's shuffle.",
    )


# --- Questions as rows --------------------------------------------------------

QUESTION_COLUMNS: Final[Mapping[str, str]] = {
    "input": "question",
    "target": "gold",
    "output.choices": "samples",
    "output.completion": "prediction_text",
    "logprobs": "path_logprobs",
    "top_logprobs": "choice_logprobs",
    "metadata.subject": "subject",
}
"""Field of a question → its column, for fields that are not named like their column."""

_MODEL_GRADED: Final = "model_graded"


def find_graders(scorers: Sequence[str]) -> dict[str, str]:
    """Return the scorers whose grades are a judge's labels and people's → their columns; {} without a judge.

    Examples
    --------
    >>> find_graders(["match", "model_graded_qa", "human_grade"])
    {'model_graded_qa': 'judge', 'human_grade': 'human'}
    >>> find_graders(["match", "human_grade"])
    {}
    """
    judges = [name for name in scorers if name.startswith(_MODEL_GRADED) or says_who_labels(name) == "judge"]
    people = [name for name in scorers if says_who_labels(name) == "human"]
    if not judges:
        return {}
    of_people = (
        dict.fromkeys(people, "human") if len(people) == 1 else {name: f"human.{name}" for name in people}
    )
    return {judges[0]: "judge", **of_people}


@dataclass(slots=True, eq=False)
class QuestionReader:
    """Turns the samples of each question into a row, and counts what it meets.

    Attributes
    ----------
    scorer : str or None
        The score by which answers are right.
    has_multiple_answers : bool
        Whether a question's samples are several sampled answers.
    graders : Mapping[str, str]
        Scorer → the column of its grades as labels, of a model's ("judge") or of people's ("human").
    counts : Counter[str]
        Number of questions, samples and faults by name; `log_notes` turns them into text.
    """

    scorer: str | None
    has_multiple_answers: bool
    graders: Mapping[str, str] = field(default_factory=dict[str, str])
    counts: Counter[str] = field(default_factory=Counter[str])

    @property
    def score_field(self) -> str:
        """The field of the score by which answers are right."""
        return f"scores.{self.scorer}"

    def entry(self, samples: Sequence[InspectSample], share: float) -> LogEntry:
        """The row of one question.

        Parameters
        ----------
        samples : Sequence[InspectSample]
            The question's samples in the order of their epochs; at least one.
        share : float
            Share of the log read so far, in [0, 1].
        """
        self.counts["questions"] += 1
        self.counts["records"] += len(samples)
        self.counts["failed"] += sum(sample.is_failed for sample in samples)
        self.counts["invalid"] += sum(sample.is_invalidated for sample in samples)
        self.counts["limited"] += sum(sample.is_limited for sample in samples)
        broken = next((sample.broken for sample in samples if sample.broken), None)
        if broken is not None:
            return LogEntry({}, share=share, broken=broken)
        answered = [sample for sample in samples if not sample.is_failed and not sample.is_refused]
        if not answered:
            self.counts["refused"] += not samples[0].is_failed
            status = "error" if samples[0].is_failed else "refused"
            return LogEntry({**self._question_fields(samples[0]), "status": status}, share=share)
        first = answered[0]
        chosen = (
            find_answer_token(first, self._score_of(first), self.score_field)
            if self._is_answered_by_letter(first)
            else None
        )
        if isinstance(chosen, BrokenRecord):
            return LogEntry({}, share=share, broken=chosen)
        fields = {
            **self._question_fields(first),
            **self._letter_fields(first, chosen),
            **self._token_fields(first, chosen),
            **self._grades(first),
        }
        fields |= (
            self._multiple_answer_fields(answered)
            if self.has_multiple_answers
            else self._single_answer_fields(first)
        )
        return LogEntry(fields, share=share)

    def _score_of(self, sample: InspectSample) -> SampleScore | None:
        return sample.scores.get(self.scorer) if self.scorer is not None else None

    def _grades(self, sample: InspectSample) -> dict[str, object]:
        """The grades of a model and of people as labels, with partial credit as one of them."""
        return {
            column: str(score.value)
            for name, column in self.graders.items()
            if (score := sample.scores.get(name)) is not None and score.value is not None
        }

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
            if right:  # an answer has to name all of them
                self.counts["several right"] += 1
                return fields | {"target": ", ".join(right), "answer_kind": "text", "choices": None}
        if self.has_multiple_answers and not sample.choices and (self.scorer or "").startswith(_MODEL_GRADED):
            return fields  # different texts may mean the same: the grader decides
        golds = [sample.target] if isinstance(sample.target, str) else [*(sample.target or ())]
        if len(golds) > 1:
            return fields | {"gold_all": golds}
        return fields | {"target": golds[0] if golds else None}

    def _is_answered_by_letter(self, sample: InspectSample) -> bool:
        return bool(sample.choices) and len(gold_letters(sample)) <= 1 and bool(sample.positions)

    def _token_fields(self, sample: InspectSample, answer_token: AnswerToken | None) -> dict[str, object]:
        """The log-probabilities of the tokens, and which tokens are the answer."""
        if not sample.positions:
            return {}
        score = self._score_of(sample)
        span = None if answer_token is None else (answer_token.position, answer_token.position + 1)
        if not sample.choices:
            span = answer_span([place.token for place in sample.positions], score.answer if score else None)
        logprobs = path_logprobs(sample.positions)
        fields: dict[str, object] = {"logprobs": logprobs}
        if (invalid := invalid_top_logprobs(sample.positions)) and not any(
            map(is_invalid_logprob, logprobs or ())
        ):
            fields["top_logprobs"] = invalid_logprob_list(invalid, len(sample.choices))
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
            self.counts["unscored"] += score.correct is None and not score.is_partial
            fields["status"] = "no_answer" if score.value == "N" else None
        elif self.scorer is not None:
            self.counts["unscored"] += 1
        return fields | {"output.completion": sample.completions[0] if sample.completions else None}

    def _multiple_answer_fields(self, answered: Sequence[InspectSample]) -> dict[str, object]:
        """The answers of all samples; the first of each sample with its score."""
        texts: list[str] = []
        parsed: list[str | None] = []
        scores: list[object] = []
        for sample in answered:
            score, generated = self._score_of(sample), sample.completions
            if sample.choices and score is not None and score.explanation.startswith("Choices were shuffled"):
                generated = generated[:1]  # the letters of the others were not mapped back
            texts += generated
            outcome = None if score is None else score.correct
            scores += [outcome, *([None] * (len(generated) - 1))][: len(generated)]
            parsed += [(score.answer or None) if score is not None else None][: len(generated)]
            self.counts["partial"] += score is not None and score.is_partial
        fields: dict[str, object] = {"output.choices": texts, self.score_field: scores}
        if answered[0].choices and len(parsed) == len(texts) and any(parsed):
            fields["samples_parsed"] = parsed
        return fields
