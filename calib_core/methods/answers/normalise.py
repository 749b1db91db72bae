"""When are two answers equal? Text → a normal form, which is the same text for equal answers.

There is one normal form for each kind of answer: number, text and choice (decision 0011). Within a longer
output, the answer is what stands at its markers (`extract`), provided that all markers agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, Literal, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from calib_core.methods.answers.extract import (
    first_sentence,
    last_line_answer,
    marked_answers,
    may_have_marker,
)
from calib_core.methods.columns import column
from calib_core.runs import AnswerRun

AnswerKind = Literal["number", "text", "choice"]
ANSWER_KINDS: Final[tuple[AnswerKind, ...]] = ("number", "text", "choice")

CHOICE_LETTERS: Final = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
"""Names of the first choices; later ones are named by their index."""

_LETTER_PATTERN: Final = r"^[*_`]*[(\[]?\s*([A-Za-z])\s*[)\].:]*[*_`]*[.:]?$"
_LEADING_LETTER: Final = r"(?s)^\s*[*_`]*[(\[]?([A-Za-z])[)\].:]+[*_`]*\s+(\S.*)$"
"""A choice's letter, and what the model says of it: "B. Rome", "(B) because of this"."""
_FURTHER_LETTER: Final = (
    r"(?:^|[\s(\[*_`/])[A-Z](?:[)\]]|[*_`.]*$)|(?i:\b(?:or|and)\b|/)\s*[(\[*_`]*[A-Z](?:[^A-Za-z]|$)"
)
"""Another letter after the first, which leaves open what is meant: "(B) or (C)"."""
MIN_LETTER_SHARE: Final = 0.1
"""Least share of answers that name letters where letters stand for choices that the file does not list."""
_INDEX_PATTERN: Final = r"^\s*([0-9]{1,4})\.?\s*$"


def encode_texts(text: pl.Series) -> tuple[NDArray[np.uint32], pl.Series]:
    """Number texts so that equal texts have equal numbers.

    Parameters
    ----------
    text : String series, shape (n,)
        Null is one of the texts.

    Returns
    -------
    numbers : uint32 array, shape (n,)
        From 0 on.
    distinct : String series
        The distinct texts in the order of their numbers; null, if there is one, last.

    Examples
    --------
    >>> numbers, distinct = encode_texts(pl.Series(["a", "b", None, "a"]))
    >>> numbers.tolist(), distinct.to_list()
    ([0, 1, 2, 0], ['a', 'b', None])
    """
    categories = pl.Categories.random()
    # The series owns the dictionary and must outlive it.
    categorical = text.cast(pl.Categorical(categories))
    texts = categories.to_series().alias(text.name)
    missing = pl.Series(text.name, [None], dtype=pl.String) if categorical.has_nulls() else texts.clear()
    numbers = categorical.to_physical().fill_null(texts.len()).to_numpy()
    return numbers, pl.concat([texts, missing])


# --- Numbers ------------------------------------------------------------------------------------------------

_CURRENCY_BEFORE: Final = r"^([+-]?)\s*[$€£¥]\s*"
_CURRENCY_AFTER: Final = r"\s*[$€£¥]\.?$"
_PERCENT: Final = r"(?i)^(.*?)\s*(?:%|\bper\s?cent\b)\s*([$€£¥]?)\.?$"
_ENDS_IN_PERCENT: Final = r"(?i)(?:%|\bper\s?cent)\s*[$€£¥]?\.?\s*$"
_POSSIBLE_NUMBER: Final = r"(?i)^(?:[^\p{L}]|\\[dt]?frac|\bper\s?cent\b|e)*$"
"""A text with other letters is not a number, which this finds out cheaply."""
_CANONICAL: Final = r"^(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])$"
"""Numbers that are already in normal form, as most are."""
_SCIENTIFIC_PATTERN: Final = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,2})\.?$"
_INTEGER_PART: Final = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]*"
"""Excludes "0,123", whose comma does not separate thousands."""
_NUMBER_PATTERN: Final = rf"^(?<sign>[+-]?)(?<whole>{_INTEGER_PART})(?:\.(?<fraction>[0-9]*))?\.?$"
_FRACTION_PATTERN: Final = r"^([+-]?\s*(?:[0-9]{1,30}\s+)?[0-9]{1,30}\s*/\s*[0-9]{1,30})\.?$"
_LATEX_REPLACEMENTS: Final = (
    (r"\\[dt]?frac\s*\{\s*([+-]?[0-9]+)\s*\}\s*\{\s*([0-9]+)\s*\}\B", " ${1}/${2}"),
    (r"\\[dt]?frac\s*([0-9])\s*([0-9])\b", " ${1}/${2}"),
    (r"\\([$%])", "${1}"),
    (r"\{,\}|,\\!", ","),
    (r"\\[()\[\]]", ""),
    (r"\\[,; ]|~", " "),
)


