"""Which shapes do answers of OpenAI's interfaces come in, and those of servers that imitate them?

Chat and legacy completions, the Responses interface, lines of a batch's output, vLLM's additions and dumps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.files.harness.json_values import as_list, as_name, as_object, as_text, as_integer, is_cell_value
from calib_core.files.harness.letters import TopTokens, TokenPosition, parse_positions
from calib_core.files.harness.prompt_scores import prompt_logprobs
from calib_core.files.harness.responses import ServerAnswer, ServerResponse

BATCH_INPUT_KEYS: Final = frozenset({"custom_id", "method", "url"})
"""Keys of a line of a batch's input."""

ID_FIELDS: Final = ("custom_id", "request_id", "id")
"""What the id of a question may be called, the likeliest first."""

_NON_COLUMN_FIELDS: Final = frozenset({
    *ID_FIELDS, "object", "created", "created_at", "model", "system_fingerprint", "service_tier", "response",
    "error", "choices", "output", "outputs", "usage", "body", "prompt_token_ids", "prompt_logprobs",
    "finished", "status", "method", "url", "metrics", "kv_transfer_params",
})
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
    own = {key: value for key, value in record.items() if key not in _NON_COLUMN_FIELDS and is_cell_value(value)}
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
        answer = _parse_chat_choice(choice) if "message" in choice else _parse_legacy_choice(choice, as_object(body.get("usage")))
        yield _with_prompt_logprobs(answer, choice, body)
    if "outputs" in body:
        for output in map(as_object, as_list(body["outputs"])):
            yield _with_prompt_logprobs(ServerAnswer.from_positions(as_text(output.get("text")), [*_parse_vllm_positions(output)]), output, body)
    elif "output" in body and (said := _parse_responses_output(body)) is not None:
        yield said


def _with_prompt_logprobs(answer: ServerAnswer, choice: Mapping[str, object], body: Mapping[str, object]) -> ServerAnswer:
    """The answer with vLLM's log-probabilities of its prompt, unless it repeats the prompt already."""
    scores = () if answer.echo else prompt_logprobs(choice, body)
    return replace(answer, unclear=True) if scores is None else replace(answer, echo=scores or answer.echo)


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
        TokenPosition(token, logs[at] if at < len(logs) else None, _parse_top_tokens(tops[at] if at < len(tops) else None))
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
        yield TokenPosition(as_text(own.get("decoded_token")) or "", own.get("logprob"), _parse_top_tokens(listed))
