"""Functions compiled by Numba, where it is installed (the extra `fast`).

They are in modules of their own, whose names begin with `compiled_`, and do what NumPy does to the last bit.
What is compiled is kept on disk, beside the module or in the user's cache folder, or in the folder that
`NUMBA_CACHE_DIR` names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., object])


class NotCompiledError(OSError):
    """A function is not compiled yet, in a process that only loads what is."""


class _Process:
    """What this process does with functions that are not compiled yet.

    Attributes
    ----------
    ask : Callable[[str], None] or None
        Asks another process to compile, and returns once it has; None: compiles them itself.
    """

    ask: Callable[[str], None] | None = None


def compile_elsewhere(ask: Callable[[str], None]) -> None:
    """From now on, compile nothing in this process, which may not write files.

    ask: has another process compile what `load` is asked for, and returns once it has.
    """
    _Process.ask = staticmethod(ask)


def load(what: str, is_loaded: Callable[[], bool]) -> bool:
    """Whether functions are at hand compiled, after whoever may has compiled them.

    Parameters
    ----------
    what : str
        What the process that compiles is asked for.
    is_loaded : callable
        Loads the functions by `compiled_version`, and says whether that was possible.
    """
    if find_spec("numba") is None:
        return False
    if is_loaded():
        return True
    if _Process.ask is None:
        return False
    _Process.ask(what)
    return is_loaded()


def is_kept() -> bool:
    """Whether compiled code can be kept on disk."""
    return find_spec("numba") is not None and compiled(_nothing).stats.cache_path is not None


def _nothing() -> None:
    """Stands for the functions of this package."""


@cache
def _refuse_to_compile() -> None:
    events: Any = import_module("numba.core.event")

    class Refusal(events.Listener):
        """Numba tells it that it begins to compile, which is after it has looked on disk."""

        def on_start(self, event: object) -> None:
            del event
            if _Process.ask is not None:
                raise NotCompiledError

        def on_end(self, event: object) -> None:
            """Nothing to do."""

    events.register("numba:compile", Refusal())


def compiled(function: Callable[..., Any]) -> Any:  # noqa: ANN401 - Numba has no types
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
        if _Process.ask is not None:
            _refuse_to_compile()
        function: _Function = getattr(import_module(module), plain.__name__)
        call(function)
    except (ImportError, OSError):  # Numba doesn't know this NumPy, or may not run or keep what it compiles
        return plain
    return function