def number_form(text: pl.Series) -> pl.Series:
    """Normal form of numbers; null where the text is not a number.

    Surrounding white space, a currency sign, a percent sign or word, thousands separators (commas before
    groups of three), a plus sign, needless zeros and a final full stop are dropped. A fraction or mixed
    number, also in LaTeX, becomes a decimal if that is finite, otherwise a fraction in lowest terms. Nothing
    is rounded.

    Parameters
    ----------
    text : pl.Series of String, shape (n,)
        Texts.

    Returns
    -------
    pl.Series of String, shape (n,)

    Examples
    --------
    >>> number_form(pl.Series(["$1,234.50", "20%", "2/6", "1 1/2", "18 apples"])).to_list()
    ['1234.5', '20', '1/3', '1.5', None]
    """
    plain = text.str.contains(_CANONICAL).fill_null(value=False)
    forms = text.set(~plain, None).alias("form")
    maybe = (text.str.contains(_POSSIBLE_NUMBER).fill_null(value=False) & ~plain).arg_true()
    return forms.scatter(maybe, _forms_of_distinct(text.gather(maybe))) if maybe.len() else forms


def _forms_of_distinct(text: pl.Series) -> pl.Series:
    # Few numbers occur, and often: each is read once.
    distinct = text.unique().drop_nulls().alias("text")
    forms = pl.DataFrame({"text": distinct, "form": _parse_numbers(distinct)})
    return pl.DataFrame({"text": text}).join(forms, on="text", how="left", maintain_order="left")["form"]


def is_percent(text: pl.Series) -> pl.Series:
    """Which texts end in a percent sign or word. Boolean, null where the text is."""
    return text.str.contains(_ENDS_IN_PERCENT)


def _parse_numbers(text: pl.Series) -> pl.Series:
    bare = _without_latex(text)
    bare = bare.str.replace(_PERCENT, "${1}${2}")
    bare = bare.str.replace(_CURRENCY_BEFORE, "${1}").str.replace(_CURRENCY_AFTER, "").str.strip_chars()
    return _fraction_form(bare).fill_null(_decimal_form(_expand_scientific(bare)))


def _without_latex(text: pl.Series) -> pl.Series:
    """The text without LaTeX and without white space around it."""
    bare = text.str.replace_all("−", "-", literal=True)
    for pattern, plain in _LATEX_REPLACEMENTS:
        bare = bare.str.replace_all(pattern, plain)
    return bare.str.strip_chars()


def _fraction_form(number: pl.Series) -> pl.Series:
    """Fractions and mixed numbers in their one form, null for everything else."""
    fractions = number.str.extract(_FRACTION_PATTERN, 1)
    if fractions.null_count() == number.len():
        return fractions
    return fractions.map_elements(_lowest_terms, return_dtype=pl.String, skip_nulls=True)


