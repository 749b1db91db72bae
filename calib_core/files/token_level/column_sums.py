"""What did every class add up to, where a file stores only the largest entries of each position?

The metadata names a file beside it: K sums of p over all positions, as a NumPy array (`X.columns.npy`).
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calib_core.files.folder import open_regular_file
from calib_core.files.format import Head
from calib_core.files.isolation.handles import is_in_same_folder
from calib_core.files.partners import COLUMN_SUMS_SUFFIX
from calib_core.files.token_level.arrays import MAX_CLASSES, StoredArray
from calib_core.problems import Refused, shorten


def read_column_sums(head: Head, name: object, n_classes: int | None) -> NDArray[np.float64] | None:
    """The sums, float64 of shape (K,), read-only; None where the metadata names no file.

    name: what the metadata says; classes: K where it says so. Raises Refused where the file is not there or
    holds no such sums.
    """
    if name is None:
        return None
    path = _column_sums_path(head, name)
    with open_regular_file(path, path.name) as stream:
        array = StoredArray.from_stream(stream, os.fstat(stream.fileno()).st_size, path.name, "column_sums")
        plain = array.dtype.kind == "f" and array.dtype.itemsize <= 8 and len(array.shape) == 1
        if not plain or not 0 < array.shape[0] <= MAX_CLASSES or n_classes not in (None, array.shape[0]):
            raise Refused(
                f"{path.name}: one sum a class is expected, floating-point numbers of the shape "
                f"({n_classes or 'K'},), and it holds {array.dtype} of the shape {array.shape}."
            )
        sums = array.read_all().astype(np.float64)
    if not bool(np.all(np.isfinite(sums) & (sums >= 0))):
        raise Refused(f"{path.name}: sums of probabilities are finite and not below 0: some here are not.")
    sums.flags.writeable = False
    return sums


def _column_sums_path(head: Head, name: object) -> Path:
    """The file of that name beside the list; never one elsewhere."""
    shown = shorten(repr(name))
    if not isinstance(name, str) or not name.lower().endswith(f".{COLUMN_SUMS_SUFFIX}") or Path(name).name != name:
        raise Refused(
            f"{head.file}: 'column_sums' in its metadata is the name of a file beside it that ends in "
            f".{COLUMN_SUMS_SUFFIX}, and cannot be {shown}."
        )
    path = None if head.path is None else head.path.with_name(name)
    if path is None or head.path is None or not is_in_same_folder(head.path, path):
        raise Refused(f"{head.file} names {shown} for its sums by class, and no such file lies beside it.")
    return path
