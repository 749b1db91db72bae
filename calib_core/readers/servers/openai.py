"""Reads logs of responses from OpenAI's APIs and from compatible servers, such as vLLM.

Such logs have no gold answers: these come from a table that the user names, or are beside each response.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from calib_core.errors import Refused
from calib_core.readers.choice_letters import TokenPosition, TopTokens, parse_positions
from calib_core.readers.eval_logs import LogRecord, read_log_records
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import (
    as_integer,
    as_list,
    as_name,
    as_object,
    as_text,
    is_cell_value,
    optional_list,
    optional_name,
    optional_object,
    optional_objects,
    optional_text,
    require_length,
    require_object,
)
from calib_core.readers.servers.responses import (
    ROW_NUMBER_ID,
    ServerAnswer,
    ServerResponse,
    response_of_record,
)
from calib_core.readers.servers.rows import FieldNames, read_responses
from calib_core.readers.table.raw import ReadProgress

# --- vLLM's prompt_logprobs ---------------------------------------------------
#
# A list with one element per position of the prompt: null first, then the most likely tokens by id, and
# the prompt's own token if it is not among these. Nothing marks which of them is the prompt's own.

TokenLogprobs = tuple[tuple[str, object], ...]
"""(token, log-probability as stored) for each token of a prompt."""


def prompt_logprobs(*bodies: Mapping[str, object]) -> TokenLogprobs | None:
    """The prompt's own tokens with their log-probabilities.

    Parameters
    ----------
    *bodies : Mapping[str, object]
        A choice and the response it belongs to; either may hold the list, and either the ids of the tokens.

    Returns
    -------
    TokenLogprobs or None
        () without log-probabilities; None where the prompt's own tokens cannot be identified.
    """
    stored = next((tokens for body in bodies if (tokens := as_list(body.get("prompt_logprobs")))), ())
    ids = next((tokens for body in bodies if (tokens := as_list(body.get("prompt_token_ids")))), ())
    positions = [as_object(part) for part in stored]
    sizes = [len(position) for position in positions[1:] if position]
    if not sizes:
        return ()
    n_top = min(sizes)
    tokens = [("", None), *(
        _prompt_token(position, str(ids[at]) if len(ids) == len(positions) else None, n_top)
        for at, position in enumerate(positions[1:], 1)
    )]  # fmt: skip
    return None if None in tokens else tuple(token for token in tokens if token is not None)


def _prompt_token(position: Mapping[str, object], id_: str | None, n_top: int) -> tuple[str, object] | None:
    """The prompt's token: by its id, else the only one listed, else the one added to the top list.

    The L most likely tokens have ranks 1 to L. A rank beyond L was added, and so was rank L itself if other
    positions list one token fewer.
    """
    entries = {key: as_object(value) for key, value in position.items()}
    if id_ is not None:
        own = entries.get(id_)
    elif len(entries) == 1:
        own = next(iter(entries.values()))
    else:
        own = _entry_beyond_rank([*entries.values()], n_top if len(entries) == n_top + 1 else len(entries))
    if own is None:
        return None
    return optional_text(own.get("decoded_token"), "prompt_logprobs.decoded_token") or "", own.get("logprob")


def _entry_beyond_rank(entries: Sequence[Mapping[str, object]], n_top: int) -> Mapping[str, object] | None:
    """The only entry with a rank above n_top; None where there is none or several."""
    found = [entry for entry in entries if (as_integer(entry.get("rank")) or 0) > n_top]
    return found[0] if len(found) == 1 else None


# --- Shapes of responses ------------------------------------------------------
#
# Chat and legacy completions, the Responses API, lines of a batch's output, and vLLM's additions and
# dumps.

BATCH_INPUT_KEYS: Final = frozenset({"custom_id", "method", "url"})
"""Keys of a line of a batch's input file."""

ID_FIELDS: Final = ("custom_id", "request_id", "id")
"""Possible names of the question's id, the most likely first."""

