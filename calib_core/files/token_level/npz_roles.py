"""Which of the arrays of an archive is what?  What cannot be told apart is asked, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from calib_core.files.partners import ARRAY_SCALES
from calib_core.files.tables.columns import COLUMN_JUDGES
from calib_core.files.tables.roles import column_list_text
from calib_core.files.token_level.arrays import StoredArray
from calib_core.problems import Refused
from calib_core.tokens.scales import ProbabilityScale

METADATA_ARRAY: Final = "meta"
"""The text that says of which run the arrays are: the canonical metadata, as JSON."""

TARGET_ARRAY: Final = "target"

TOKEN_TARGET_NAMES: Final = ("token_ids", "input_ids")
"""Other names of the right classes, which only token-level files give them."""
AMBIGUOUS_TARGET_NAMES: Final = ("targets", "labels", "y")
"""Other names, which files of answers give their right choices too."""
GOLD_NAMES: Final = ("gold", "gold_index")

MAX_CHOICES: Final = 256
"""With more classes the rows are positions of a text: no question has so many choices."""

_ARRAY_NAMES_ADVICE: Final = (
    "A token-level file holds probs (or logprobs, logits) and target, one row a position; a file of answers "
    "holds probs and gold, one row a question, or arrays such as confidence and correct. Say what an array "
    "is: --map NAME=probs"
)


@dataclass(frozen=True, slots=True)
class TokenArrayNames:
    """values: the name of the distributions; scale: what they are; target: the name of the right classes."""

    values: str
    scale: ProbabilityScale
    target: str


def find_token_arrays(
    file: str,
    names: tuple[str, ...],
    mapping: Mapping[str, str],
    metadata: Mapping[str, Any],
    open_array: Callable[[str], StoredArray],
) -> TokenArrayNames | None:
    """The arrays of a token-level file; None where the file holds answers.

    mapping: array → what it is read as, "" not at all. Raises Refused where a mapped array is not there,
    nothing is known, or several readings are possible.
    """
    if absent := [name for name in mapping if name not in names]:
        raise Refused(f"{file} has no array {absent[0]!r}. Its arrays are {column_list_text(names)}.")
    meant = {name: mapping.get(name, name) for name in names if name != METADATA_ARRAY}
    values: list[tuple[str, ProbabilityScale]] = [
        (name, scale) for scale in ARRAY_SCALES for name, role in meant.items() if role == scale
    ]
    if not values or not _is_token_level(file, meant, metadata, lambda: open_array(values[0][0])):
        if not values and not any(role in COLUMN_JUDGES for role in meant.values()):
            raise Refused(f"{file} holds the arrays {column_list_text(names)}, of which none is known. {_ARRAY_NAMES_ADVICE}")
        return None
    if len(values) > 1:
        raise Refused(
            f"{file} holds {' and '.join(repr(name) for name, _ in values)}, and one of them is read. Leave "
            f"the others out: {' '.join(f'--map {name}=' for name, _ in values[1:])}"
        )
    return TokenArrayNames(*values[0], _target_array(file, meant))


def _is_token_level(
    file: str, array_roles: Mapping[str, str], metadata: Mapping[str, Any], open_values: Callable[[], StoredArray]
) -> bool:
    """Whether the rows are positions of a text, and not questions."""
    roles = set(array_roles.values())
    told = metadata.get("format")
    if told in ("calib-tokens", "calib-answers"):
        return told == "calib-tokens"
    targets = roles & {TARGET_ARRAY, *TOKEN_TARGET_NAMES}
    golds = sorted(roles & set(GOLD_NAMES))
    if targets and golds:
        raise Refused(
            f"{file} holds both {min(targets)!r} (positions of a text) and {golds[0]!r} (answers to "
            f"questions). Leave one out: --map {golds[0]}= or --map {min(targets)}="
        )
    if targets or golds:
        return not golds
    either = [name for name, role in array_roles.items() if role in AMBIGUOUS_TARGET_NAMES]
    if not either:
        return not roles & set(COLUMN_JUDGES)
    if open_values().shape[-1:] > (MAX_CHOICES,):
        return True
    raise Refused(
        f"{file}: {either[0]!r} may be the right class of each position of a text, or the right choice of "
        f"each question. Say which: --map {either[0]}={TARGET_ARRAY} or --map {either[0]}=gold"
    )


def _target_array(file: str, array_roles: Mapping[str, str]) -> str:
    """The array of the right classes."""
    own = [name for name, role in array_roles.items() if role == TARGET_ARRAY]
    others = [name for name, role in array_roles.items() if role in (*TOKEN_TARGET_NAMES, *AMBIGUOUS_TARGET_NAMES)]
    found = own or others
    if not found:
        raise Refused(f"{file} has no target: the class that is right at each position. {_ARRAY_NAMES_ADVICE}")
    if len(found) > 1:
        raise Refused(
            f"{file} holds {column_list_text(found)}, and one of them is the target. Say which: "
            f"{' or '.join(f'--map {name}={TARGET_ARRAY}' for name in found)}"
        )
    return found[0]
