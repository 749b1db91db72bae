"""What does a log of answers from OpenAI's interfaces, or from a server that imitates them, hold?

Gold answers are not in it: they come from a table that the person names, or stand beside each answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from calib_core.errors import Refused
from calib_core.readers.choice_letters import TokenPosition, TopTokens, parse_positions
from calib_core.readers.eval_logs import LogRecord, read_log_records
from calib_core.readers.format import Format, Head, Reading
from calib_core.readers.json_values import as_integer, as_list, as_name, as_object, as_text, is_cell_value
from calib_core.readers.servers.responses import ServerAnswer, ServerResponse
from calib_core.readers.servers.rows import FieldNames, read_responses
from calib_core.readers.table.raw import BrokenRecord, ReadProgress

# MERGED prompt_scores: How probable were the tokens of a prompt to vLLM?  Its `prompt_logprobs`, in which choices are scored.
#
# A list, the first element null, then the likeliest tokens of each position by their id, and the prompt's own
# one beside them where it is none of these. Which of them is the prompt's own is not said.

TokenLogprobs = tuple[tuple[str, object], ...]
"""(token, log-probability as it stands in the file) of a prompt."""


def prompt_logprobs(*bodies: Mapping[str, object]) -> TokenLogprobs | None:
    """The prompt's own tokens; () without any log-probabilities, None where it is not clear which they are.

    bodies: an answer and the response it is of: one of them has the list, and one may have the tokens' ids.
    """
    listed = next((found for body in bodies if (found := as_list(body.get("prompt_logprobs")))), ())
    ids = next((found for body in bodies if (found := as_list(body.get("prompt_token_ids")))), ())
    positions = [as_object(part) for part in listed]
    sizes = [len(position) for position in positions[1:] if position]
    if not sizes:
        return ()
    asked = min(sizes)
    found = [("", None), *(
        _prompt_token(position, str(ids[at]) if len(ids) == len(positions) else None, asked)
        for at, position in enumerate(positions[1:], 1)
    )]  # fmt: skip
    return None if None in found else tuple(one for one in found if one is not None)


def _prompt_token(position: Mapping[str, object], id_: str | None, n_top: int) -> tuple[str, object] | None:
    """The prompt's token: by its id, else the only one, else the one added to the likeliest.

    Of L likeliest the ranks are 1 to L: a rank beyond L was added, and L itself where others hold one less.
    """
    entries = {key: as_object(value) for key, value in position.items()}
    if id_ is not None:
        own = entries.get(id_)
    elif len(entries) == 1:
        own = next(iter(entries.values()))
    else:
        own = _entry_beyond_rank([*entries.values()], n_top if len(entries) == n_top + 1 else len(entries))
    return None if own is None else (as_text(own.get("decoded_token")) or "", own.get("logprob"))


def _entry_beyond_rank(entries: Sequence[Mapping[str, object]], n_top: int) -> Mapping[str, object] | None:
    """The only one whose rank is beyond the likeliest."""
    found = [entry for entry in entries if (as_integer(entry.get("rank")) or 0) > n_top]
    return found[0] if len(found) == 1 else None


# MERGED openai_shapes: Which shapes do answers of OpenAI's interfaces come in, and those of servers that imitate them?
#
# Chat and legacy completions, the Responses interface, lines of a batch's output, vLLM's additions and dumps.

BATCH_INPUT_KEYS: Final = frozenset({"custom_id", "method", "url"})
"""Keys of a line of a batch's input."""

ID_FIELDS: Final = ("custom_id", "request_id", "id")
"""What the id of a question may be called, the likeliest first."""

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
"""Fields of a record that say nothing of its question beside what is read from them."""


def is_response(record: Mapping[str, object]) -> bool:
    """Whether a record is an answer, or a line of a batch. A plain table may have the same keys."""
    if "response" in record:
        reply = as_object(record["response"])
        failed = record["response"] is None and isinstance(record.get("error"), dict)
        return failed or "body" in reply or (bool(reply) and "custom_id" in record) or _holds_answers(reply)
    return _holds_answers(record)


def is_batch_input(record: Mapping[str, object]) -> bool:
    """Whether a record is a question of a batch's input."""
    return record.keys() >= BATCH_INPUT_KEYS and "response" not in record


def is_stream_chunk(record: Mapping[str, object]) -> bool:
    """Whether a record is a piece of an answer that was streamed."""
    return any("delta" in as_object(choice) for choice in as_list(record.get("choices")))


