"""How do a server's answers become rows?  Each with its right answer, letters, tokens and samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from calib_core.files.harness.answer_field import answer_field
from calib_core.files.harness.inferred_letters import infer_letters, letter_index
from calib_core.files.harness.json_values import as_list, is_invalid_logprob
from calib_core.files.harness.letters import TRUTH_WORDS, mass_above_one, invalid_logprob_list, choice_fields, choice_letters
from calib_core.files.harness.response_groups import score_choices
from calib_core.files.harness.responses import ServerAnswer, ServerResponse, AnswerSymbol
from calib_core.files.harness.translated import LogEntry
from calib_core.files.tables.gold_table import JoinedGold
from calib_core.files.tables.raw import BrokenRecord
from calib_core.wording import plural

_UNCLEAR_NOTE: Final = (
    "it is not told which token of prompt_logprobs is the prompt's own (prompt_token_ids is missing): they "
    "are not read"
)
_UNUSED_PROMPT_NOTE: Final = (
    "the log-probabilities of the prompt are not used: they score choices where each choice ends a prompt of "
    "its own, with ids that differ by /0, /1 …"
)


@dataclass(frozen=True, slots=True)
class FieldNames:
    """What the log calls the id, the answer's text, its tokens' log-probabilities, the likeliest tokens."""

    id: str
    text: str
    token_logprobs: str
    top_logprobs: str

    @property
    def column_roles(self) -> dict[str, str]:
        """The log's field → the name that it is read as."""
        return {
            self.id: "id",
            self.text: "prediction",
            self.token_logprobs: "path_logprobs",
            self.top_logprobs: "choice_logprobs",
            "letter_mass": "confidence",
        }


