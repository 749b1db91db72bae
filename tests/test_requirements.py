"""The pinned versions, the ranges of pyproject.toml and the workflow agree."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from app_server import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(name: str) -> dict[str, Version]:
    """Distribution → its pin, of one requirements file; what it includes by -r is left out."""
    text = (ROOT / name).read_text(encoding="utf-8")
    lines = [line.partition("#")[0].strip() for line in text.splitlines()]
    pinned = [Requirement(line) for line in lines if line and not line.startswith("-")]
    names = [canonicalize_name(one.name) for one in pinned]
    assert len(names) == len(set(names)), f"{name} names a distribution twice"
    return {canonicalize_name(one.name): Version(str(one.specifier).removeprefix("==")) for one in pinned}


def ranges(listed: list[str]) -> dict[str, Requirement]:
    """Distribution → its range, of one list of pyproject.toml; the project's own extras are left out."""
    found = [Requirement(line) for line in listed]
    found = [one for one in found if one.name != PROJECT["name"]]
    names = [canonicalize_name(one.name) for one in found]
    assert len(names) == len(set(names)), "a distribution is named twice"
    return dict(zip(names, found, strict=True))


@pytest.mark.parametrize(
    ("name", "listed"),
    [
        ("requirements.txt", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]),
        ("requirements-export.txt", PROJECT["optional-dependencies"]["export"]),
        ("requirements-dev.txt", PROJECT["optional-dependencies"]["test"]),
        ("requirements-docs.txt", PROJECT["optional-dependencies"]["docs"]),
    ],
    ids=["run", "export", "test", "docs"],
)
def test_pins_lie_within_the_ranges(name: str, listed: list[str]) -> None:
    pins, wide = requirements(name), ranges(listed)
    assert set(pins) == set(wide)
    assert {one: str(pin) for one, pin in pins.items() if pin not in wide[one].specifier} == {}
    ends = {one: {spec.operator for spec in range_.specifier} for one, range_ in wide.items()}
    assert {one: found for one, found in ends.items() if found != {"<", ">="}} == {}


def test_the_workflow_tests_each_python_that_is_promised_and_the_lower_ends() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    (matrix,) = re.findall(r"^ +python: (\[.*\])$", workflow, re.MULTILINE)
    promised = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", text)]
    assert json.loads(matrix) == promised
    oldest = dict(
        line.split("==") for line in (ROOT / ".github" / "oldest.txt").read_text(encoding="utf-8").split()
    )
    lowest = {
        name: next(spec.version for spec in range_.specifier if spec.operator == ">=")
        for name, range_ in ranges(
            [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]
        ).items()
    }
    assert oldest == lowest
