"""Texts to be copied, each with a button that does it.

Streamlit's code blocks have such a button, too, but load the grammars of all programming languages first,
which takes a browser longer than any other part of a page. `browser_script.js` copies.
"""

from __future__ import annotations

from html import escape

import streamlit as st


def show_copyable_text(text: str) -> None:
    """Draw a text as it is, in a monospaced box in which long lines wrap, with a button that copies it."""
    with st.container(gap=None):
        st.text(text)
        st.html('<button type="button" class="calib-copy" title="Copy">Copy</button>')


def show_copy_button(text: str, label: str, help_: str) -> None:
    """Draw a button that copies a text which is not shown.

    Parameters
    ----------
    text : str
    label : str
        What is on the button.
    help_ : str
        What is shown while the pointer rests on it.
    """
    shown, copied, title = map(escape, (label, text, help_))
    st.html(f'<button type="button" class="calib-copy" data-text="{copied}" title="{title}">{shown}</button>')
