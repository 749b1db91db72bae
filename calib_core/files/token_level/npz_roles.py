"""Which of the arrays of an archive is what?  What cannot be told apart is asked, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from calib_core.files.partners import SCALES
from calib_core.files.tables.columns import COLUMNS
from calib_core.files.tables.roles import named
from calib_core.files.token_level.arrays import Array
from calib_core.problems import Refused
from calib_core.tokens.scales import Scale

META: Final = "meta"
"""The text that says of which run the arrays are: the canonical metadata, as JSON."""

TARGET: Final = "target"

OF_TOKENS: Final = ("token_ids", "input_ids")
"""Other names of the right classes, which only token-level files give them."""
OF_EITHER: Final = ("targets", "labels", "y")
"""Other names, which files of answers give their right choices too."""
OF_ANSWERS: Final = ("gold", "gold_index")

MANY: Final = 256
"""With more classes the rows are positions of a text: no question has so many choices."""

_EITHER_WAY: Final = (
    "A token-level file holds probs (or logprobs, logits) and target, one row a position; a file of answers "
    "holds probs and gold, one row a question, or arrays such as confidence and correct. Say what an array "
    "is: --map NAME=probs"
)


@dataclass(frozen=True, slots=True)
class TokenArrays:
    """values: the name of the distributions; scale: what they are; target: the name of the right classes."""

    values: str
    scale: Scale
    target: str


def token_arrays(
    file: str,
    names: tuple[str, ...],
    mapping: Mapping[str, str],
    metadata: Mapping[str, Any],
    array: Callable[[str], Array],
) -> TokenArrays | None:
    """The arrays of a token-level file; None where the file holds answers.

    mapping: array → what it is read as, "" not at all. Raises Refused where a mapped array is not there,
    nothing is known, or several readings are possible.
    """
    if absent := [name for name in mapping if name not in names]:
        raise Refused(f"{file} has no array {absent[0]!r}. Its arrays are {named(names)}.")
    meant = {name: mapping.get(name, name) for name in names if name != META}
    values: list[tuple[str, Scale]] = [
        (name, scale) for scale in SCALES for name, role in meant.items() if role == scale
    ]
    if not values or not _of_positions(file, meant, metadata, lambda: array(values[0][0])):
        if not values and not any(role in COLUMNS for role in meant.values()):
            raise Refused(f"{file} holds the arrays {named(names)}, of which none is known. {_EITHER_WAY}")
        return None
    if len(values) > 1:
        raise Refused(
            f"{file} holds {' and '.join(repr(name) for name, _ in values)}, and one of them is read. Leave "
            f"the others out: {' '.join(f'--map {name}=' for name, _ in values[1:])}"
        )
    return TokenArrays(*values[0], _target(file, meant))


def _of_positions(
    file: str, meant: Mapping[str, str], metadata: Mapping[str, Any], values: Callable[[], Array]
) -> bool:
    """Whether the rows are positions of a text, and not questions."""
    roles = set(meant.values())
    told = metadata.get("format")
    if told in ("calib-tokens", "calib-answers"):
        return told == "calib-tokens"
    targets = roles & {TARGET, *OF_TOKENS}
    golds = sorted(roles & set(OF_ANSWERS))
    if targets and golds:
        raise Refused(
            f"{file} holds both {min(targets)!r} (positions of a text) and {golds[0]!r} (answers to "
            f"questions). Leave one out: --map {golds[0]}= or --map {min(targets)}="
        )
    if targets or golds:
        return not golds
    either = [name for name, role in meant.items() if role in OF_EITHER]
    if not either:
        return not roles & set(COLUMNS)
    if values().shape[-1:] > (MANY,):
        return True
    raise Refused(
        f"{file}: {either[0]!r} may be the right class of each position of a text, or the right choice of "
        f"each question. Say which: --map {either[0]}={TARGET} or --map {either[0]}=gold"
    )


def _target(file: str, meant: Mapping[str, str]) -> str:
    """The array of the right classes."""
    own = [name for name, role in meant.items() if role == TARGET]
    others = [name for name, role in meant.items() if role in (*OF_TOKENS, *OF_EITHER)]
    found = own or others
    if not found:
        raise Refused(f"{file} has no target: the class that is right at each position. {_EITHER_WAY}")
    if len(found) > 1:
        raise Refused(
            f"{file} holds {named(found)}, and one of them is the target. Say which: "
            f"{' or '.join(f'--map {name}={TARGET}' for name in found)}"
        )
    return found[0]