def parse_response(record: Mapping[str, object]) -> ServerResponse:
    """What one record says, whatever its shape."""
    body, status = record, None
    if "response" in record or isinstance(record.get("error"), dict):
        reply = as_object(record.get("response"))
        body = as_object(reply.get("body")) if "body" in reply else reply
        failed = bool(record.get("error")) or as_integer(reply.get("status_code")) not in (None, 200)
        status = "error" if failed or not body or body.get("error") else None
    answers = () if status else tuple(_parse_answers(body))
    if answers and all(answer.is_refused for answer in answers):
        status = "refused"
    own = {
        key: value for key, value in record.items() if key not in _NON_COLUMN_FIELDS and is_cell_value(value)
    }
    if (listed := as_list(record.get("choices"))) and is_cell_value(list(listed)):
        own["choices"] = list(listed)
    if (prompt := as_text(record.get("prompt"))) is not None and "question" not in own:
        own = {key: value for key, value in own.items() if key != "prompt"} | {"question": prompt}
    return ServerResponse(None, as_name(body.get("model")), status, answers, own)


def _holds_answers(body: Mapping[str, object]) -> bool:
    parts = [as_object(part) for part in as_list(body.get("choices"))]
    if any(part.keys() & {"message", "finish_reason", "delta"} for part in parts):
        return True
    if body.get("object") == "response" and isinstance(body.get("output"), list):
        return True
    dumped = [as_object(part) for part in as_list(body.get("outputs"))]
    return "prompt_token_ids" in body and any("text" in part or "token_ids" in part for part in dumped)


def _parse_answers(body: Mapping[str, object]) -> Iterator[ServerAnswer]:
    for choice in map(as_object, as_list(body.get("choices"))):
        answer = (
            _parse_chat_choice(choice)
            if "message" in choice
            else _parse_legacy_choice(choice, as_object(body.get("usage")))
        )
        yield _with_prompt_logprobs(answer, choice, body)
    if "outputs" in body:
        for output in map(as_object, as_list(body["outputs"])):
            yield _with_prompt_logprobs(
                ServerAnswer.from_positions(as_text(output.get("text")), [*_parse_vllm_positions(output)]),
                output,
                body,
            )
    elif "output" in body and (said := _parse_responses_output(body)) is not None:
        yield said


def _with_prompt_logprobs(
    answer: ServerAnswer, choice: Mapping[str, object], body: Mapping[str, object]
) -> ServerAnswer:
    """The answer with vLLM's log-probabilities of its prompt, unless it repeats the prompt already."""
    scores = () if answer.echo else prompt_logprobs(choice, body)
    return replace(answer, is_unclear=True) if scores is None else replace(answer, echo=scores or answer.echo)


def _parse_chat_choice(choice: Mapping[str, object]) -> ServerAnswer:
    message = as_object(choice.get("message"))
    refused = bool(as_text(message.get("refusal"))) or choice.get("finish_reason") == "content_filter"
    positions = parse_positions(as_object(choice.get("logprobs")).get("content"))
    said = as_text(message.get("content")) or _tool_call_arguments(message)
    return ServerAnswer.from_positions(said, () if refused else positions, is_refused=refused)


def _tool_call_arguments(message: Mapping[str, object]) -> str | None:
    """The arguments of the one function that the model called instead of writing."""
    calls = [as_object(as_object(call).get("function")) for call in as_list(message.get("tool_calls"))]
    return as_text(calls[0].get("arguments")) if len(calls) == 1 else as_text(message.get("content"))


def _parse_responses_output(body: Mapping[str, object]) -> ServerAnswer | None:
    """The Responses interface: parts of text in messages, one answer together."""
    messages = [item for item in map(as_object, as_list(body.get("output"))) if item.get("type") == "message"]
    parts = [as_object(part) for message in messages for part in as_list(message.get("content"))]
    if not parts:
        return None
    said = [part for part in parts if isinstance(part.get("text"), str)]
    positions = [position for part in said for position in parse_positions(part.get("logprobs"))]
    refused = not said and any(part.get("type") == "refusal" for part in parts)
    whole_text = "".join(str(part["text"]) for part in said) if said else None
    return ServerAnswer.from_positions(whole_text, positions, is_refused=refused)


