"""Writes `docs/schema/VERB.json`: the JSON Schema of what each verb prints with `--json` (`make schemas`).

A verb may print further keys one day, so the schemas allow them.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from calib_core.cli.json_elements import ELEMENTS

FOLDER: Final = Path(__file__).parent / "schema"

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
            return {"description": parts[1]} | schema_of(parts[0])
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
