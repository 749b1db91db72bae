"""The view that a page of the tests draws."""

from __future__ import annotations

from calib_core.views.view import View

shown: list[View] = []


def page() -> None:
    """Draw it; Streamlit runs this file as a script, which has a list of its own."""
    from pages.widgets.view import show_view  # noqa: PLC0415  within the script
    from shown_view import shown  # noqa: PLC0415

    show_view(shown[0])


if __name__ == "__main__":
    page()
