"""When are two answers the same?  Text → a normal form, in which equal answers are equal text.

One normaliser a kind of answer: number, text, choice. They read an answer that stands alone; they do
not look for one inside a longer text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, Self, cast

import polars as pl

from calib_core.confidence.columns import column
from calib_core.records import AnswerRun

Kind = Literal["number", "text", "choice"]
KINDS: Final[tuple[Kind, ...]] = ("number", "text", "choice")

LETTERS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Names of the first choices; a later one is called by its index."""

_CURRENCY_BEFORE: Final = r"^([+-]?)\s*[$€£¥]\s*"
_CURRENCY_AFTER: Final = r"\s*[$€£¥]\.?$"
_SCIENTIFIC: Final = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,2})\.?$"
_NUMBER: Final = r"^(?<sign>[+-]?)(?<whole>[0-9]{1,3}(?:,[0-9]{3})+|[0-9]*)(?:\.(?<fraction>[0-9]*))?\.?$"
_LETTER: Final = r"^[(\[]?\s*([A-Za-z])\s*[)\].:]*$"
_INDEX: Final = r"^([0-9]{1,4})\.?$"


def number_form(text: pl.Series) -> pl.Series:
    """A number written in one way: "$1,234.50" → "1234.5", "-0" → "0", ".5" → "0.5", "1e3" → "1000".

    Dropped are white space around it, a currency sign, thousands separators (commas before groups of
    three), a plus sign, needless zeros and a final full stop. Exact: no rounding, however long. Null
    where the text is no number, e.g. "1,23", "20%", "3/4", "18 apples". String, shape of `text`.
    """
    # Few numbers occur, and often: each is read once.
    distinct = text.unique().drop_nulls().alias("text")
    forms = pl.DataFrame({"text": distinct, "form": _number_form(distinct)})
    return pl.DataFrame({"text": text}).join(forms, on="text", how="left", maintain_order="left")["form"]


def _number_form(text: pl.Series) -> pl.Series:
    bare = text.str.strip_chars().str.replace_all("−", "-", literal=True)
    bare = bare.str.replace(_CURRENCY_BEFORE, "${1}").str.replace(_CURRENCY_AFTER, "")
    parts = _written_out(bare).str.extract_groups(_NUMBER).struct.unnest()
    # One step a stage: polars would compute the whole chain anew for each mention in one expression.
    parts = parts.with_columns(
        pl.col("whole").str.replace_all(",", "", literal=True), pl.col("fraction").fill_null("")
    )
    parts = parts.with_columns(
        there=pl.col("whole") + pl.col("fraction") != "",
        digits=pl.col("whole").str.strip_chars_start("0").replace("", "0"),
        decimals=pl.col("fraction").str.strip_chars_end("0"),
    )
    point = pl.when(pl.col("decimals") != "").then(pl.lit(".")).otherwise(pl.lit(""))
    parts = parts.with_columns(size=pl.col("digits") + point + pl.col("decimals"))
    minus = (pl.col("sign") == "-") & (pl.col("size") != "0")
    sign = pl.when(minus).then(pl.lit("-")).otherwise(pl.lit(""))
    return parts.select(form=pl.when("there").then(sign + pl.col("size")))["form"]


def _written_out(number: pl.Series) -> pl.Series:
    """Numbers in scientific notation written out ("1.5e3" → "1500"), everything else as it is."""
    scientific = number.str.extract(_SCIENTIFIC, 1)
    if scientific.null_count() == number.len():
        return number
    written = scientific.map_elements(
        lambda text: f"{Decimal(text):f}", return_dtype=pl.String, skip_nulls=True
    )
    return written.fill_null(number)


def text_form(text: pl.Series) -> pl.Series:
    """Lower case, single spaces, no final full stop: " New  York." → "new york".

    Null where nothing is left. String, shape of `text`.
    """
    form = text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    form = form.str.strip_suffix(".").str.strip_chars_end()
    return form.set(form == "", None)


def named_index(text: pl.Series) -> pl.Series:
    """Index of the choice a letter or an index names: "(b)", "B.", "1" → 1; null for any other text."""
    bare = text.str.strip_chars()
    letter = bare.str.extract(_LETTER, 1).str.to_uppercase().str.to_integer(base=36) - 10
    return letter.fill_null(bare.str.extract(_INDEX, 1).cast(pl.Int64))


def choice_name(index: pl.Series) -> pl.Series:
    """The letter of a choice, 0 → "A"; from the 27th choice on its index. String, shape of `index`."""
    return index.replace_strict(
        range(len(LETTERS)), LETTERS, default=index.cast(pl.String), return_dtype=pl.String
    )


