"""The glossary: its order, its sentences, and its page in the documentation."""

from __future__ import annotations

import re

from calib_core.views.glossary import GLOSSARY, meaning_of, terms_in
from core.test_docs import script


def test_each_term_finds_itself_and_has_a_sentence() -> None:
    for term in GLOSSARY.values():
        assert term.is_in(f"about {term.name}" if term.name not in ("p", "q") else f"{term.name} = 0.01")
        assert re.fullmatch(r".*[.\]]", term.meaning), term.name


def test_terms_are_words_of_their_own() -> None:
    def found(text: str) -> list[str]:
        return [term.name for term in terms_in(text)]

    assert found("Full-ECE") == ["Full-ECE"]
    assert found("the recipe of the Spearmans") == []
    assert found("p-values, a quiz, M-estimators") == []
    assert found("a(1−a) with q ≤ 0.05 at N' = 8") == ["a(1 − a)", "N′", "q"]
    assert meaning_of("q (rest)") == GLOSSARY["q"].meaning
    assert meaning_of("") == ""


def test_the_page_of_the_documentation_is_that_of_the_code() -> None:
    glossary = script("glossary")
    assert glossary.PAGE.read_text("utf-8") == glossary.page_text(), "make glossary writes it again"