_NON_COLUMN_FIELDS: Final = frozenset(
    {
        *ID_FIELDS,
        "object",
        "created",
        "created_at",
        "model",
        "system_fingerprint",
        "service_tier",
        "response",
        "error",
        "choices",
        "output",
        "outputs",
        "usage",
        "body",
        "prompt_token_ids",
        "prompt_logprobs",
        "finished",
        "status",
        "method",
        "url",
        "metrics",
        "kv_transfer_params",
    }
)
"""Fields of a record that do not become columns of their own."""


def is_response(record: Mapping[str, object]) -> bool:
    """Whether a record is a response or a line of a batch's output; a plain table may share single keys."""
    if "response" in record:
        response = as_object(record["response"])
        is_failed = record["response"] is None and isinstance(record.get("error"), dict)
        return (
            is_failed
            or "body" in response
            or (bool(response) and "custom_id" in record)
            or _holds_answers(response)
        )
    return _holds_answers(record)


def is_batch_input(record: Mapping[str, object]) -> bool:
    """Whether a record is a line of a batch's input file, which has no answer."""
    return record.keys() >= BATCH_INPUT_KEYS and "response" not in record


def is_stream_chunk(record: Mapping[str, object]) -> bool:
    """Whether a record is a chunk of a streamed response."""
    return any("delta" in as_object(choice) for choice in as_list(record.get("choices")))


def parse_response(record: Mapping[str, object]) -> ServerResponse:
    """The response in one record, whatever its shape; id and line are left to the caller.

    Raises
    ------
    BadValueError
        A value of the response has the wrong type.
    """
    body, path, status = record, "", None
    if "response" in record or isinstance(record.get("error"), dict):
        response = as_object(record.get("response"))
        body, path = response, "response."
        if "body" in response:
            body, path = optional_object(response["body"], "response.body"), "response.body."
        is_failed = bool(record.get("error")) or as_integer(response.get("status_code")) not in (None, 200)
        status = "error" if is_failed or not body or body.get("error") else None
    answers = () if status else tuple(_parse_answers(body, path))
    if answers and all(answer.is_refused for answer in answers):
        status = "refused"
    extra_fields = {
        key: value for key, value in record.items() if key not in _NON_COLUMN_FIELDS and is_cell_value(value)
    }
    if (choices := as_list(record.get("choices"))) and is_cell_value(list(choices)):
        extra_fields["choices"] = list(choices)
    if (prompt := as_text(record.get("prompt"))) is not None and "question" not in extra_fields:
        extra_fields = {key: value for key, value in extra_fields.items() if key != "prompt"} | {
            "question": prompt
        }
    model = optional_name(body.get("model"), f"{path}model")
    return ServerResponse(None, model, status, answers, extra_fields)


def _holds_answers(body: Mapping[str, object]) -> bool:
    choices = [as_object(part) for part in as_list(body.get("choices"))]
    if any(choice.keys() & {"message", "finish_reason", "delta"} for choice in choices):
        return True
    if body.get("object") == "response" and isinstance(body.get("output"), list):
        return True
    outputs = [as_object(part) for part in as_list(body.get("outputs"))]
    return "prompt_token_ids" in body and any("text" in part or "token_ids" in part for part in outputs)


def _parse_answers(body: Mapping[str, object], path: str) -> Iterator[ServerAnswer]:
    """The answers in a response, whose own path is `path`, with a dot at its end."""
    for choice, own in optional_objects(body.get("choices"), f"{path}choices"):
        answer = (
            _parse_chat_choice(choice, own)
            if "message" in choice
            else _parse_legacy_choice(choice, as_object(body.get("usage")), own)
        )
        yield _with_prompt_logprobs(answer, choice, body)
    if "outputs" in body:
        for output, own in optional_objects(body["outputs"], f"{path}outputs"):
            text = optional_text(output.get("text"), f"{own}.text")
            answer = ServerAnswer.from_positions(text, [*_parse_vllm_positions(output, own)])
            yield _with_prompt_logprobs(answer, output, body)
    elif "output" in body and (combined := _parse_responses_output(body, path)) is not None:
        yield combined


