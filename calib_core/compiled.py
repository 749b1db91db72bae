"""Functions compiled by Numba, where it is installed (the extra `fast`).

They are in modules of their own, whose names begin with `compiled_`, and do what NumPy does to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, compiled at its first call and cached on disk where possible."""
    from numba import njit  # noqa: PLC0415 - slow to import, and may be missing

    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # no folder for it can be written
        return njit(nogil=True, error_model="numpy")(function)


def compiled_version(plain: _Function, module: str, call: Callable[[_Function], object]) -> _Function:
    """The function of the same name in a module of compiled functions, or `plain` where that is not possible.

    Parameters
    ----------
    plain : callable
        The function as NumPy computes it.
    module : str
        Full name of the module.
    call : callable
        Calls the function once on little data, so that it is compiled for their types.
    """
    if find_spec("numba") is None:
        return plain
    try:
        function: _Function = getattr(import_module(module), plain.__name__)
        call(function)
    except (ImportError, OSError):  # Numba doesn't know this NumPy, or may not run or keep what it compiles
        return plain
    return function
