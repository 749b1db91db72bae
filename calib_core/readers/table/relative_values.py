"""Converts probabilities that say what is meant only together with another value of their row.

Masses of the choices are parts of a larger distribution, and become shares of their sum. The probability of
one of two classes becomes that of the class which the row predicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from calib_core.advice import Advice, to_say
from calib_core.errors import Refused, shorten
from calib_core.readers.table.cells import number_or_text
from calib_core.readers.table.list_cells import renormalise
from calib_core.wording import format_significant

MAX_CLASSES_SHOWN: Final = 5
"""Limit on the predicted classes that a message lists."""


def divide_masses(rows: pl.DataFrame) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Divide the masses in `choice_probs` by their sum; what is left of 1 becomes `choice_other_mass`.

    Returns
    -------
    tuple
        The rows, and a note on how much the choices had of the probability.
    """
    if "choice_probs" not in rows.columns or rows["choice_probs"].null_count() == rows.height:
        return rows, ()
    shares, sums = renormalise(rows["choice_probs"])
    rest = (1 - sums).clip(lower_bound=0.0).alias("choice_other_mass")
    known = sums.drop_nulls().to_numpy()
    kept = [rest] if rest.name not in rows.columns else []
    mean, least = (format_significant(float(value)) for value in (np.mean(known), known.min()))
    note = (
        "choice_probs are the masses of the choices divided by their sum, which is "
        f"{mean} on average and {least} at least."
    )
    return rows.with_columns(shares.alias("choice_probs"), *kept), (note,)


def of_predicted_class(rows: pl.DataFrame, classes: Mapping[str, str], file: str) -> pl.DataFrame:
    """Turn probabilities of one class into those of the predicted one: x where it is that class, else 1 − x.

    Parameters
    ----------
    rows
        Checked columns.
    classes
        Name of a column of probabilities → the class that they are the probability of.
    file
        What messages call the file.

    Raises
    ------
    Refused
        There are no predictions, more than two classes are predicted, or the class is none of the file's.
    """
    for name, label in classes.items():
        if name in rows.columns:
            is_it = _is_predicted(
                rows, label, f"{file}: {name} is mapped as the probability of class {label!r}"
            )
            values = rows[name].cast(pl.Float64)
            chosen = pl.when(is_it).then(values).when(~is_it).then(1 - values)
            rows = rows.with_columns(chosen.alias(name))
    return rows


def _is_predicted(rows: pl.DataFrame, label: str, meant: str) -> pl.Series:
    """Return whether each row predicts the class `label`, null where it predicts none."""
    column = next((name for name in ("prediction", "prediction_index") if name in rows.columns), None)
    if column is None:
        raise Refused(
            f"{meant}, so each row needs the class that it predicts. Say "
            f"{to_say('which column has it', Advice(columns={'COLUMN': 'prediction'}))}"
        )
    predicted = number_or_text(rows[column].cast(pl.String))
    wanted = number_or_text(pl.Series([label]))[0]
    found = predicted.drop_nulls().unique(maintain_order=True)
    shown = ", ".join(repr(shorten(one, 40)) for one in found.head(MAX_CLASSES_SHOWN).to_list())
    if found.len() > 2:
        raise Refused(
            f"{meant}, but {found.len():,} classes are predicted, such as {shown}. With more than two, 1 − "
            "x is not the probability of another one: read a column of each class as choice_probs."
        )
    golds = [rows[name].cast(pl.String) for name in ("gold", "gold_index") if name in rows.columns]
    if not any((classes == wanted).any() for classes in (predicted, *map(number_or_text, golds))):
        raise Refused(
            f"{meant}, which no row predicts: the predictions are {shown}. Name one of the two classes."
        )
    return predicted == wanted
