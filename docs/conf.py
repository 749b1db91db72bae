"""Settings of Sphinx: `make docs` builds the documentation into build/docs.

The built site loads nothing from elsewhere: formulas are MathML, which browsers draw themselves, and the
theme ships its own files.
"""
# pyright: reportMissingImports=false, reportMissingModuleSource=false, reportUnknownVariableType=false
# Sphinx is installed in build/docs-venv only.

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import GenericAlias
from typing import Any, get_origin

from docutils import nodes
from latex2mathml.converter import convert
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["PYTHONPATH"] = str(ROOT)  # for the kernels of the notebooks

from calib_core.version import VERSION  # the package is not installed

project = "Calib"
author = "Calib contributors"
copyright = f"2026, {author}"  # Sphinx reads this name
release = VERSION

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
exclude_patterns = ["templates"]
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb"}  # autosummary writes files of the first
templates_path = ["templates"]
nitpicky = True
smartquotes = False  # --map in a docstring is an option, no dash
nitpick_ignore_regex = [("py:class", r"(?!calib_core).*")]  # classes of other libraries

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
nb_execution_mode = "force"  # the notebooks are kept without outputs
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_execution_show_tb = True
myst_dmath_double_inline = True

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have them, with shapes and units
autosummary_generate = True
default_role = "literal"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

html_theme = "furo"
html_title = "Calib"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["calib.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}


def visit_inline_formula(writer: Any, node: nodes.math) -> None:
    """Write a formula within a line as MathML."""
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_formula(writer: Any, node: nodes.math_block) -> None:
    """Write a formula that stands alone as MathML."""
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode


def escape_docstring(
    _app: Sphinx, _what: str, _name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Keep |c − y|, "*-confidence" and np.bool_ in docstrings, which reStructuredText takes for its own."""
    lines[:] = [
        line if line.lstrip().startswith(">>>") else re.sub(r'\||(?<=")\*|(?<=np\.bool)_', r"\\\g<0>", line)
        for line in lines
    ]


def skip_type_alias(
    _app: Sphinx,
    _what: str,
    _name: str,
    member: object,
    skip: bool,
    _options: object,
) -> bool | None:
    """Leave type aliases out: autodoc cannot write all of them, and docstrings say what they stand for."""
    return True if isinstance(member, GenericAlias) or get_origin(member) is not None else skip or None


def setup(app: Sphinx) -> None:
    """Register what this file adds to Sphinx."""
    app.add_html_math_renderer("mathml", (visit_inline_formula, None), (visit_formula, None))
    app.add_lexer("csv", TextLexer)
    app.connect("autodoc-process-docstring", escape_docstring)
    app.connect("autodoc-skip-member", skip_type_alias)
