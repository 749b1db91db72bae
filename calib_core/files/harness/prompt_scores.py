"""How probable were the tokens of a prompt to vLLM?  Its `prompt_logprobs`, in which choices are scored.

A list, the first element null, then the likeliest tokens of each position by their id, and the prompt's own
one beside them where it is none of these. Which of them is the prompt's own is not said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calib_core.files.harness.json_values import as_list, as_object, as_text, as_integer

TokenLogprobs = tuple[tuple[str, object], ...]
"""(token, log-probability as it stands in the file) of a prompt."""


def prompt_logprobs(*bodies: Mapping[str, object]) -> TokenLogprobs | None:
    """The prompt's own tokens; () without any log-probabilities, None where it is not clear which they are.

    bodies: an answer and the response it is of: one of them has the list, and one may have the tokens' ids.
    """
    listed = next((found for body in bodies if (found := as_list(body.get("prompt_logprobs")))), ())
    ids = next((found for body in bodies if (found := as_list(body.get("prompt_token_ids")))), ())
    positions = [as_object(part) for part in listed]
    sizes = [len(position) for position in positions[1:] if position]
    if not sizes:
        return ()
    asked = min(sizes)
    found = [("", None), *(
        _prompt_token(position, str(ids[at]) if len(ids) == len(positions) else None, asked)
        for at, position in enumerate(positions[1:], 1)
    )]  # fmt: skip
    return None if None in found else tuple(one for one in found if one is not None)


def _prompt_token(position: Mapping[str, object], id_: str | None, n_top: int) -> tuple[str, object] | None:
    """The prompt's token: by its id, else the only one, else the one added to the likeliest.

    Of L likeliest the ranks are 1 to L: a rank beyond L was added, and L itself where others hold one less.
    """
    entries = {key: as_object(value) for key, value in position.items()}
    if id_ is not None:
        own = entries.get(id_)
    elif len(entries) == 1:
        own = next(iter(entries.values()))
    else:
        own = _entry_beyond_rank([*entries.values()], n_top if len(entries) == n_top + 1 else len(entries))
    return None if own is None else (as_text(own.get("decoded_token")) or "", own.get("logprob"))


def _entry_beyond_rank(entries: Sequence[Mapping[str, object]], n_top: int) -> Mapping[str, object] | None:
    """The only one whose rank is beyond the likeliest."""
    found = [entry for entry in entries if (as_integer(entry.get("rank")) or 0) > n_top]
    return found[0] if len(found) == 1 else None
