"""The colour changes of a report turn the light figure into the dark one."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from calib_core.reporting.document import colour_changes
from report_html import apply_changes

PART = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["red", "blue", ""]),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("abc"), part, max_size=3),
    max_leaves=8,
)


@given(PART, PART)
def test_the_changes_turn_one_into_the_other(light: object, dark: object) -> None:
    sent = json.loads(json.dumps(colour_changes(light, dark)))
    assert json.dumps(apply_changes(light, sent), sort_keys=True) == json.dumps(dark, sort_keys=True)


def test_only_what_differs_is_kept() -> None:
    light = {"data": [{"x": [1, 2], "line": {"color": "red"}}], "layout": {"height": 300}}
    dark = {"data": [{"x": [1, 2], "line": {"color": "blue"}}], "layout": {"height": 300}}
    assert colour_changes(light, dark) == {"data": {"0": {"line": {"color": ["blue"]}}}}
    assert not colour_changes(light, light)
