"""Writes what each verb prints with `--json`: its JSON Schema, and one page for people (`make schemas`).

A verb may print further keys one day, so the schemas allow them.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from calib_core.cli.json_elements import ELEMENTS
from calib_core.reporting.export.table import escape_markdown_cell

FOLDER: Final = Path(__file__).parent / "schema"
PAGE: Final = Path(__file__).parent / "json.md"

_INTRODUCTION: Final = """\
# The keys of `--json`

Written by `make schemas` from `calib_core/cli/json_elements.py`. With `--json`, a verb prints one JSON list,
and this page says what its elements hold; a verb with elements of several kinds has a table for each. Every
element has all keys of its table. An infinite number is the text `"inf"` or `"-inf"`, NaN never occurs, and p
is a p-value, from 0 to 1. Keys may be added; none is renamed or removed."""

_WIDTH: Final = 150
"""Characters of a line of a schema, at most, where it has parts that can go on lines of their own."""

_PLAIN: Final = MappingProxyType(
    {
        str: {"type": "string"},
        bool: {"type": "boolean"},
        int: {"type": "integer"},
        float: {"type": ["number", "string"], "pattern": "^-?inf$"},  # infinity is the text "inf"
        NoneType: {"type": "null"},
    }
)
_WORDS: Final = MappingProxyType(
    {str: "text", bool: "true or false", int: "whole number", float: "number", NoneType: "null"}
)


def schema_text(verb: str) -> str:
    """The schema of a verb's JSON list, as its file holds it."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"calib {verb} --json",
        "type": "array",
        "items": schema_of(ELEMENTS[verb]),
    }
    return _laid_out(schema) + "\n"


def schema_of(kind: Any) -> dict[str, Any]:  # noqa: ANN401  what a type hint may be has no type
    """The schema of a type that `json_elements` uses; the text of an `Annotated` is the description."""
    parts = get_args(kind)
    match get_origin(kind):
        case origin if origin is Annotated:
            schema = schema_of(parts[0])
            return {"description": " ".join(filter(None, (schema.pop("description", ""), parts[1])))} | schema
        case origin if origin is Literal:
            return {"enum": list(parts)}
        case origin if origin in (Union, UnionType):
            return _schema_of_union([schema_of(part) for part in parts])
        case origin if origin is list:
            return {"type": "array", "items": schema_of(parts[0])}
        case origin if origin is dict:
            return {"type": "object", "additionalProperties": schema_of(parts[1])}
    return _schema_of_keys(kind) if is_typeddict(kind) else dict(_PLAIN[kind])


def _schema_of_keys(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {
        "description": inspect.getdoc(kind),
        "type": "object",
        "properties": {key: schema_of(hint) for key, hint in hints.items()},
        "required": list(hints),
    }


def _schema_of_union(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Null is one more type of the only other part: the keywords beside a type say nothing about null."""
    match [part for part in parts if part != _PLAIN[NoneType]]:
        case [{"enum": values} as only]:
            return only | {"enum": [*values, None]}
        case [{"type": str(name)} as only]:
            return only | {"type": [name, "null"]}
        case [{"type": names} as only]:
            return only | {"type": [*names, "null"]}
    return {"anyOf": parts}


def page_text() -> str:
    """The page for people, as its file holds it: the elements of each verb, then the objects in them."""
    lines, objects = [_INTRODUCTION], dict[str, type]()
    for verb, kinds in ELEMENTS.items():
        lines += ["", f"## calib {verb}", "", f"For programs: [{verb}.json](schema/{verb}.json)."]
        for kind in get_args(kinds) or (kinds,):
            lines += ["", f"{inspect.getdoc(kind)}", "", *_table_of_keys(kind, objects)]
    lines += ["", "## Objects in these elements"]
    shown = 0
    while shown < len(objects):  # an object may hold others
        name, kind = list(objects.items())[shown]
        lines += ["", f"### {name}", "", f"{inspect.getdoc(kind)}", "", *_table_of_keys(kind, objects)]
        shown += 1
    return "\n".join([*lines, ""])


def _table_of_keys(kind: Any, objects: dict[str, type]) -> list[str]:  # noqa: ANN401  as above
    types, keys = get_type_hints(kind), _schema_of_keys(kind)["properties"]
    rows = [
        f"| `{key}` | {_words_of(types[key], objects)} | {escape_markdown_cell(schema['description'])} |"
        for key, schema in keys.items()
    ]
    return ["| key | type | meaning |", "| --- | --- | --- |", *rows]


def _words_of(kind: Any, objects: dict[str, type]) -> str:  # noqa: ANN401  as above
    """A type in words; adds the objects in it to `objects`, by the name of their section."""
    parts = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return ", ".join(f'`"{part}"`' for part in parts)
        case origin if origin in (Union, UnionType):
            return ", or ".join(_words_of(part, objects) for part in parts)
        case origin if origin is list:
            return f"list, each: {_words_of(parts[0], objects)}"
        case origin if origin is dict:
            return f"object, each value: {_words_of(parts[1], objects)}"
    if not is_typeddict(kind):
        return _WORDS[kind]
    objects[kind.__name__] = kind
    return f"[{kind.__name__}](#{kind.__name__.lower()})"


def _laid_out(value: object, indent: str = "") -> str:
    """JSON with each object or list on one line where it fits."""
    text = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(text) <= _WIDTH or not isinstance(value, dict | list):
        return text
    inner = f"{indent}  "
    if isinstance(value, list):
        parts, ends = [_laid_out(part, inner) for part in value], "[]"
    else:
        parts, ends = [f"{json.dumps(key)}: {_laid_out(part, inner)}" for key, part in value.items()], "{}"
    return f"{ends[0]}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{ends[1]}"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for verb in ELEMENTS:
        (FOLDER / f"{verb}.json").write_text(schema_text(verb), encoding="utf-8")
    PAGE.write_text(page_text(), encoding="utf-8")