def _parse_legacy_choice(choice: Mapping[str, object], usage: Mapping[str, object]) -> ServerAnswer:
    """A legacy completion; of one that repeats its prompt only what was generated."""
    told = as_object(choice.get("logprobs"))
    logs, tops = as_list(told.get("token_logprobs")), as_list(told.get("top_logprobs"))
    tokens = [as_text(token) or "" for token in as_list(told.get("tokens"))]
    said = as_text(choice.get("text"))
    positions = [
        TokenPosition(
            token,
            logs[at] if at < len(logs) else None,
            _parse_top_tokens(tops[at] if at < len(tops) else None),
        )
        for at, token in enumerate(tokens)
    ]
    if not (logs and logs[0] is None):
        return ServerAnswer.from_positions(said, positions)
    prompt = as_integer(usage.get("prompt_tokens"))
    generated = positions[prompt:] if prompt is not None and prompt >= 0 else []
    answer = ServerAnswer.from_positions("".join(position.token for position in generated) or None, generated)
    return replace(answer, echo=tuple((position.token, position.logprob) for position in positions))


def _parse_top_tokens(top: object) -> TopTokens:
    """Likely tokens as an object, token → log-probability, or → {logprob, decoded_token}."""
    listed: list[tuple[str, object]] = []
    for token, value in as_object(top).items():
        entry = as_object(value)
        if entry:
            listed.append((as_text(entry.get("decoded_token")) or "", entry.get("logprob")))
        else:
            listed.append((token, value))
    return tuple(listed)


def _parse_vllm_positions(output: Mapping[str, object]) -> Iterator[TokenPosition]:
    """The objects of vLLM: of each position, token id → {logprob, rank, decoded_token}."""
    ids = as_list(output.get("token_ids"))
    for at, listed in enumerate(as_list(output.get("logprobs"))):
        own = as_object(as_object(listed).get(str(ids[at]))) if at < len(ids) else as_object(None)
        yield TokenPosition(
            as_text(own.get("decoded_token")) or "", own.get("logprob"), _parse_top_tokens(listed)
        )


_ROW_NUMBER_ID: Final = "row"
"""What a log's records are called by where they have no ids: their number, from 1."""


def recognises(head: Head) -> bool:
    """Whether one of the first records is an answer, or a question of a batch."""
    return any(is_response(record) or is_batch_input(record) for record in head.first_objects)


def read(head: Head, mapping: Mapping[str, str], progress: ReadProgress) -> Reading:
    """The runs of a log of responses. See `format.Read`."""
    if not any(map(is_response, head.first_objects)) and any(map(is_batch_input, head.first_objects)):
        raise Refused(
            f"{head.file} is the input of an OpenAI batch: questions only, no answers. Choose the batch's "
            f"output file."
        )
    if any(map(is_stream_chunk, head.first_objects)):
        raise Refused(
            f"{head.file} holds the pieces of a streamed answer (chat.completion.chunk), one a record. Save "
            f"the whole response: one JSON object with its choices, with stream off."
        )
    called = next(
        (id_ for id_ in ID_FIELDS if any(as_name(each.get(id_)) for each in head.first_objects)),
        _ROW_NUMBER_ID,
    )
    responses: list[ServerResponse] = []
    for number, record in enumerate(_log_records(head), 1):
        responses.append(_parse_record(record, called, number))
        progress(0.5 * record.share, f"{number:,} responses read")
    names = FieldNames(called, "content" if _is_chat(head) else "text", "logprobs", "top_logprobs")
    return read_responses(head, OPENAI.id, responses, names, mapping, progress)


def _log_records(head: Head) -> Iterator[LogRecord]:
    if head.kind == "json object":
        yield LogRecord(head.first_objects[0], None, 1.0)
    else:
        yield from read_log_records(head)


def _parse_record(record: LogRecord, id_field: str, number: int) -> ServerResponse:
    if isinstance(record.value, BrokenRecord):
        return ServerResponse(line=record.line, share=record.share, broken=record.value)
    id_ = str(number) if id_field == _ROW_NUMBER_ID else as_name(record.value.get(id_field))
    return replace(parse_response(record.value), id=id_, line=record.line, share=record.share)


def _is_chat(head: Head) -> bool:
    """Whether the first answers are messages."""
    bodies = [as_object(as_object(each.get("response")).get("body")) or each for each in head.first_objects]
    choices = [as_object(choice) for body in bodies for choice in as_list(body.get("choices"))]
    return any("message" in choice for choice in choices) or any("output" in body for body in bodies)


OPENAI: Final = Format(
    "openai",
    "answers of an OpenAI-style server (chat, batch, completions, vLLM)",
    "a response with choices in it",
    recognises,
    read,
)