def _lowest_terms(text: str) -> str | None:
    """ "-6/8" → "-0.75", "2/6" → "1/3", "1 1/2" → "1.5"; None for "1/0" and for "1 3/2"."""
    size, minus = text.lstrip("+-").strip(), text.startswith("-")
    before, _, under = size.partition("/")
    *whole, over = before.split()
    if int(under) == 0 or (whole and int(over) >= int(under)):
        return None
    value = Fraction(int(over), int(under)) + (int(whole[0]) if whole else 0)
    value = -value if minus else value
    # A fraction in lowest terms ends as a decimal just where a power of ten is a multiple of its denominator.
    places = value.denominator.bit_length()
    if 10**places % value.denominator:
        return f"{value.numerator}/{value.denominator}"
    digits = str(abs(int(value * 10**places))).zfill(places + 1)
    sign = "-" if value < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def _decimal_form(number: pl.Series) -> pl.Series:
    parts = number.str.extract_groups(_NUMBER_PATTERN).struct.unnest()
    # One stage per step: polars would compute the whole chain again for each mention in one expression.
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


def _expand_scientific(number: pl.Series) -> pl.Series:
    """Numbers in scientific notation written out ("1.5e3" → "1500"), everything else as it is."""
    scientific = number.str.extract(_SCIENTIFIC_PATTERN, 1)
    if scientific.null_count() == number.len():
        return number
    written = scientific.map_elements(
        lambda text: f"{Decimal(text):f}", return_dtype=pl.String, skip_nulls=True
    )
    return written.fill_null(number)


# --- Texts, choices and the normaliser of a run -------------------------------------------------------------


def text_form(text: pl.Series) -> pl.Series:
    """Lower case, single spaces, no final full stop: " New  York." → "new york".

    Null where nothing is left. String, shape of `text`.
    """
    form = text.str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    form = form.str.strip_suffix(".").str.strip_chars_end()
    return form.set(form == "", None)


def named_choice_index(text: pl.Series) -> pl.Series:
    """Index of the choice a letter or an index names: "(b)", "**B**", "1" → 1; null for any other text."""
    bare = text.str.strip_chars()
    return _letter_index(bare).fill_null(bare.str.extract(_INDEX_PATTERN, 1).cast(pl.Int64))


def _letter_index(bare: pl.Series) -> pl.Series:
    return bare.str.extract(_LETTER_PATTERN, 1).str.to_uppercase().str.to_integer(base=36) - 10


def choice_label(index: pl.Series) -> pl.Series:
    """The letter of a choice, 0 → "A"; the index from the 27th choice on. String, shape of `index`."""
    return index.replace_strict(
        range(len(CHOICE_LETTERS)), CHOICE_LETTERS, default=index.cast(pl.String), return_dtype=pl.String
    )


