"""Turns the responses of a model server into rows, joined with a table of right answers if there is one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import Final

from calib_core.advice import Advice, worded
from calib_core.readers.choice_letters import (
    LETTERS,
    TRUTH_WORDS,
    choice_fields,
    choice_letters,
    invalid_logprob_list,
    mass_above_one,
)
from calib_core.readers.eval_logs import LogEntry, LogTable, read_log_table
from calib_core.readers.format import Head, Reading, ReadOptions
from calib_core.readers.json_values import answer_field, as_integer, as_list, as_text, is_invalid_logprob
from calib_core.readers.servers.responses import (
    AnswerSymbol,
    ServerAnswer,
    ServerResponse,
    group_by_stem,
    merge_by_stem,
    score_choices,
)
from calib_core.readers.table.gold_match import LETTER_PATTERN
from calib_core.readers.table.gold_table import JoinedGold, read_gold_table, refuse_without_gold
from calib_core.readers.table.raw import BrokenRecord, ReadProgress
from calib_core.runs import RunInfo
from calib_core.wording import plural

# --- Letters of choices that the log does not list ----------------------------

_WHY_GOLD: Final = "{last} is the last letter that is a right answer"
_WHY_ANSWERED: Final = "{last} is the last letter that at least a tenth of the answers name"
_WHY_LISTED: Final = "at least half of the lists of likely tokens hold each of these"


@dataclass(frozen=True, slots=True)
class InferredLetters:
    """The first n letters are taken to be the choices.

    Attributes
    ----------
    n_letters : int
        Number of choices.
    reason : str
        Template of the evidence; ``{last}`` stands for the last letter.
    """

    n_letters: int
    reason: str

    @property
    def note(self) -> str:
        """The end of a note that begins with the number of affected rows."""
        n_beyond = self.n_letters - len(LETTERS)
        last = str(n_beyond) if n_beyond > 0 else LETTERS[self.n_letters - 1]
        names = f"A and {last}" if self.n_letters == 2 else f"A to {last}"
        why = self.reason.format(last=last)
        return f"the choices are not listed and are taken to be {names}: in the whole file, {why}"


def letter_index(gold: object) -> int | None:
    """Position of the choice that a right answer names by its letter; None where it is not a letter."""
    match = re.match(LETTER_PATTERN, (as_text(gold) or "").strip())
    return None if match is None else LETTERS.index(match[1].upper())


def infer_letters(
    golds: Sequence[Mapping[str, object]], answers: Iterable[ServerAnswer]
) -> InferredLetters | None:
    """The letters that the questions choose from.

    They reach up to the last letter that is a right answer, that a tenth of the answers with a letter name,
    or that is listed, together with all letters before it, in at least half of these answers.

    Parameters
    ----------
    golds : Sequence[Mapping[str, object]]
        What is known of each question.
    answers : Iterable[ServerAnswer]
        The answers to all questions.

    Returns
    -------
    InferredLetters or None
        None where the right answers are not letters, or only one letter occurs.
    """
    values = [gold["gold"] for gold in golds if gold.get("gold") is not None]
    gold_letters = [at for value in values if (at := letter_index(value)) is not None]
    gold_letters += [at for gold in golds if (at := as_integer(gold.get("gold_index"))) is not None]
    if values and not gold_letters:
        return None
    symbols = [answer.letter for answer in answers if answer.letter]
    answered = Counter(symbol.symbol for symbol in symbols)
    answered_letters = [
        LETTERS.index(letter) for letter, count in answered.items() if 10 * count >= len(symbols)
    ]
    listed = Counter(letter for symbol in symbols for letter in symbol.masses.logprobs)
    n_listed = 0
    while n_listed < len(LETTERS) and 2 * listed[LETTERS[n_listed]] >= max(len(symbols), 1):
        n_listed += 1
    last = max((*gold_letters, *answered_letters, n_listed - 1), default=-1)
    if last < 1:
        return None
    reason = next(
        reason
        for reason, at in (
            (_WHY_GOLD, gold_letters),
            (_WHY_ANSWERED, answered_letters),
            (_WHY_LISTED, [n_listed - 1]),
        )
        if last in at
    )
    return InferredLetters(last + 1, reason)


# --- Responses as rows --------------------------------------------------------

_UNCLEAR_NOTE: Final = (
    "the file does not say which token of prompt_logprobs is the prompt's own (prompt_token_ids is "
    "missing): they are not read"
)
_UNUSED_PROMPT_NOTE: Final = (
    "the log-probabilities of the prompt are not used: they score choices where each choice ends a "
    "separate prompt, with ids that differ by /0, /1 …"
)


@dataclass(frozen=True, slots=True)
class FieldNames:
    """Names of fields in the log.

    Attributes
    ----------
    id : str
        The question's id.
    text : str
        The answer's text.
    token_logprobs : str
        Log-probabilities of the answer's tokens.
    top_logprobs : str
        The most likely tokens at each position.
    """

    id: str
    text: str
    token_logprobs: str
    top_logprobs: str

    @property
    def column_roles(self) -> dict[str, str]:
        """Field of the log → the column it is read as."""
        return {
            self.id: "id",
            self.text: "prediction",
            self.token_logprobs: "path_logprobs",
            self.top_logprobs: "choice_logprobs",
            "letter_mass": "confidence",
        }


@dataclass(frozen=True, slots=True, eq=False)
class ResponseRows:
    """Turns the responses of one log into rows, and counts what it meets.

    Attributes
    ----------
    responses : Sequence[ServerResponse]
        All responses of the log.
    names : FieldNames
        Names of fields in the log.
    has_multiple_answers : bool
        Whether some response has several sampled answers.
    joined_gold : JoinedGold or None
        The right answers from another table.
    counts : Counter[str]
        Number of rows and faults by name; `notes` turns them into text.
    other_masses : list[float]
        For each row with letters, the probability of all other tokens.
    inferred_notes : list[str]
        How the choices were inferred where the log does not list them; at most one sentence.
    """

    responses: Sequence[ServerResponse]
    names: FieldNames
    has_multiple_answers: bool
    joined_gold: JoinedGold | None = None
    counts: Counter[str] = field(default_factory=Counter[str])
    other_masses: list[float] = field(default_factory=list[float])
    inferred_notes: list[str] = field(default_factory=list[str])

    def entries(self) -> Iterator[LogEntry]:
        """One row per response, in the log's order."""
        golds = [self._gold_of(response) for response in self.responses]
        gold_texts = {str(gold["gold"]).strip().lower() for gold in golds if gold.get("gold") is not None}
        is_true_false = bool(gold_texts) and gold_texts <= set(TRUTH_WORDS)
        answers = (answer for response in self.responses for answer in response.answers)
        options = None if is_true_false else infer_letters(golds, answers)
        if options is not None:
            self.inferred_notes.append(options.note)
        for response, gold in zip(self.responses, golds, strict=True):
            if response.broken is not None:
                yield LogEntry({}, response.line, response.share, response.broken)
                continue
            fields = self._row_fields(
                response, gold, options and options.n_letters, is_true_false=is_true_false
            )
            broken = fields.pop("", None)
            yield LogEntry(
                fields, response.line, response.share, broken if isinstance(broken, BrokenRecord) else None
            )

    def _gold_of(self, response: ServerResponse) -> dict[str, object]:
        """What is known of the question, from its own record or else from the joined table."""
        gold = {} if self.joined_gold is None else dict(self.joined_gold.answer_for(response.id))
        return gold | {key: value for key, value in response.extra_fields.items() if value is not None}

    def _row_fields(
        self,
        response: ServerResponse,
        gold: Mapping[str, object],
        n_inferred: int | None,
        *,
        is_true_false: bool,
    ) -> dict[str, object]:
        """The fields of one row; under the key "" the fault of a record that cannot be used."""
        row: dict[str, object] = {
            **gold,
            self.names.id: response.id,
            "model": response.model,
            "status": response.status,
        }
        choices = [str(choice) for choice in as_list(gold.get("choices"))]
        n_choices = len(choices) or n_inferred
        if n_choices and not choices and (index := letter_index(gold.get("gold"))) is not None:
            row["gold_index"] = index
        self.counts[response.status or "answered"] += 1
        if response.status is not None or not response.answers:
            return row
        if (scored := score_choices(response.answers, choices)) is not None:
            return row | {
                "choices": list(scored.choices),
                self.names.top_logprobs: list(scored.sums),
                "choice_token_counts": list(scored.counts),
            }
        first = response.answers[0]
        self.counts["unclear"] += any(answer.is_unclear for answer in response.answers)
        self.counts["alone"] += bool(first.echoed_tokens)
        if self.has_multiple_answers:
            row["samples"] = [self._answer_text(answer.text) or "" for answer in response.answers]
        else:
            row["prediction_text"] = first.text
            row[self.names.text] = self._answer_text(first.text)
        row |= self._token_fields(first, len(choices))
        if is_true_false:
            return row | self._truth_fields(first.truth, gold)
        if n_choices and self._has_letter_choices(gold):
            row["answer_kind"] = "choice"
            self.counts["inferred"] += not choices
            row |= self._letter_fields(first.letter, n_choices) if not first.invalid_top_logprobs else {}
        return row

    def _answer_text(self, text: str | None) -> str | None:
        """The text, or its field 'answer' where the text is a JSON object that has one."""
        found = answer_field(text)
        self.counts["json"] += found is not None
        return text if found is None else found

    def _has_letter_choices(self, gold: Mapping[str, object]) -> bool:
        """Whether a question has choices, by its choices or its right answer; True where neither is known."""
        right_answer = gold.get("gold")
        return (
            right_answer is None
            or bool(as_list(gold.get("choices")))
            or letter_index(right_answer) is not None
        )

    def _token_fields(self, answer: ServerAnswer, n_choices: int) -> dict[str, object]:
        """The log-probabilities of the answer's tokens.

        A list with an invalid value is passed on as it is, so that the row is reported. n_choices: number of
        choices; 0 where it is not known.
        """
        fields: dict[str, object] = {}
        if answer.path_logprobs is None:
            self.counts["no log-probabilities"] += 1
        else:
            fields[self.names.token_logprobs] = list(answer.path_logprobs)
            self.counts["certain"] += any(value == 0 for value in answer.path_logprobs)
        if answer.invalid_top_logprobs and not any(map(is_invalid_logprob, answer.path_logprobs or ())):
            fields[self.names.top_logprobs] = invalid_logprob_list(answer.invalid_top_logprobs, n_choices)
        return fields

    def _letter_fields(self, symbol: AnswerSymbol | None, n_choices: int) -> dict[str, object]:
        """The log-probabilities listed at the answer's letter."""
        if symbol is None or symbol.symbol not in choice_letters(n_choices):
            self.counts["no letter"] += 1
            return {}
        masses, letter = symbol.masses, symbol.symbol
        if (broken := mass_above_one(masses, self.names.top_logprobs)) is not None:
            return {"": broken}
        fields: dict[str, object] = {}
        if symbol.is_first or not self.has_multiple_answers:
            fields = choice_fields(masses, choice_letters(n_choices))
            fields = {
                self.names.top_logprobs if key == "choice_logprobs" else key: fields[key] for key in fields
            }
        if fields:
            self.other_masses.append(
                1 - sum(masses.probability_of(option) or 0.0 for option in choice_letters(n_choices))
            )
            self.counts["merged"] += masses.has_merged_spellings
            self.counts["unlisted"] += None in as_list(fields[self.names.top_logprobs])
            self.counts["reasoned"] += not symbol.is_first
        if not self.has_multiple_answers:
            span = {"answer_start": symbol.position, "answer_end": symbol.position + 1}
            fields |= {self.names.text: letter, "letter_mass": masses.probability_of(letter), **span}
        return fields

    def _truth_fields(self, symbol: AnswerSymbol | None, gold: Mapping[str, object]) -> dict[str, object]:
        """P(True) of an answer put to the model; the outcome is whether the table calls it true."""
        gold_text = str(gold["gold"]).strip().lower() if gold.get("gold") is not None else None
        fields: dict[str, object] = {"correct": None if gold_text is None else gold_text == "true"}
        if symbol is not None:
            true, false = map(symbol.masses.probability_of, TRUTH_WORDS)
            fields |= {"p_true": true, "p_false": false, "p_true_norm": "raw"}
        self.counts["truth"] += 1
        return fields

    def notes(self) -> tuple[str, ...]:
        """Notes on all rows; complete once every row has been made."""
        counts, notes = self.counts, list[str]()
        statuses = (
            ("error", "{} failed or expired"),
            ("refused", "{} refused"),
            ("no log-probabilities", "{} without log-probabilities"),
        )
        status_counts = [template.format(f"{counts[key]:,}") for key, template in statuses if counts[key]]
        if status_counts:
            notes.append(f"Of {plural(len(self.responses), 'response')} {', '.join(status_counts)}.")
        if self.joined_gold is not None:
            notes += self.joined_gold.notes([response.id for response in self.responses])
        if counts["inferred"]:
            notes += [
                f"In {plural(counts['inferred'], 'row')} {description}."
                for description in self.inferred_notes
            ]
        if self.other_masses:
            notes.append(
                f"Tokens that are not a letter have {fmean(self.other_masses):.3g} on average: letter_mass "
                "is the answered letter's probability as listed, choice_softmax its share among the letters."
            )
        descriptions = (
            ("merged", "a letter has several spellings (such as 'A' and ' A'), which are added up"),
            (
                "unlisted",
                "a letter is not listed: its probability is unknown, and at most the smallest listed one",
            ),
            ("reasoned", "text precedes the letter, whose probabilities depend on it"),
            ("certain", "a token's log-probability is exactly 0.0, which is rounded to certainty"),
            ("json", "the answer is a JSON object, whose field 'answer' is read"),
            ("unclear", _UNCLEAR_NOTE),
            ("alone", _UNUSED_PROMPT_NOTE),
            ("truth", "the right answer is true or false: the probability of True is p_true"),
        )
        notes += [
            f"In {plural(counts[key], 'row')} {description}."
            for key, description in descriptions
            if counts[key]
        ]
        if self.has_multiple_answers:
            notes.append("Several answers to a question are its samples; none of them is the greedy answer.")
        return tuple(notes)