@dataclass(frozen=True, slots=True, eq=False)
class ResponseRows:
    """The responses of one log, on their way to rows.

    several: whether any of them has several answers, so that none is the greedy one; joined: the right
    answers of another table; counts: what a reader of the numbers has to know, filled in while the rows are
    made; outside: the probability that the letters of a row leave over, of each row that has letters;
    inferred: which letters are choices where the file does not say, at most one sentence.
    """

    responses: Sequence[ServerResponse]
    names: FieldNames
    has_multiple_answers: bool
    joined_gold: JoinedGold | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    other_masses: list[float] = field(default_factory=list[float])
    inferred_notes: list[str] = field(default_factory=list[str])

    def entries(self) -> Iterator[LogEntry]:
        """A row for each response, in the log's order."""
        golds = [self._gold_of(response) for response in self.responses]
        said = {str(gold["gold"]).strip().lower() for gold in golds if gold.get("gold") is not None}
        truth = bool(said) and said <= set(TRUTH_WORDS)
        answers = (answer for response in self.responses for answer in response.answers)
        options = None if truth else infer_letters(golds, answers)
        if options is not None:
            self.inferred_notes.append(options.note)
        for response, gold in zip(self.responses, golds, strict=True):
            if response.broken is not None:
                yield LogEntry({}, response.line, response.share, response.broken)
                continue
            fields = self._row_fields(response, gold, options and options.n_letters, is_true_false=truth)
            broken = fields.pop("", None)
            yield LogEntry(
                fields, response.line, response.share, broken if isinstance(broken, BrokenRecord) else None
            )

    def _gold_of(self, response: ServerResponse) -> dict[str, object]:
        """What is known of the question: by its own record, else by the table."""
        told = {} if self.joined_gold is None else dict(self.joined_gold.answer_for(response.id))
        return told | {key: value for key, value in response.extra_fields.items() if value is not None}

    def _row_fields(
        self, response: ServerResponse, gold: Mapping[str, object], n_inferred: int | None, *, is_true_false: bool
    ) -> dict[str, object]:
        """The fields of one row; under "" why its record cannot be used."""
        row: dict[str, object] = {
            **gold, self.names.id: response.id, "model": response.model, "status": response.status,
        }
        listed = [str(choice) for choice in as_list(gold.get("choices"))]
        count = len(listed) or n_inferred
        if count and not listed and (at := letter_index(gold.get("gold"))) is not None:
            row["gold_index"] = at
        self.counts[response.status or "answered"] += 1
        if response.status is not None or not response.answers:
            return row
        if (choices := score_choices(response.answers, listed)) is not None:
            return row | {
                "choices": list(choices.choices),
                self.names.top_logprobs: list(choices.sums),
                "choice_token_counts": list(choices.counts),
            }
        first = response.answers[0]
        self.counts["unclear"] += any(answer.is_unclear for answer in response.answers)
        self.counts["alone"] += bool(first.echo)
        if self.has_multiple_answers:
            row["samples"] = [self._answer_text(answer.text) or "" for answer in response.answers]
        else:
            row["prediction_text"] = first.text
            row[self.names.text] = self._answer_text(first.text)
        row |= self._token_fields(first, len(listed))
        if is_true_false:
            return row | self._truth_fields(first.truth, gold)
        if count and self._has_letter_choices(gold):
            row["answer_kind"] = "choice"
            self.counts["inferred"] += not listed
            row |= self._letter_fields(first.letter, count) if not first.invalid_top_logprobs else {}
        return row

    def _answer_text(self, text: str | None) -> str | None:
        """The answer of a text: the field called so, where the text is a JSON object that has one."""
        found = answer_field(text)
        self.counts["json"] += found is not None
        return text if found is None else found

    def _has_letter_choices(self, gold: Mapping[str, object]) -> bool:
        """Whether a question has choices: by these, by its right answer, or nothing says otherwise."""
        told = gold.get("gold")
        return told is None or bool(as_list(gold.get("choices"))) or letter_index(told) is not None

    def _token_fields(self, answer: ServerAnswer, n_choices: int) -> dict[str, object]:
        """The log-probabilities of the answer's tokens; a list with a wrong one as it is, to be found so.

        choices: how many the question has, 0 = not known.
        """
        told: dict[str, object] = {}
        if answer.path_logprobs is None:
            self.counts["no log-probabilities"] += 1
        else:
            told[self.names.token_logprobs] = list(answer.path_logprobs)
            self.counts["certain"] += any(value == 0 for value in answer.path_logprobs)
        if answer.invalid_top_logprobs and not any(map(is_invalid_logprob, answer.path_logprobs or ())):
            told[self.names.top_logprobs] = invalid_logprob_list(answer.invalid_top_logprobs, n_choices)
        return told

    def _letter_fields(self, symbol: AnswerSymbol | None, n_choices: int) -> dict[str, object]:
        """What is listed at the answer's letter."""
        if symbol is None or symbol.symbol not in choice_letters(n_choices):
            self.counts["no letter"] += 1
            return {}
        masses, letter = symbol.masses, symbol.symbol
        if (broken := mass_above_one(masses, self.names.top_logprobs)) is not None:
            return {"": broken}
        told: dict[str, object] = {}
        if symbol.is_first or not self.has_multiple_answers:
            told = choice_fields(masses, choice_letters(n_choices))
            told = {self.names.top_logprobs if key == "choice_logprobs" else key: told[key] for key in told}
        if told:
            self.other_masses.append(1 - sum(masses.probability_of(option) or 0.0 for option in choice_letters(n_choices)))
            self.counts["merged"] += masses.has_merged_spellings
            self.counts["unlisted"] += None in as_list(told[self.names.top_logprobs])
            self.counts["reasoned"] += not symbol.is_first
        if not self.has_multiple_answers:
            span = {"answer_start": symbol.position, "answer_end": symbol.position + 1}
            told |= {self.names.text: letter, "letter_mass": masses.probability_of(letter), **span}
        return told

    def _truth_fields(self, symbol: AnswerSymbol | None, gold: Mapping[str, object]) -> dict[str, object]:
        """P(True) of an answer that is put to the model; right where the table says that it is true."""
        said = str(gold["gold"]).strip().lower() if gold.get("gold") is not None else None
        told: dict[str, object] = {"correct": None if said is None else said == "true"}
        if symbol is not None:
            true, false = map(symbol.masses.probability_of, TRUTH_WORDS)
            told |= {"p_true": true, "p_false": false, "p_true_norm": "raw"}
        self.counts["truth"] += 1
        return told

    def notes(self) -> tuple[str, ...]:
        """What a reader of the numbers has to know, once all rows have been made."""
        counts, told = self.counts, list[str]()
        said = (
            ("error", "{} failed or expired"),
            ("refused", "{} refused"),
            ("no log-probabilities", "{} without log-probabilities"),
        )
        parts = [form.format(f"{counts[key]:,}") for key, form in said if counts[key]]
        if parts:
            told.append(f"Of {plural(len(self.responses), 'response')} {', '.join(parts)}.")
        if self.joined_gold is not None:
            told += self.joined_gold.notes([response.id for response in self.responses])
        if counts["inferred"]:
            told += [f"In {plural(counts['inferred'], 'row')} {what}." for what in self.inferred_notes]
        if self.other_masses:
            told.append(
                f"Tokens that are no letter have {fmean(self.other_masses):.3g} on average: letter_mass is the "
                "answered letter's probability as listed, choice_softmax its share among the letters."
            )
        rows = (
            ("merged", "a letter has several spellings (such as 'A' and ' A'), which are added up"),
            ("unlisted", "a letter is not listed: it is not known, and at most the smallest listed one"),
            ("reasoned", "text stands before the letter, whose probabilities hang on it"),
            ("certain", "a token's log-probability is exactly 0.0, which is rounded to certainty"),
            ("json", "the answer is a JSON object, whose field 'answer' is read"),
            ("unclear", _UNCLEAR_NOTE),
            ("alone", _UNUSED_PROMPT_NOTE),
            ("truth", "the right answer is true or false: the probability of True is p_true"),
        )
        told += [f"In {plural(counts[key], 'row')} {what}." for key, what in rows if counts[key]]
        if self.has_multiple_answers:
            told.append("Several answers a question are its samples; none of them is the greedy answer.")
        return tuple(told)