@dataclass(frozen=True, slots=True, eq=False)
class AnswerNormaliser:
    """How the answers of one run are normalised.

    Attributes
    ----------
    kind : pl.Series of String, shape (rows,)
        Kind of answer of each row of the run.
    choice_forms : pl.Series of String
        The distinct text forms of all choices.
    choice_table : pl.DataFrame
        Columns row, text (position in `choice_forms`) and index; one entry per distinct choice of a row that
        an answer names by its text.
    gold_choice_table : pl.DataFrame
        The same for the golds.
    n_choices : pl.Series of Int64, shape (rows,)
        Number of choices of each row; null where the run does not say.
    letters_only : bool
        Whether choices that the run does not list are named by letters alone: a number may count from 0 or
        from 1.
    """

    kind: pl.Series
    choice_forms: pl.Series
    choice_table: pl.DataFrame
    gold_choice_table: pl.DataFrame
    n_choices: pl.Series
    letters_only: bool = False

    @classmethod
    def for_run(cls, run: AnswerRun) -> Self:
        """The normaliser of a run.

        The kind of a row is the run's named normaliser, otherwise its `answer_kind`, otherwise choice if the
        row has choices (or its gold is an index), otherwise number if the golds of all other rows are
        numbers, choice if they are all letters and some answers name letters too, otherwise text.

        A choice whose own text is the letter of another choice of its row is named by its text only if the
        other rows don't show that answers, or golds, are letters (decision 0011).
        """
        forms, table, n_choices = _choice_tables(column(run, "choices"))
        of_answers = of_golds = table
        has_letter = table["text"].is_in(_letter_index(forms).is_not_null().arg_true().implode())
        if has_letter.any():
            letters = table.with_columns(letter=_letter_index(forms).gather(table["text"]))
            answers = _texts(run, ("prediction", "samples", "samples_parsed"))
            of_answers = _named_by_text(letters, forms, n_choices, answers)
            of_golds = _named_by_text(letters, forms, n_choices, _texts(run, ("gold", "gold_all")))
        kind, letters_only = _answer_kinds(run)
        return cls(kind, forms, of_answers, of_golds, n_choices, letters_only)

    def of_golds(self) -> Self:
        """The normaliser of the run's golds."""
        return replace(self, choice_table=self.gold_choice_table)

    def answer_forms(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """Normal form of each answer; null where it does not parse.

        Parameters
        ----------
        row : pl.Series of integers, shape (n,)
            Position of each answer's row in the run.
        text : pl.Series of String, shape (n,)
            The answers.
        """
        kind = self.kind.gather(row)
        forms = pl.Series("form", [None], dtype=pl.String).new_from_index(0, text.len())
        for name in ANSWER_KINDS:
            of_kind = kind == name
            if of_kind.all():
                return self._form_of_kind(name, row, text)
            if of_kind.any():
                part = self._form_of_kind(name, row.filter(of_kind), text.filter(of_kind))
                forms = forms.scatter(of_kind.arg_true(), part)
        return forms

    def output_forms(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """Normal form of each output, which may be longer than its answer; null where it does not parse.

        An output that is itself a number or a choice is its own answer. Any other output's answer is what
        stands at its markers, provided that all those that parse agree; free text without markers is its own
        answer. Without markers, an output that begins with a choice's letter names that choice. Parameters as
        in `answer_forms`.
        """
        alone = self.answer_forms(row, text)
        free = self.kind.gather(row) == "text"
        has_marker = may_have_marker(text)
        longer = ((alone.is_null() | free) & has_marker).arg_true()
        leading = self._leading_forms(row, text.set(has_marker.fill_null(value=False), None))
        alone = alone.fill_null(leading)
        if not longer.len():
            return alone
        of, outputs = row.gather(longer), text.gather(longer)
        numeric = self.kind.gather(of) == "number"
        line = last_line_answer(outputs).set(~numeric, None)
        found = [*marked_answers(outputs), (line, first_sentence(line))]
        forms = [
            self._marked_form(of, one).fill_null(self._marked_form(of, sentence)).alias(str(at))
            for at, (one, sentence) in enumerate(found)
        ]
        table = pl.DataFrame(forms).with_columns(said=pl.coalesce(pl.all()))
        said, same = table["said"], (pl.exclude("said") == pl.col("said")).fill_null(value=True)
        agree = table.select(agree=pl.all_horizontal(same))["agree"]
        whole = alone.gather(longer).set(said.is_not_null(), None)
        return alone.scatter(longer, said.set(~agree, None).fill_null(whole))

    def _marked_form(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """Normal form of an answer in a longer output, where a bare number is never the index of a choice."""
        forms = self.answer_forms(row, text)
        index = (self.kind.gather(row) == "choice") & text.str.contains(_INDEX_PATTERN)
        forms = forms.set(index & self._index_of_text(row, text).is_null(), None)
        return forms.fill_null(self._leading_forms(row, text))

    def _leading_forms(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """The choice whose letter an output begins with, as "B. Rome" does; null elsewhere."""
        letter = text.str.extract(_LEADING_LETTER, 1).set(self.kind.gather(row) != "choice", None)
        is_open = text.str.extract(_LEADING_LETTER, 2).str.contains(_FURTHER_LETTER).fill_null(value=False)
        index = _letter_index(letter.set(is_open, None))
        return choice_label(index.set(index >= self.n_choices.gather(row), None))

    def _form_of_kind(self, kind: AnswerKind, row: pl.Series, text: pl.Series) -> pl.Series:
        if kind == "number":
            return number_form(text)
        return text_form(text) if kind == "text" else choice_label(self.choice_index(row, text))

    def kinds(self, row: pl.Series) -> tuple[AnswerKind, ...]:
        """The kinds of answer among these rows, in the order of `ANSWER_KINDS`."""
        present = set(self.kind.gather(row).to_list())
        return tuple(kind for kind in ANSWER_KINDS if kind in present)

    def choice_index(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """0-based index of the choice each answer names: by its text, else by letter, else by index.

        Null where it names none of the row's choices. Parameters as in `answer_forms`.
        """
        named = named_choice_index(text)
        if self.letters_only:
            letter = _letter_index(text.str.strip_chars())
            named = letter.zip_with(self.n_choices.gather(row).is_null(), named)
        return self._index_of_text(row, text).fill_null(named.set(named >= self.n_choices.gather(row), None))

    def _index_of_text(self, row: pl.Series, text: pl.Series) -> pl.Series:
        """Index of the row's choice with this text; null if there is none."""
        return self.index_in_row(row, self.form_place(text_form(text)))

    def form_place(self, forms: pl.Series) -> pl.Series:
        """Position of each text form in `choice_forms`, UInt32; null where it is not a choice."""
        places = pl.DataFrame({"text": self.choice_forms}).with_row_index("place")
        asked = pl.DataFrame({"text": forms})
        return asked.join(places, on="text", how="left", maintain_order="left")["place"]

    def index_in_row(self, row: pl.Series, place: pl.Series) -> pl.Series:
        """0-based index of the row's choice with this text form; `place` is as from `form_place`."""
        asked = pl.DataFrame({"row": row.cast(pl.UInt32), "text": place})
        return asked.join(self.choice_table, on=["row", "text"], how="left", maintain_order="left")["index"]


def normaliser_of_kind(kind: AnswerKind, choices: Sequence[str] = ()) -> AnswerNormaliser:
    """The normaliser of a single question in row 0, with its choices if they are known."""
    listed = pl.Series("choices", [list(choices) or None], dtype=pl.List(pl.String))
    forms, table, n_choices = _choice_tables(listed)
    return AnswerNormaliser(pl.Series("kind", [kind]), forms, table, table, n_choices)


def _choice_tables(choices: pl.Series) -> tuple[pl.Series, pl.DataFrame, pl.Series]:
    """The distinct texts of choices, which of them each row has, and how many choices that are."""
    count = choices.list.len().cast(pl.Int64)
    rows = pl.DataFrame({"row": pl.int_range(choices.len(), dtype=pl.UInt32, eager=True), "text": choices})
    rows = rows.filter(pl.col("text").list.len() > 0)
    long = rows.with_columns(index=pl.int_ranges(pl.col("text").list.len())).explode("text", "index")
    # The same few texts are the choices of many rows: each is normalised once, and compared by its number.
    numbers, distinct = encode_texts(long["text"])
    places, texts = encode_texts(text_form(distinct))
    of_each = places[numbers]
    long = long.with_columns(text=pl.Series(of_each))
    long = long.filter(pl.Series(texts.is_not_null().to_numpy()[of_each]))
    of_row = long["row"].cast(pl.UInt64) * texts.len() + long["text"]
    return texts, long.filter(of_row.is_first_distinct()), count.set(count == 0, None)


def _named_by_text(
    letters: pl.DataFrame, forms: pl.Series, n_choices: pl.Series, texts: pl.DataFrame
) -> pl.DataFrame:
    """The choice table without those texts that are letters of other choices, if `texts` are letters.

    Whether they are is decided by the rows where no choice's text is a letter: `texts` name choices by letter
    there more often than by text.

    Parameters
    ----------
    letters : pl.DataFrame
        A choice table with a column letter: which choice the text would name as a letter; may be null.
    forms, n_choices
        As in `AnswerNormaliser`.
    texts : pl.DataFrame
        Columns row and text; no null.
    """
    is_letter = (pl.col("letter") < pl.col("n")).fill_null(value=False)
    letters = letters.with_columns(n=n_choices.gather(letters["row"]))
    clear = texts.filter(~pl.col("row").is_in(letters.filter(is_letter)["row"].implode()))
    asked = clear.select("row", index=_letter_index(clear["text"].str.strip_chars())).drop_nulls()
    by_letter = (asked["index"] < n_choices.gather(asked["row"])).sum()
    places = pl.DataFrame({"text": forms}).with_row_index("place")
    listed = clear.select("row", text=text_form(clear["text"])).join(places, on="text")
    by_text = listed.join(letters, left_on=["row", "place"], right_on=["row", "text"], how="semi").height
    if by_letter > by_text:
        letters = letters.filter(~is_letter)
    return letters.drop("letter", "n")


def _texts(run: AnswerRun, names: Sequence[str]) -> pl.DataFrame:
    """The texts in these columns, and what stands at their markers: columns row and text; no null."""
    parts: list[pl.DataFrame] = []
    for texts in (column(run, name) for name in names):
        row = pl.int_range(texts.len(), dtype=pl.UInt32, eager=True)
        part = pl.DataFrame({"row": row, "text": texts}).drop_nulls()
        parts.append(part.explode("text") if isinstance(texts.dtype, pl.List) else part)
    written = pl.concat(parts).drop_nulls()
    longer = written.filter(may_have_marker(written["text"]))
    marked = [longer.with_columns(text=sentence) for _, sentence in marked_answers(longer["text"])]
    return pl.concat([written, *marked]).drop_nulls()


def _answer_kinds(run: AnswerRun) -> tuple[pl.Series, bool]:
    """The kind of answer of each row, and whether letters are what says that some are choices."""
    if run.info.answer_normaliser in ANSWER_KINDS:
        return pl.Series("kind", [run.info.answer_normaliser]).new_from_index(0, run.rows.height), False
    stated = column(run, "answer_kind")
    gold = column(run, "gold").fill_null(column(run, "gold_all").list.first())
    gold_index = column(run, "gold_index")
    by_index = gold_index.is_not_null()
    if by_index.any():
        by_index &= gold.is_null() | (named_choice_index(gold) == gold_index)
    choice = (column(run, "choices").list.len() > 0).fill_null(value=False) | by_index.fill_null(value=False)
    kind = stated.set(stated.is_not_null() & ~stated.is_in(ANSWER_KINDS), "text")
    kind = kind.set(stated.is_null() & choice, "choice")
    rest = kind.is_null()
    golds = gold.filter(rest).drop_nulls()
    if _all_numbers(golds):
        return kind.fill_null("number"), False
    letters_only = _letters_name_choices(run, rest, golds)
    return kind.fill_null("choice" if letters_only else "text"), letters_only


def _all_numbers(texts: pl.Series) -> bool:
    """Whether every text reads as a number, and there is one."""
    one = normaliser_of_kind("number")

    def are(some: pl.Series) -> bool:
        row = pl.zeros(some.len(), dtype=pl.UInt32, eager=True)
        return not one.output_forms(row, some).has_nulls()

    # Where they are words the first of them says so.
    return texts.len() > 0 and are(texts.head(1)) and are(texts.unique())


def _letters_name_choices(run: AnswerRun, of_rows: pl.Series, golds: pl.Series) -> bool:
    """Whether the choices that these rows don't list are named by letters: all golds, and some answers."""
    if not golds.len() or _letter_index(golds.unique().str.strip_chars()).has_nulls():
        return False
    answers = _texts(run, ("prediction", "samples", "samples_parsed"))
    answers = answers.filter(of_rows.gather(answers["row"]))
    letter = _letter_index(answers["text"].str.strip_chars())
    named = answers.filter(letter.is_not_null() | answers["text"].str.contains(_LEADING_LETTER))["row"]
    return 0 < MIN_LETTER_SHARE * answers["row"].n_unique() <= named.n_unique()


def choice_texts(rows: pl.DataFrame, position: NDArray[np.integer[Any]] | pl.Series) -> pl.Series:
    """The text of the choice at a position of each row, its letter where the file has no texts.

    rows: of a run's frame; position: 0-based, one a row. Returns String, null where the position is.
    """
    index = pl.Series("choice", position).cast(pl.Int64)
    name = choice_label(index)
    if "choices" not in rows.columns:
        return name
    return rows["choices"].list.get(index, null_on_oob=True).fill_null(name).alias("choice")
