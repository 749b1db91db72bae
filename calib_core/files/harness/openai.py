"""What does a log of answers from OpenAI's interfaces, or from a server that imitates them, hold?

Gold answers are not in it: they come from a table that the person names, or stand beside each answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from calib_core.files.format import Format, Head
from calib_core.files.harness.json_values import as_list, as_name, as_object
from calib_core.files.harness.logged import Record, records_of
from calib_core.files.harness.openai_shapes import IDS, is_piece, is_request, is_response, response_of
from calib_core.files.harness.response_rows import Names
from calib_core.files.harness.responses import Response
from calib_core.files.harness.server_log import read_responses
from calib_core.files.reading import Reading
from calib_core.files.tables.raw import Broken, Progress
from calib_core.problems import Refused

_NUMBERED: Final = "row"
"""What a log's records are called by where they have no ids: their number, from 1."""


def recognises(head: Head) -> bool:
    """Whether one of the first records is an answer, or a question of a batch."""
    return any(is_response(record) or is_request(record) for record in head.objects)


def read(head: Head, mapping: Mapping[str, str], progress: Progress) -> Reading:
    """The runs of a log of responses. See `format.Read`."""
    if not any(map(is_response, head.objects)) and any(map(is_request, head.objects)):
        raise Refused(
            f"{head.file} is the input of an OpenAI batch: questions only, no answers. Choose the batch's "
            f"output file."
        )
    if any(map(is_piece, head.objects)):
        raise Refused(
            f"{head.file} holds the pieces of a streamed answer (chat.completion.chunk), one a record. Save "
            f"the whole response: one JSON object with its choices, with stream off."
        )
    called = next((id_ for id_ in IDS if any(as_name(each.get(id_)) for each in head.objects)), _NUMBERED)
    responses: list[Response] = []
    for number, record in enumerate(_records(head), 1):
        responses.append(_response(record, called, number))
        progress(0.5 * record.share, f"{number:,} responses read")
    names = Names(called, "content" if _is_chat(head) else "text", "logprobs", "top_logprobs")
    return read_responses(head, OPENAI.id, responses, names, mapping, progress)


def _records(head: Head) -> Iterator[Record]:
    if head.kind == "json object":
        yield Record(head.objects[0], None, 1.0)
    else:
        yield from records_of(head)


def _response(record: Record, called: str, number: int) -> Response:
    if isinstance(record.value, Broken):
        return Response(line=record.line, share=record.share, broken=record.value)
    id_ = str(number) if called == _NUMBERED else as_name(record.value.get(called))
    return replace(response_of(record.value), id=id_, line=record.line, share=record.share)


def _is_chat(head: Head) -> bool:
    """Whether the first answers are messages."""
    bodies = [as_object(as_object(each.get("response")).get("body")) or each for each in head.objects]
    choices = [as_object(choice) for body in bodies for choice in as_list(body.get("choices"))]
    return any("message" in choice for choice in choices) or any("output" in body for body in bodies)


OPENAI: Final = Format(
    "openai",
    "answers of an OpenAI-style server (chat, batch, completions, vLLM)",
    "a response with choices in it",
    recognises,
    read,
)
