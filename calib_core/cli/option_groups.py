"""Groups of options: a verb takes one value that several options come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, Final

_CONTEXT: Final = "context"
"""The parameter for the context of the command: not an option; a function and its groups may take it."""


@dataclass(frozen=True, slots=True)
class OptionGroup:
    """Marks a parameter that is not itself an option: its value is what `build` makes of its options."""

    build: Callable[..., Any]


def takes_options(verb: Callable[..., int]) -> Callable[..., int]:
    """Puts the options of a verb's groups where the groups stand among its parameters.

    An option that a function takes itself replaces that of the same parameter name in its groups, which then
    get their default.
    """

    @wraps(verb)
    def run(**options: Any) -> int:  # noqa: ANN401  options of any type
        return _call(verb, options)

    parameters = [option.replace(kind=Parameter.KEYWORD_ONLY) for option in _options(verb).values()]
    run.__dict__["__signature__"] = Signature(parameters)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _groups(parameters: Mapping[str, Parameter]) -> dict[str, OptionGroup]:
    return {
        name: mark
        for name, parameter in parameters.items()
        for mark in getattr(parameter.annotation, "__metadata__", ())
        if isinstance(mark, OptionGroup)
    }


def _options(function: Callable[..., Any]) -> dict[str, Parameter]:
    parameters = signature(function, eval_str=True).parameters
    groups = _groups(parameters)
    own_names = parameters.keys() - groups
    found: dict[str, Parameter] = {}
    for name, parameter in parameters.items():
        if name in own_names:
            found[name] = parameter
        else:
            of_group = _options(groups[name].build)
            found |= {key: option for key, option in of_group.items() if key not in own_names}
    return found


def _takes_context(function: Callable[..., Any]) -> bool:
    return _CONTEXT in _options(function)


def _call(function: Callable[..., Any], options: Mapping[str, Any]) -> Any:  # noqa: ANN401
    parameters = signature(function, eval_str=True).parameters
    options = {name: value for name, value in options.items() if name != _CONTEXT or _takes_context(function)}
    groups = _groups(parameters)
    own_names = parameters.keys() - groups
    own = {name: value for name, value in options.items() if name in own_names}
    others = {name: value for name, value in options.items() if name not in own_names or name == _CONTEXT}
    return function(**own, **{name: _call(group.build, others) for name, group in groups.items()})
