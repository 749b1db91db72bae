"""Which of the 57 MMLU subjects is this, and to which of the four categories does it belong?

The categories are those in the table of tasks of Hendrycks et al. 2021 (arXiv 2009.03300), which evaluation
harnesses use as well. The authors' own script differs in one subject: it counts anatomy under health, and so
as Other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, cast

MmluCategory = Literal["STEM", "Humanities", "Social Sciences", "Other"]

_SUBJECTS_BY_CATEGORY: Final[Mapping[str, str]] = MappingProxyType(
    {
        "STEM": """
        abstract_algebra anatomy astronomy college_biology college_chemistry college_computer_science
        college_mathematics college_physics computer_security conceptual_physics electrical_engineering
        elementary_mathematics high_school_biology high_school_chemistry high_school_computer_science
        high_school_mathematics high_school_physics high_school_statistics machine_learning
    """,
        "Humanities": """
        formal_logic high_school_european_history high_school_us_history high_school_world_history
        international_law jurisprudence logical_fallacies moral_disputes moral_scenarios philosophy
        prehistory professional_law world_religions
    """,
        "Social Sciences": """
        econometrics high_school_geography high_school_government_and_politics
        high_school_macroeconomics high_school_microeconomics high_school_psychology human_sexuality
        professional_psychology public_relations security_studies sociology us_foreign_policy
    """,
        "Other": """
        business_ethics clinical_knowledge college_medicine global_facts human_aging management
        marketing medical_genetics miscellaneous nutrition professional_accounting
        professional_medicine virology
    """,
    }
)

CATEGORY_BY_SUBJECT: Final[Mapping[str, MmluCategory]] = MappingProxyType(
    {
        subject: cast("MmluCategory", category)
        for category, subjects in _SUBJECTS_BY_CATEGORY.items()
        for subject in subjects.split()
    }
)
"""Standard name of each of the 57 subjects → its category."""

_WORD_SEPARATORS: Final = re.compile(r"[\s_-]+")


def mmlu_subject(text: str) -> str | None:
    """The standard name of an MMLU subject; None for any other text.

    Case, a leading "mmlu" and the separators between words (space, hyphen, underscore) do not matter.
    Nothing is guessed: "algebra" is not a subject of MMLU.

    Examples
    --------
    >>> mmlu_subject("MMLU-Abstract Algebra")
    'abstract_algebra'
    """
    name = _WORD_SEPARATORS.sub("_", text.strip().lower()).strip("_").removeprefix("mmlu_")
    return name if name in CATEGORY_BY_SUBJECT else None


def mmlu_category(text: str) -> MmluCategory | None:
    """The category of an MMLU subject; None for any other text."""
    subject = mmlu_subject(text)
    return None if subject is None else CATEGORY_BY_SUBJECT[subject]