def _with_prompt_logprobs(
    answer: ServerAnswer, choice: Mapping[str, object], body: Mapping[str, object]
) -> ServerAnswer:
    """The answer with vLLM's log-probabilities of its prompt, unless it repeats the prompt itself."""
    scores = () if answer.echoed_tokens else prompt_logprobs(choice, body)
    return (
        replace(answer, is_unclear=True)
        if scores is None
        else replace(answer, echoed_tokens=scores or answer.echoed_tokens)
    )


def _parse_chat_choice(choice: Mapping[str, object], path: str) -> ServerAnswer:
    message = require_object(choice["message"], f"{path}.message")
    refusal = optional_text(message.get("refusal"), f"{path}.message.refusal")
    is_refused = bool(refusal) or choice.get("finish_reason") == "content_filter"
    logprobs = optional_object(choice.get("logprobs"), f"{path}.logprobs")
    positions = parse_positions(logprobs.get("content"), f"{path}.logprobs.content")
    content = optional_text(message.get("content"), f"{path}.message.content")
    text = content or _tool_call_arguments(message) or content
    return ServerAnswer.from_positions(text, () if is_refused else positions, is_refused=is_refused)


def _tool_call_arguments(message: Mapping[str, object]) -> str | None:
    """The arguments of the only tool call of a message."""
    calls = [as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))]
    return as_text(calls[0].get("arguments")) if len(calls) == 1 else None


def _parse_responses_output(body: Mapping[str, object], path: str) -> ServerAnswer | None:
    """The single answer that the text parts of a Responses output make up."""
    parts = [
        part
        for item, own in optional_objects(body.get("output"), f"{path}output")
        if item.get("type") == "message"
        for part in optional_objects(item.get("content"), f"{own}.content")
    ]
    if not parts:
        return None
    texts = [(optional_text(part.get("text"), f"{own}.text"), part, own) for part, own in parts]
    told = [(text, part, own) for text, part, own in texts if text is not None]
    positions = [
        position
        for _, part, own in told
        for position in parse_positions(part.get("logprobs"), f"{own}.logprobs")
    ]
    is_refused = not told and any(part.get("type") == "refusal" for part, _ in parts)
    text = "".join(text for text, _, _ in told) if told else None
    return ServerAnswer.from_positions(text, positions, is_refused=is_refused)


def _parse_legacy_choice(
    choice: Mapping[str, object], usage: Mapping[str, object], path: str
) -> ServerAnswer:
    """A legacy completion; if it repeats its prompt, only the generated part is the answer."""
    logprobs, own = optional_object(choice.get("logprobs"), f"{path}.logprobs"), f"{path}.logprobs"
    tokens = [
        optional_text(token, f"{own}.tokens.{at}") or ""
        for at, token in enumerate(optional_list(logprobs.get("tokens"), f"{own}.tokens"))
    ]
    token_logprobs, top_logprobs = (
        optional_list(logprobs.get(name), f"{own}.{name}") for name in ("token_logprobs", "top_logprobs")
    )
    for name, values in (("token_logprobs", token_logprobs), ("top_logprobs", top_logprobs)):
        require_length(values, tokens, f"{own}.{name}")
    text = optional_text(choice.get("text"), f"{path}.text")
    positions = [
        TokenPosition(
            token,
            token_logprobs[at] if token_logprobs else None,
            _parse_top_tokens(top_logprobs[at], f"{own}.top_logprobs.{at}") if top_logprobs else (),
        )
        for at, token in enumerate(tokens)
    ]
    if not (token_logprobs and token_logprobs[0] is None):
        return ServerAnswer.from_positions(text, positions)
    n_prompt_tokens = as_integer(usage.get("prompt_tokens"))
    generated = positions[n_prompt_tokens:] if n_prompt_tokens is not None and n_prompt_tokens >= 0 else []
    answer = ServerAnswer.from_positions("".join(position.token for position in generated) or None, generated)
    return replace(answer, echoed_tokens=tuple((position.token, position.logprob) for position in positions))


