"""What does a log of answers from OpenAI's interfaces, or from a server that imitates them, hold?

Gold answers are not in it: they come from a table that the person names, or stand beside each answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.files.format import Format, Head
from calib_core.files.harness.json_values import as_list, as_name, as_object
from calib_core.files.harness.logged import LogRecord, read_log_records
from calib_core.files.harness.openai_shapes import ID_FIELDS, is_stream_chunk, is_batch_input, is_response, parse_response
from calib_core.files.harness.response_rows import FieldNames
from calib_core.files.harness.responses import ServerResponse
from calib_core.files.harness.server_log import read_responses
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import BrokenRecord, ReadProgress
from calib_core.problems import Refused

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
    called = next((id_ for id_ in ID_FIELDS if any(as_name(each.get(id_)) for each in head.first_objects)), _ROW_NUMBER_ID)
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
