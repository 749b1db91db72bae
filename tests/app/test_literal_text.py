"""Text from a file is shown literally wherever a page prints it."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1.element_tree import Block, Element

import screens
from pages.state.markdown import escape_markdown
from predictions import quiz, write_csv, write_jsonl
from screens import ShowFolder, Visit

HOSTILE = [
    "![x](http://calib.invalid/a.png)",
    "<img src=http://calib.invalid/b.png onerror=alert(1)>",
    "<script>alert(1)</script>",
    "[link](http://calib.invalid)",
    "http://calib.invalid/bare",
    "someone@calib.invalid",
    "**bold** __bold__ ~~gone~~ `code`",
    "# heading",
    "- item",
    "1. item",
    "> quote",
    "| a | b |",
    ":red[red] :blue-background[b] :smile:",
    ":material/home: :streamlit:",
    "$x^2$ $$y$$",
    "a -> b <- c -- d >= e",
    "&amp; &lt;b&gt; &#33;",
    "back\\slash \\[x\\] ends\\",
    "{braces} {{more}} %s %(x)s",
    "tab\tand\nnew line\r\nend",
    "\u202eright to left\u202c \u0000null",
    '=HYPERLINK("http://calib.invalid")',
]
INERT = {"code", "dataframe", "plotly_chart", "html", "text", "text_input", "event"}
"""Elements that show text as it is; the plotly figure has its own test."""
NOT_SHOWN = {
    "id",
    "options",
    "query_string",
    "page",
    "spec",
    "alt",
    "config",
    "element_id",
    "file_name",
    "url",
    "raw_value",
    "raw_values",
    "value",
    "default",
    "page_script_hash",
    "block_id",
    "key",
}
"""Fields that Markdown never sees: option texts, addresses, ids, values."""


def fold_white_space(text: str) -> str:
    """The text as `literal` promises to show it: white space folded."""
    return " ".join(text.split())


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_read_is_what_was_written(text: str) -> None:
    assert screens.plain(escape_markdown(text)) == fold_white_space(text)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\u2060")))
def test_any_text_is_escaped(text: str) -> None:
    assert screens.plain(escape_markdown(text)) == fold_white_space(text)


@given(st.text() | st.text(alphabet=string.punctuation + "ab 1"))
def test_no_mark_stands_without_its_backslash(text: str) -> None:
    shown = escape_markdown(text)
    rest = re.sub(r"\\[!-/:-@\[-`{-~]", "", shown)
    assert not set(rest) & set(string.punctuation)
    assert "\n" not in shown
    shown.encode("utf-8")


@pytest.mark.parametrize("number", ["0.1276", "4.8e-12", "1-2", "It is 0.25."])
def test_a_number_holds_no_invisible_character(number: str) -> None:
    assert "\u2060" not in escape_markdown(number)


@pytest.mark.parametrize("text", ["www.1.de", "a->5", "1--", "3.x", "x.5"])
def test_what_only_begins_like_a_number_is_separated(text: str) -> None:
    assert "\u2060" in escape_markdown(text)


@pytest.mark.parametrize("mark", ":@-<>~=.")
def test_marks_that_work_behind_a_backslash_are_separated(mark: str) -> None:
    assert escape_markdown(f"a{mark}b") == f"a\u2060\\{mark}b"


def test_half_a_character_is_shown_as_a_mark_of_replacement() -> None:
    assert escape_markdown("a\ud800b") == "a\\?b"


def is_unescaped(text: str, sent: str) -> bool:
    """Whether `sent` has the text unescaped, with a mark that Markdown may interpret."""
    marks = any(mark in string.punctuation for mark in text)
    return marks and re.search(r"(?<!\\)" + re.escape(text), sent) is not None


def strings(proto: Any) -> Iterator[str]:
    """Every text in a message to the browser that it may take for Markdown."""
    for field, value in proto.ListFields():
        if field.name in NOT_SHOWN:
            continue
        for part in value if field.is_repeated else (value,):
            if isinstance(part, str):
                yield part
            elif hasattr(part, "ListFields"):
                yield from strings(part)


def read_as_markdown(at: screens.AppTest) -> str:
    """Every text on the page, in the sidebar too, that goes through Markdown, as it is sent."""
    texts: list[str] = []
    for node in screens.walk(at._tree):
        proto = getattr(node, "proto", None)
        if proto is not None and isinstance(node, Element | Block) and node.type not in INERT:
            texts.extend(strings(proto))
    return "\n".join(texts)


def hostile_rows(text: str) -> list[dict[str, Any]]:
    return [
        {
            **row,
            "id": f"{row['id']} {text}",
            "subject": text,
            "question": text,
            "prediction": text,
            "gold": text,
            "model": f"model {text}",
            "dataset": f"set {text}",
            text or "x": text,
        }
        for row in quiz(40)
    ]


@pytest.mark.parametrize("first", range(0, len(HOSTILE), 4))
@pytest.mark.parametrize("page", ["reliability", "files"])
def test_no_text_of_a_file_reaches_markdown_raw(page: str, first: int, data: Path, visit: Visit) -> None:
    parts = HOSTILE[first : first + 4]
    text = " ".join(parts)
    rows = hostile_rows(text)
    write_jsonl(data / "hostile.jsonl", rows)
    write_jsonl(data / "bad.jsonl", [{**rows[0], "confidence": text}, rows[1]])
    write_jsonl(data / "refused.jsonl", [{text: "1", "other": text}])
    at = visit(page, good="bad.jsonl", bin="8", method=text)
    sent = read_as_markdown(at)
    assert [
        part
        for part in (*parts, text)
        if is_unescaped(part, sent) or is_unescaped(fold_white_space(part), sent)
    ] == []
    if page == "files":
        assert escape_markdown(text) in sent, "the names of columns and runs are shown"
    else:
        asked = [screens.plain(warning.value) for warning in at.warning]
        assert any(fold_white_space(parts[0]) in message for message in asked)


def test_names_of_files(data: Path, visit: Visit) -> None:
    name = "![x](x.png) :red[a] $y$ `b` <i>.csv"
    write_csv(data / name, quiz(40))
    write_csv(data / f"bad {name}", [{"confidence": 7, "correct": 1}, {"confidence": 0.5, "correct": 1}])
    (data / f"refused {name}").write_text("colour\nred\n")
    for page in ("start", "reliability", "concentration", "files"):
        at = visit(page)
        assert name not in read_as_markdown(at), page
        assert escape_markdown(f"bad {name}") in read_as_markdown(at), page


@pytest.mark.parametrize("page", ["reliability", "concentration"])
def test_no_name_is_html_in_a_figure(page: str, data: Path, visit: Visit) -> None:
    text = "<b>bold</b> <a href='http://calib.invalid'>link</a> &lt; <img src=x>"
    write_jsonl(data / "hostile.jsonl", hostile_rows(text))
    at = visit(page, **({"with": "given"} if page == "concentration" else {"bin": "8"}))
    charts = at.get("plotly_chart")
    assert charts
    for chart in charts:
        drawn = json.dumps(json.loads(chart.proto.spec))
        assert "<a " not in drawn
        assert "<img" not in drawn


def test_tables_and_options_hold_the_text_itself(data: Path, visit: Visit) -> None:
    text = HOSTILE[0]
    rows = hostile_rows(text)
    write_jsonl(data / "hostile.jsonl", rows)
    at = visit("reliability", bin="8")
    questions = screens.table(at, "question", "confidence")
    assert set(questions["question"]) == set(questions["gold"]) == {text}
    [option] = screens.control(at, "run").options
    beginning, _, end = option.partition(
        "…"
    )  # the names are cut in the middle, and the caption has them whole
    title = f"model {text} · set {text}"
    assert len(beginning) > 10
    assert title.startswith(beginning)
    assert end
    assert any(title in screens.plain(caption.value) for caption in at.sidebar.caption)


def many_hostile_runs() -> list[dict[str, Any]]:
    """One run per text, which is its model, checkpoint, column, subject, answers and samples."""
    return [
        {
            **row,
            "id": f"{number} {text}",
            "subject": text,
            "question": text,
            "gold": text,
            "model": f"m {text}",
            "tuning": text,
            "dataset": "set",
            f"c {text}": text,
            "correct": number % 2,
            "prediction": text,
            "samples": [text, text, f"{text}!", "b"],
            "checkpoint": f"{step} {text}",
        }
        for at, text in enumerate(HOSTILE)
        for step in ((1, 2) if at < 3 else (1,))
        for number, row in enumerate(quiz(6, seed=step))
    ]


@pytest.fixture(scope="module")
def folder_of_many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of those runs, and of a file with a bad row."""
    made = tmp_path_factory.mktemp("many")
    write_jsonl(made / "many.jsonl", many_hostile_runs())
    bad = [{"confidence": 7, "correct": 1}, {"confidence": 0.5, "correct": 1}]
    write_csv(made / "**bad** ![x](x.png).csv", bad)
    return made


@pytest.mark.parametrize("page", screens.SCRIPTS)
def test_no_text_of_many_runs_is_read_as_anything_on_any_page(
    page: str, show_folder: ShowFolder, folder_of_many: Path, visit: Visit
) -> None:
    show_folder(folder_of_many)
    at = visit(page)
    sent = read_as_markdown(at)
    assert not [
        text for text in HOSTILE if is_unescaped(fold_white_space(text), sent) or is_unescaped(text, sent)
    ]
    bodies = [node.proto.body for node in screens.walk(at._tree) if getattr(node, "type", "") == "html"]
    drawn = [chart.proto.spec for chart in at.get("plotly_chart")]
    for text in (*bodies, *drawn):
        assert not re.search(r"<(?:img|script|iframe|a )", text)
