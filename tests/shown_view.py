"""The view that a page of the tests draws."""

from __future__ import annotations

from calib_core.views.view import View

shown: list[View] = []


def page() -> None:
    """Draw it; Streamlit runs this function as a script."""
    from pages.widgets.view import show_view  # noqa: PLC0415  within the script
    from shown_view import shown  # noqa: PLC0415

    show_view(shown[0])
