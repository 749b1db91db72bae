"""How is the next part of a file worked on while this one is looked at?"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, TypeVar

MAX_AHEAD: Final = 2
"""Parts worked on at the same time: each takes room of its own."""

InputT = TypeVar("Part")
OutputT = TypeVar("Made")


def map_ahead(items: Iterable[InputT], function: Callable[[InputT], OutputT]) -> Generator[tuple[InputT, OutputT]]:
    """Each part, in its turn, with what the work makes of it, in threads: for work that others do in C.

    Raises what the work raises, when it is the part's turn.
    """
    with ThreadPoolExecutor(MAX_AHEAD) as pool:
        begun: deque[tuple[InputT, Future[OutputT]]] = deque()
        for part in items:
            begun.append((part, pool.submit(function, part)))
            if len(begun) > MAX_AHEAD:
                first, made = begun.popleft()
                yield first, made.result()
        while begun:
            first, made = begun.popleft()
            yield first, made.result()
