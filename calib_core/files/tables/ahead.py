"""How is the next part of a file worked on while this one is looked at?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

AT_ONCE: Final = 2
"""Parts worked on at the same time: each takes room of its own."""

Part = TypeVar("Part")
Made = TypeVar("Made")


def ahead(parts: Iterable[Part], work: Callable[[Part], Made]) -> Generator[tuple[Part, Made]]:
    """Each part, in its turn, with what the work makes of it, in threads: for work that others do in C.

    Raises what the work raises, when it is the part's turn.
    """
    with ThreadPoolExecutor(AT_ONCE) as pool:
        begun: deque[tuple[Part, Future[Made]]] = deque()
        for part in parts:
            begun.append((part, pool.submit(work, part)))
            if len(begun) > AT_ONCE:
                first, made = begun.popleft()
                yield first, made.result()
        while begun:
            first, made = begun.popleft()
            yield first, made.result()