def read_responses(
    head: Head,
    format_id: str,
    responses: Sequence[ServerResponse],
    names: FieldNames,
    options: ReadOptions,
    progress: ReadProgress,
) -> Reading:
    """The runs of a log whose records have been parsed.

    Parameters
    ----------
    head : Head
        The beginning of the file; it names the table of right answers, if there is one.
    format_id : str
        Id of the log's format.
    responses : Sequence[ServerResponse]
        All responses of the log.
    names : FieldNames
        Names of fields in the log.
    options : ReadOptions
        How the user wants it to be read; its columns are fields of the log.
    progress : ReadProgress
        Called with the share of the work that is done.

    Returns
    -------
    Reading
        With a refusal if the log has no right answers.

    Raises
    ------
    Refused
        If the table of right answers cannot be used.
    """
    responses = _fill_single_model(responses)
    stems = group_by_stem(responses)
    is_numbered = max((len(positions) for positions in stems.values()), default=1) > 1
    notes: list[str] = []
    joined_gold = None
    if head.gold_path is not None:
        joined_gold, stems = _join_gold(head, responses, names, stems if is_numbered else {})
        if stems:
            responses = merge_by_stem(responses, stems, names.id)
            sizes = sorted({len(positions) for positions in stems.values()})
            counts = f"{sizes[0]} to {sizes[-1]}" if len(sizes) > 1 else f"{sizes[0]}"
            notes.append(
                f"Responses whose ids differ by /0, /1 … ({counts} each) are one question each, as in the "
                "table."
            )
    elif is_numbered:
        named = worded(f" ({Advice(gold='TABLE')})", on_page="")
        notes.append(
            "The ids differ by /0, /1 …: where those are answers to one question, name a table of right "
            f"answers{named} that has the id before the number."
        )
    has_multiple_answers = any(
        len(response.answers) > 1 and score_choices(response.answers) is None for response in responses
    )
    rows = ResponseRows(responses, names, has_multiple_answers, joined_gold)
    info = RunInfo(path_of="sample_0") if has_multiple_answers else RunInfo()
    log = LogTable(rows.entries(), names.column_roles, info)
    reading = read_log_table(replace(head, gold_path=None), format_id, log, options, progress)
    reading = replace(reading, notes=(*reading.notes, *notes, *rows.notes()))
    return refuse_without_gold(reading, [response.id for response in responses], names.id)


def _fill_single_model(responses: Sequence[ServerResponse]) -> Sequence[ServerResponse]:
    """Adds the model's name to failed requests, which do not name one, if the log has a single model."""
    models = {response.model for response in responses} - {None}
    if len(models) != 1:
        return responses
    return [replace(response, model=next(iter(models))) for response in responses]


def _join_gold(
    head: Head, responses: Sequence[ServerResponse], names: FieldNames, stems: Mapping[str, list[int]]
) -> tuple[JoinedGold | None, Mapping[str, list[int]]]:
    """The right answers, joined by the responses' ids or by their stems; and the stems in the second case."""
    if head.gold_path is None:
        return None, {}
    answers = [answer for response in responses for answer in response.answers]
    says_true = any(answer.truth is not None for answer in answers)
    table = read_gold_table(head.gold_path, head.gold_on, head.gold_columns, may_be_true=says_true)
    ids: Collection[str] = {response.id for response in responses if response.id is not None}
    if stems and not any(series.is_in(list(ids)).any() for series in table.ids.values()):
        return table.join(stems.keys(), names.id), stems
    return table.join(ids, names.id), {}