@dataclass(frozen=True, slots=True, eq=False)
class Normaliser:
    """How the answers of one run are normalised.

    kind: the kind of answer of each row of the run, String, shape (rows,); listed: the choices,
    columns row, form (their text form) and index, one row a distinct text; choices: how many choices
    each row has, shape (rows,), null where the run does not say.
    """

    kind: pl.Series
    listed: pl.DataFrame
    choices: pl.Series

    @classmethod
    def of(cls, run: AnswerRun) -> Self:
        """The normaliser of a run.

        The kind is the run's named normaliser, else `answer_kind`, else choice for a row with choices
        (or whose gold is an index), else number if the gold of every other row is one, else text.
        """
        return cls(_kinds(run), *_listed(column(run, "choices")))

    def forms(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """Normal form of each answer; null where it does not parse.

        row: position of the answer's question in the run, whole numbers; text: String; both of one shape.
        """
        kind = self.kind.gather(row)
        forms = pl.Series("form", [None], dtype=pl.String).new_from_index(0, text.len())
        for name in KINDS:
            of_kind = kind == name
            if of_kind.all():
                return self._form(name, row, text)
            if of_kind.any():
                part = self._form(name, row.filter(of_kind), text.filter(of_kind))
                forms = forms.scatter(of_kind.arg_true(), part)
        return forms

    def _form(self, kind: Kind, row: pl.Series, text: pl.Series) -> pl.Series:
        if kind == "number":
            return number_form(text)
        return text_form(text) if kind == "text" else choice_name(self.choice_index(row, text))

    def kinds(self, row: pl.Series) -> tuple[Kind, ...]:
        """The kinds of answer among these rows, in the order of KINDS."""
        present = set(self.kind.gather(row).to_list())
        return tuple(kind for kind in KINDS if kind in present)

    def choice_index(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """0-based index of the choice each answer names: equal text first, then letter, then index.

        Null where it names none of the row's choices. Arguments as in `forms`.
        """
        answers = pl.DataFrame({"row": row.cast(pl.UInt32), "form": text_form(text)})
        listed = answers.join(self.listed, on=["row", "form"], how="left", maintain_order="left")["index"]
        named = named_index(text)
        return listed.fill_null(named.set(named >= self.choices.gather(row), None))


def normalise(text: str, kind: Kind, choices: Sequence[str] = ()) -> str | None:
    """Normal form of one answer, None where it does not parse; choices: the question's, if known."""
    listed = pl.Series("choices", [list(choices) or None], dtype=pl.List(pl.String))
    one = Normaliser(pl.Series("kind", [kind]), *_listed(listed))
    return cast("str | None", one.forms(pl.Series([0], dtype=pl.UInt32), pl.Series([text])).item())


def _listed(choices: pl.Series) -> tuple[pl.DataFrame, pl.Series]:
    """The choices as a table of distinct texts, and their number a row."""
    rows = pl.DataFrame({"row": pl.int_range(choices.len(), dtype=pl.UInt32, eager=True), "text": choices})
    rows = rows.filter(pl.col("text").list.len() > 0)
    long = rows.with_columns(index=pl.int_ranges(pl.col("text").list.len())).explode("text", "index")
    long = long.select("row", "index", form=text_form(long["text"])).drop_nulls()
    count = choices.list.len().cast(pl.Int64)
    return long.unique(["row", "form"], keep="first", maintain_order=True), count.set(count == 0, None)


def _kinds(run: AnswerRun) -> pl.Series:
    """The kind of answer of each row."""
    if run.info.answer_normaliser in KINDS:
        return pl.Series("kind", [run.info.answer_normaliser]).new_from_index(0, run.rows.height)
    stated = column(run, "answer_kind")
    gold = column(run, "gold").fill_null(column(run, "gold_all").list.first())
    gold_index = column(run, "gold_index")
    by_index = gold_index.is_not_null() & (gold.is_null() | (named_index(gold) == gold_index))
    choice = (column(run, "choices").list.len() > 0).fill_null(value=False) | by_index.fill_null(value=False)
    kind = stated.set(stated.is_not_null() & ~stated.is_in(KINDS), "text")
    kind = kind.set(stated.is_null() & choice, "choice")
    free = gold.filter(kind.is_null()).drop_nulls()
    numbers = free.len() > 0 and not number_form(free).has_nulls()
    return kind.fill_null("number" if numbers else "text")