def _parse_top_tokens(top: object, path: str) -> TopTokens:
    """The most likely tokens of a position: token → log-probability, or id → {logprob, decoded_token}."""
    tokens: list[tuple[str, object]] = []
    for token, value in optional_object(top, path).items():
        if isinstance(value, dict):
            entry = as_object(cast("object", value))
            text = optional_text(entry.get("decoded_token"), f"{path}.{token}.decoded_token")
            tokens.append((text or "", entry.get("logprob")))
        else:
            tokens.append((token, value))
    return tuple(tokens)


def _parse_vllm_positions(output: Mapping[str, object], path: str) -> Iterator[TokenPosition]:
    """The tokens of a vLLM dump; each position is token id → {logprob, rank, decoded_token}."""
    ids = optional_list(output.get("token_ids"), f"{path}.token_ids")
    positions = optional_list(output.get("logprobs"), f"{path}.logprobs")
    require_length(positions, ids, f"{path}.logprobs")
    for at, (id_, listed) in enumerate(zip(ids, positions, strict=False)):
        own = f"{path}.logprobs.{at}"
        entry = as_object(optional_object(listed, own).get(str(id_)))
        text = optional_text(entry.get("decoded_token"), f"{own}.{id_}.decoded_token")
        yield TokenPosition(text or "", entry.get("logprob"), _parse_top_tokens(listed, own))


# --- The format ---------------------------------------------------------------


def recognises(head: Head) -> bool:
    """Whether one of the first records is a response or a line of a batch's input."""
    return any(is_response(record) or is_batch_input(record) for record in head.first_objects)


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs of a log of responses. See `Format.read`."""
    if not any(map(is_response, head.first_objects)) and any(map(is_batch_input, head.first_objects)):
        raise Refused(
            f"{head.file} is the input of an OpenAI batch: questions only, no answers. Choose the batch's "
            f"output file."
        )
    if any(map(is_stream_chunk, head.first_objects)):
        raise Refused(
            f"{head.file} holds the pieces of a streamed answer (chat.completion.chunk), one per record. "
            "Save the whole response: one JSON object with its choices, with stream off."
        )
    id_field = next(
        (name for name in ID_FIELDS if any(as_name(record.get(name)) for record in head.first_objects)),
        ROW_NUMBER_ID,
    )
    responses: list[ServerResponse] = []
    for number, record in enumerate(_log_records(head), 1):
        responses.append(response_of_record(record, number, id_field, parse_response))
        progress(0.5 * record.share, f"{number:,} responses read")
    names = FieldNames(id_field, "content" if _is_chat(head) else "text", "logprobs", "top_logprobs")
    return read_responses(head, OPENAI.id, responses, names, options, progress)


def _log_records(head: Head) -> Iterator[LogRecord]:
    if head.kind == "json object":
        yield LogRecord(head.first_objects[0], None, 1.0)
    else:
        yield from read_log_records(head)


def _is_chat(head: Head) -> bool:
    """Whether the first responses hold messages rather than plain text."""
    bodies = [as_object(as_object(each.get("response")).get("body")) or each for each in head.first_objects]
    choices = [as_object(choice) for body in bodies for choice in as_list(body.get("choices"))]
    return any("message" in choice for choice in choices) or any("output" in body for body in bodies)


OPENAI: Final = Format(
    "openai",
    "answers of an OpenAI-style server (chat, batch, completions, vLLM)",
    "a response with choices in it",
    JSON_KINDS,
    recognises,
    read,
)
