"""How does a log of a server's answers become a reading, beside a table of right answers if one is named?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from calib_core.files.format import Head
from calib_core.files.harness.response_groups import merge_by_stem, score_choices, group_by_stem
from calib_core.files.harness.response_rows import FieldNames, ResponseRows
from calib_core.files.harness.responses import ServerResponse
from calib_core.files.harness.translated import LogTable, read_log_table
from calib_core.files.reading import Reading
from calib_core.files.tables.gold_join import refuse_without_gold
from calib_core.files.tables.gold_table import JoinedGold, read_gold_table
from calib_core.files.tables.raw import ReadProgress
from calib_core.records import RunInfo


def read_responses(
    head: Head,
    format_id: str,
    responses: Sequence[ServerResponse],
    names: FieldNames,
    mapping: Mapping[str, str],
    progress: ReadProgress,
) -> Reading:
    """The runs of a log whose records have been taken apart; mapping: as in `format.Read`.

    Raises Refused where the table of right answers cannot be used. A log without any is a reading that says
    so.
    """
    responses = _fill_single_model(responses)
    stems = group_by_stem(responses)
    several = max((len(places) for places in stems.values()), default=1) > 1
    notes: list[str] = []
    joined = None
    if head.gold_path is not None:
        joined, stems = _join_gold(head, responses, names, stems if several else {})
        if stems:
            responses = merge_by_stem(responses, stems)
            notes.append("Responses whose ids differ by /0, /1 … are one question each, as the table has it.")
    elif several:
        notes.append(
            "The ids differ by /0, /1 …: where those are answers to one question, name a table of right "
            "answers (--gold TABLE) that has the id before the number."
        )
    many = any(len(each.answers) > 1 and score_choices(each.answers) is None for each in responses)
    rows = ResponseRows(responses, names, many, joined)
    info = RunInfo(path_of="sample_0") if many else RunInfo()
    log = LogTable(rows.entries(), names.column_roles, info)
    reading = read_log_table(replace(head, gold=None), format_id, log, mapping, progress)
    reading = replace(reading, notes=(*reading.notes, *notes, *rows.notes()))
    return refuse_without_gold(reading, [response.id for response in responses], names.id)


def _fill_single_model(responses: Sequence[ServerResponse]) -> Sequence[ServerResponse]:
    """A request that failed names no model: it is of the log's only one, where there is only one."""
    models = {response.model for response in responses} - {None}
    if len(models) != 1:
        return responses
    return [replace(response, model=next(iter(models))) for response in responses]


def _join_gold(
    head: Head, responses: Sequence[ServerResponse], names: FieldNames, stems: Mapping[str, list[int]]
) -> tuple[JoinedGold | None, Mapping[str, list[int]]]:
    """The right answers by the log's ids, or by what stands before their numbers; and those stems, if so."""
    if head.gold_path is None:
        return None, {}
    table = read_gold_table(head.gold_path)
    ids: Collection[str] = {response.id for response in responses if response.id is not None}
    if stems and not any(series.is_in(list(ids)).any() for series in table.ids.values()):
        return table.join(stems.keys(), names.id), stems
    return table.join(ids, names.id), {}
