"""When are two numbers the same?  Text → a number written in one way, exactly.

Decision 0011: a fraction is the number that it is, a percent sign is a unit and is dropped, and nothing is
rounded.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Final

import polars as pl

_CURRENCY_BEFORE: Final = r"^([+-]?)\s*[$€£¥]\s*"
_CURRENCY_AFTER: Final = r"\s*[$€£¥]\.?$"
_PERCENT: Final = r"(?i)^(.*?)\s*(?:%|\bper\s?cent\b)\s*([$€£¥]?)\.?$"
_ENDS_IN_PERCENT: Final = r"(?i)(?:%|\bper\s?cent)\s*[$€£¥]?\.?\s*$"
_POSSIBLE_NUMBER: Final = r"(?i)^(?:[^\p{L}]|\\[dt]?frac|\bper\s?cent\b|e)*$"
"""Whatever has other letters is no number, which is seen without reading on."""
_CANONICAL: Final = r"^(?:0|-?[1-9][0-9]*|-?(?:0|[1-9][0-9]*)\.[0-9]*[1-9])$"
"""Numbers that are in their one form already, as most are."""
_SCIENTIFIC_PATTERN: Final = r"^([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)[eE][+-]?[0-9]{1,2})\.?$"
_INTEGER_PART: Final = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[0-9]*"
"""Not "0,123", in which the comma separates no thousands."""
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
    """A number written in one way: "$1,234.50" → "1234.5", ".5" → "0.5", "1e3" → "1000", "3/4" → "0.75".

    Dropped are white space around it, a currency sign, a percent sign or word ("20%" → "20", decision
    0011), thousands separators (commas before groups of three), a plus sign, needless zeros and a final
    full stop. A fraction or mixed number, also LaTeX's, is a decimal where that ends and else in lowest
    terms: "2/6" → "1/3", "1 1/2" → "1.5". Exact: no rounding, however long. Null where the text is no
    number, e.g. "1,23", "18 apples", "1/0". String, shape of `text`.
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
    """"-6/8" → "-0.75", "2/6" → "1/3", "1 1/2" → "1.5"; None for "1/0" and for "1 3/2"."""
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


def _expand_scientific(number: pl.Series) -> pl.Series:
    """Numbers in scientific notation written out ("1.5e3" → "1500"), everything else as it is."""
    scientific = number.str.extract(_SCIENTIFIC_PATTERN, 1)
    if scientific.null_count() == number.len():
        return number
    written = scientific.map_elements(
        lambda text: f"{Decimal(text):f}", return_dtype=pl.String, skip_nulls=True
    )
    return written.fill_null(number)
