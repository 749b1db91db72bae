"""How do a server's answers become rows?  Each with its right answer, letters, tokens and samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Final

from calib_core.files.harness.answer_field import answer_field
from calib_core.files.harness.inferred_letters import inferred_letters, letter_index
from calib_core.files.harness.json_values import as_list, is_wrong
from calib_core.files.harness.letters import TRUTH, above_one, bad_list, choice_fields, letters_of
from calib_core.files.harness.response_groups import scored
from calib_core.files.harness.responses import Answer, Response, Symbol
from calib_core.files.harness.translated import Entry
from calib_core.files.tables.gold_table import Joined
from calib_core.files.tables.raw import Broken
from calib_core.wording import count

_UNCLEAR: Final = (
    "it is not told which token of prompt_logprobs is the prompt's own (prompt_token_ids is missing): they "
    "are not read"
)
_ALONE: Final = (
    "the log-probabilities of the prompt are not used: they score choices where each choice ends a prompt of "
    "its own, with ids that differ by /0, /1 …"
)


@dataclass(frozen=True, slots=True)
class Names:
    """What the log calls the id, the answer's text, its tokens' log-probabilities, the likeliest tokens."""

    id: str
    text: str
    tokens: str
    top: str

    @property
    def columns(self) -> dict[str, str]:
        """The log's field → the name that it is read as."""
        return {
            self.id: "id",
            self.text: "prediction",
            self.tokens: "path_logprobs",
            self.top: "choice_logprobs",
            "letter_mass": "confidence",
        }


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The responses of one log, on their way to rows.

    several: whether any of them has several answers, so that none is the greedy one; joined: the right
    answers of another table; counts: what a reader of the numbers has to know, filled in while the rows are
    made; outside: the probability that the letters of a row leave over, of each row that has letters;
    inferred: which letters are choices where the file does not say, at most one sentence.
    """

    responses: Sequence[Response]
    names: Names
    several: bool
    joined: Joined | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    outside: list[float] = field(default_factory=list[float])
    inferred: list[str] = field(default_factory=list[str])

    def entries(self) -> Iterator[Entry]:
        """A row for each response, in the log's order."""
        golds = [self._gold(response) for response in self.responses]
        said = {str(gold["gold"]).strip().lower() for gold in golds if gold.get("gold") is not None}
        truth = bool(said) and said <= set(TRUTH)
        answers = (answer for response in self.responses for answer in response.answers)
        options = None if truth else inferred_letters(golds, answers)
        if options is not None:
            self.inferred.append(options.note)
        for response, gold in zip(self.responses, golds, strict=True):
            if response.broken is not None:
                yield Entry({}, response.line, response.share, response.broken)
                continue
            fields = self._row(response, gold, options and options.count, truth=truth)
            broken = fields.pop("", None)
            yield Entry(
                fields, response.line, response.share, broken if isinstance(broken, Broken) else None
            )

    def _gold(self, response: Response) -> dict[str, object]:
        """What is known of the question: by its own record, else by the table."""
        told = {} if self.joined is None else dict(self.joined.of(response.id))
        return told | {key: value for key, value in response.own.items() if value is not None}

    def _row(
        self, response: Response, gold: Mapping[str, object], options: int | None, *, truth: bool
    ) -> dict[str, object]:
        """The fields of one row; under "" why its record cannot be used."""
        row: dict[str, object] = {
            **gold, self.names.id: response.id, "model": response.model, "status": response.status,
        }
        listed = [str(choice) for choice in as_list(gold.get("choices"))]
        count = len(listed) or options
        if count and not listed and (at := letter_index(gold.get("gold"))) is not None:
            row["gold_index"] = at
        self.counts[response.status or "answered"] += 1
        if response.status is not None or not response.answers:
            return row
        if (choices := scored(response.answers, listed)) is not None:
            return row | {
                "choices": list(choices.choices),
                self.names.top: list(choices.sums),
                "choice_token_counts": list(choices.counts),
            }
        first = response.answers[0]
        self.counts["unclear"] += any(answer.unclear for answer in response.answers)
        self.counts["alone"] += bool(first.echo)
        if self.several:
            row["samples"] = [self._said(answer.text) or "" for answer in response.answers]
        else:
            row["prediction_text"] = first.text
            row[self.names.text] = self._said(first.text)
        row |= self._tokens(first, len(listed))
        if truth:
            return row | self._truth(first.truth, gold)
        if count and self._is_letter(gold):
            row["answer_kind"] = "choice"
            self.counts["inferred"] += not listed
            row |= self._letters(first.letter, count) if not first.wrong else {}
        return row

    def _said(self, answer: str | None) -> str | None:
        """The answer of a text: the field called so, where the text is a JSON object that has one."""
        found = answer_field(answer)
        self.counts["json"] += found is not None
        return answer if found is None else found

    def _is_letter(self, gold: Mapping[str, object]) -> bool:
        """Whether a question has choices: by these, by its right answer, or nothing says otherwise."""
        told = gold.get("gold")
        return told is None or bool(as_list(gold.get("choices"))) or letter_index(told) is not None

    def _tokens(self, answer: Answer, choices: int) -> dict[str, object]:
        """The log-probabilities of the answer's tokens; a list with a wrong one as it is, to be found so.

        choices: how many the question has, 0 = not known.
        """
        told: dict[str, object] = {}
        if answer.path is None:
            self.counts["no log-probabilities"] += 1
        else:
            told[self.names.tokens] = list(answer.path)
            self.counts["certain"] += any(value == 0 for value in answer.path)
        if answer.wrong and not any(map(is_wrong, answer.path or ())):
            told[self.names.top] = bad_list(answer.wrong, choices)
        return told

    def _letters(self, symbol: Symbol | None, count: int) -> dict[str, object]:
        """What is listed at the answer's letter."""
        if symbol is None or symbol.what not in letters_of(count):
            self.counts["no letter"] += 1
            return {}
        masses, letter = symbol.masses, symbol.what
        if (broken := above_one(masses, self.names.top)) is not None:
            return {"": broken}
        told: dict[str, object] = {}
        if symbol.first or not self.several:
            told = choice_fields(masses, letters_of(count))
            told = {self.names.top if key == "choice_logprobs" else key: told[key] for key in told}
        if told:
            self.outside.append(1 - sum(masses.of(option) or 0.0 for option in letters_of(count)))
            self.counts["merged"] += masses.merged
            self.counts["unlisted"] += None in as_list(told[self.names.top])
            self.counts["reasoned"] += not symbol.first
        if not self.several:
            span = {"answer_start": symbol.at, "answer_end": symbol.at + 1}
            told |= {self.names.text: letter, "letter_mass": masses.of(letter), **span}
        return told

    def _truth(self, symbol: Symbol | None, gold: Mapping[str, object]) -> dict[str, object]:
        """P(True) of an answer that is put to the model; right where the table says that it is true."""
        said = str(gold["gold"]).strip().lower() if gold.get("gold") is not None else None
        told: dict[str, object] = {"correct": None if said is None else said == "true"}
        if symbol is not None:
            true, false = map(symbol.masses.of, TRUTH)
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
            told.append(f"Of {count(len(self.responses), 'response')} {', '.join(parts)}.")
        if self.joined is not None:
            told += self.joined.notes([response.id for response in self.responses])
        if counts["inferred"]:
            told += [f"In {count(counts['inferred'], 'row')} {what}." for what in self.inferred]
        if self.outside:
            told.append(
                f"Tokens that are no letter have {fmean(self.outside):.3g} on average: letter_mass is the "
                "answered letter's probability as listed, choice_softmax its share among the letters."
            )
        rows = (
            ("merged", "a letter has several spellings (such as 'A' and ' A'), which are added up"),
            ("unlisted", "a letter is not listed: it is not known, and at most the smallest listed one"),
            ("reasoned", "text stands before the letter, whose probabilities hang on it"),
            ("certain", "a token's log-probability is exactly 0.0, which is rounded to certainty"),
            ("json", "the answer is a JSON object, whose field 'answer' is read"),
            ("unclear", _UNCLEAR),
            ("alone", _ALONE),
            ("truth", "the right answer is true or false: the probability of True is p_true"),
        )
        told += [f"In {count(counts[key], 'row')} {what}." for key, what in rows if counts[key]]
        if self.several:
            told.append("Several answers a question are its samples; none of them is the greedy answer.")
        return tuple(told)
