"""Is a process that reads files kept as long as it does not hold on to memory?"""

from __future__ import annotations

from calib_core.readers.format import Reading
from calib_core.readers.sandbox.limits import Limits
from core.readers.sandbox.test_child import LIMITS, Ask, ask, child

__all__ = ["ask"]

WIDE = Limits(2**30, LIMITS.answer_bytes, 10.0, 20.0)
GROWS = "global kept; kept = b'x' * (300 * 2**20); return good()"
LETS_GO = """
hand_over = worker._send_reading
worker._send_reading = lambda *given: (hand_over(*given), globals().pop('kept'))
"""


def test_one_that_grew_makes_room_for_another(ask: Ask) -> None:
    with child(GROWS) as one:
        outcome, again = ask(one, limits=WIDE)
        assert isinstance(outcome, Reading)
        assert not again
        assert not one.is_alive


def test_one_that_has_let_go_of_what_it_read_stays(ask: Ask) -> None:
    with child(GROWS, LETS_GO) as one:
        for _ in range(2):
            outcome, again = ask(one, limits=WIDE)
            assert isinstance(outcome, Reading)
            assert again
