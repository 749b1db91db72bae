"""Where in a longer output is the answer?

Only marked answers are read, as in GSM8K, MATH and chain-of-thought outputs, and the field "answer" of a JSON
object. Without a marker nothing is extracted: taking the last number, say, would be a guess.
"""

from __future__ import annotations

from typing import Final

import polars as pl

from calib_core.readers.json_values import split_last_object

_MAX_BRACE_DEPTH: Final = 5
"""How deep braces may nest inside a box."""

HASH_MARKER: Final = "####"
ANSWER_CUE: Final = (
    r"(?:\bthe\s+(?:final\s+|correct\s+)?answer\s+is\b\s*:?"
    r"|(?:^|\n)(?:[\s*>_]|##+)*(?:final\s+|correct\s+)?answer\s*:)"
)
_DENIED_CUE: Final = (
    r"(?i)(?:(?:n['’]t|\bnot)\s+(?:\w+\s+)?(?:think|believe|claim|say|mean|agree|sure|certain|convinced|true"
    r"|correct|know|clear|likely)|\b(?:if|whether|suppose|assume|assuming|doubt))"
    r"\s+(?:(?:that|if|whether)\s+)?the\s+(?:final\s+|correct\s+)?answer\s+is\b"
)
"""An answer that is denied or only supposed: "I don't think the answer is 5", "if the answer is 5"."""
_MARKUP: Final = " \t\r*_`"


def _nested_braces(depth: int) -> str:
    """A pattern for text whose braces match, nested no deeper than that."""
    return r"[^{}]*" if depth == 0 else rf"(?:[^{{}}]|\{{{_nested_braces(depth - 1)}\}})*"


_LAST_BOX: Final = r"(?s)^.*\\(?:boxed|fbox)(.*)$"
_BOX_CONTENT: Final = rf"(?s)^\s*\{{({_nested_braces(_MAX_BRACE_DEPTH)})\}}"
_TEXT_COMMAND: Final = r"^\s*\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]*)\}\s*$"
_FIRST_SENTENCE: Final = r"^(.*?)(?:[.!](?:\s.*)?|;(?:\s+[^\s0-9$+−-].*)?)$"
_FACTORIAL: Final = r"[0-9)\]}]\s*!"
_LAST_LINE: Final = r"(?:^|\n)A:[ \t]*([^\n]+?)\s*$"

_ANY_MARKER: Final = r"(?i)answer|\\(?:boxed|fbox)|####|(?:^|\n)A:"
"""Some part of each marker that there is."""


def may_have_marker(text: pl.Series) -> pl.Series:
    """Which texts may have a marker: Boolean of its shape, false where it is null.

    Whatever has none of these is not looked through marker by marker.
    """
    return text.str.contains(_ANY_MARKER).fill_null(value=False)


def boxed_answer(text: pl.Series) -> pl.Series:
    """What LaTeX's last box, boxed{…} or fbox{…}, holds; null where there is none or it is cut off."""
    return text.str.extract(_LAST_BOX, 1).str.extract(_BOX_CONTENT, 1).str.replace(_TEXT_COMMAND, "${1}")


def json_answer(text: pl.Series) -> tuple[pl.Series, pl.Series]:
    """The answer in the JSON object that each output ends with, and what stands before that object.

    Null and the output itself where it ends with none; see `answer_field.last_object`.
    """
    bare = text.str.strip_chars()
    closed = (bare.str.starts_with("{") & bare.str.ends_with("}")) | bare.str.ends_with("```")
    at = (closed & bare.str.contains('(?i)answer *"')).fill_null(value=False).arg_true()
    found = [split_last_object(output) for output in bare.gather(at)]
    here = [(place, *one) for place, one in zip(at, found, strict=True) if one[1] is not None]
    places = [place for place, _, _ in here]
    answers = pl.Series(text.name, [None], dtype=pl.String).new_from_index(0, text.len())
    if not here:
        return answers, text
    before = [rest or None for _, rest, _ in here]
    return answers.scatter(places, [answer for _, _, answer in here]), text.clone().scatter(places, before)


def rest_after_first(marker: str, text: pl.Series) -> pl.Series:
    """The rest of the line after the first place where the pattern `marker` is; null where it is nowhere."""
    return _rest_of_line(rf"(?is)^.*?{marker}[\s*_]*", text)


def rest_after_last(marker: str, text: pl.Series) -> pl.Series:
    """The rest of the line after the last place where the pattern `marker` is; null where it is nowhere."""
    return _rest_of_line(rf"(?is)^.*{marker}[\s*_]*", text)


def last_line_answer(text: pl.Series) -> pl.Series:
    """What follows "A:" on the last line; null where the last line does not begin so."""
    return _strip_markup(text.str.extract(_LAST_LINE, 1))


def first_sentence(text: pl.Series) -> pl.Series:
    """The text up to the first full stop before white space or the end; null where there is none."""
    return _strip_markup(text.str.extract(_FIRST_SENTENCE, 1))


def marked_answers(text: pl.Series) -> list[tuple[pl.Series, pl.Series]]:
    """What stands at each marker: the last box, and the first and the last place of #### and of the cue.

    Of an output that ends with a JSON object also the answer in it, and the other markers are those before
    the object. Each with its first sentence; String of the shape of `text`, null where the marker is nowhere;
    those null throughout are left out. A cue that denies or only supposes an answer is none. Where the
    markers differ the output names several answers, and none of them is its answer. In a box or an object
    "5!" is a factorial and no sentence of "5".
    """
    inside, text = json_answer(text)
    box = boxed_answer(text)
    found = [rest_after_first(HASH_MARKER, text), rest_after_last(HASH_MARKER, text)]
    said = text.str.replace_all(_DENIED_CUE, "")
    found += [rest_after_first(ANSWER_CUE, said), rest_after_last(ANSWER_CUE, said)]
    held = [(one, first_sentence(one.set(one.str.contains(_FACTORIAL).fill_null(value=False), None)))
            for one in (inside, box)]  # fmt: skip
    pairs = [*held, *((one, first_sentence(one)) for one in found)]
    return [(one, sentence) for one, sentence in pairs if one.null_count() < one.len()]


def _rest_of_line(up_to: str, text: pl.Series) -> pl.Series:
    """The rest of the line after the pattern, null where it does not match."""
    # Not `extract`: a pattern without groups is matched many times faster.
    rest = text.str.replace(up_to, "")
    return _strip_markup(rest.set(rest == text, None).str.replace(r"(?s)\n.*$", ""))


def _strip_markup(text: pl.Series) -> pl.Series:
    """Without emphasis and white space around it; null where nothing, or another marker, is left."""
    bare = text.str.strip_chars(_MARKUP)
    return bare.set((bare == "") | bare.str.contains(r"\\(?:boxed|fbox)|####"), None)
