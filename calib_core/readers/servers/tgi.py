"""Reads responses of text-generation-inference, saved with the details of their tokens.

Special tokens, such as the one that ends the text, are not part of the answer. `best_of` sequences are
ranked from the best and so are not samples. Gold answers come from a table that the user names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from calib_core.readers.choice_letters import TokenPosition
from calib_core.readers.eval_logs import LogRecord, read_log_records
from calib_core.readers.format import JSON_KINDS, Format, Head, Reading, ReadOptions
from calib_core.readers.json_values import (
    BadValueError,
    as_name,
    is_cell_value,
    optional_list,
    optional_name,
    optional_object,
    optional_objects,
    optional_text,
    require_length,
)
from calib_core.readers.servers.responses import (
    ROW_NUMBER_ID,
    ServerAnswer,
    ServerResponse,
    response_of_record,
)
from calib_core.readers.servers.rows import FieldNames, read_responses
from calib_core.readers.table.raw import ReadProgress

_ID_FIELDS: Final = ("custom_id", "id", "request_id")
_ANSWER_KEYS: Final = frozenset({"generated_text", "details"})


def recognises(head: Head) -> bool:
    """Whether one of the first records is a response with details; a plain table may have the same keys."""
    return any(
        record.keys() >= _ANSWER_KEYS and isinstance(record["details"], dict) for record in head.first_objects
    )


def read(head: Head, options: ReadOptions, progress: ReadProgress) -> Reading:
    """The runs of a log of responses. See `Format.read`."""
    id_field = next(
        (name for name in _ID_FIELDS if any(as_name(record.get(name)) for record in head.first_objects)),
        ROW_NUMBER_ID,
    )
    records = (
        [LogRecord(head.first_objects[0], None, 1.0)]
        if head.kind == "json object"
        else read_log_records(head)
    )
    responses = [
        response_of_record(record, number, id_field, _parse_response)
        for number, record in enumerate(records, 1)
    ]
    names = FieldNames(id_field, "generated_text", "tokens", "top_tokens")
    return read_responses(head, TGI.id, responses, names, options, progress)


def _parse_response(value: Mapping[str, object]) -> ServerResponse:
    """The response in one record; id and line are left to the caller."""
    extra_fields = {
        key: part
        for key, part in value.items()
        if key not in (*_ID_FIELDS, *_ANSWER_KEYS, "model", "error", "error_type") and is_cell_value(part)
    }
    model = optional_name(value.get("model"), "model")
    if "error" in value and "generated_text" not in value:
        return ServerResponse(model=model, status="error", extra_fields=extra_fields)
    text = optional_text(value.get("generated_text"), "generated_text")
    details = optional_object(value.get("details"), "details")
    answer = ServerAnswer.from_positions(text, [*_parse_token_positions(details)])
    return ServerResponse(model=model, answers=(answer,), extra_fields=extra_fields)


def _parse_token_positions(details: Mapping[str, object]) -> Iterator[TokenPosition]:
    """The generated tokens with the most likely at each position, special tokens left out."""
    tokens = optional_objects(details.get("tokens"), "details.tokens")
    tops = optional_list(details.get("top_tokens"), "details.top_tokens")
    require_length(tops, tokens, "details.top_tokens")
    for at, (token, path) in enumerate(tokens):
        is_special = token.get("special")
        if not isinstance(is_special, bool):
            raise BadValueError(f"{path}.special", "true or false", is_special)
        if is_special:
            continue
        listed = optional_objects(tops[at], f"details.top_tokens.{at}") if tops else []
        top = tuple((_text_of(other, own), other.get("logprob")) for other, own in listed)
        yield TokenPosition(_text_of(token, path), token.get("logprob"), top)


def _text_of(token: Mapping[str, object], path: str) -> str:
    return optional_text(token.get("text"), f"{path}.text") or ""


TGI: Final = Format(
    "tgi",
    "answers of text-generation-inference, with details",
    "generated_text with its details",
    JSON_KINDS,
    recognises,
    read,
)
