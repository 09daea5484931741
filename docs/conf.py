"""Sphinx settings; `make docs` builds with warnings as errors."""

import os
import sys
import warnings
from pathlib import Path

import permissible

# The gallery shows what everybody gets: the data sets that come with installed packages, not those of a local folder.
os.environ.pop("PERMISSIBLE_DATA", None)

project = "permissible"
author = "the permissible developers"
copyright = "the permissible developers"
version = release = permissible.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_exclude = ".linenos, .gp, .go"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_sidebars = {page: [] for page in ("index", "quickstart", "choosing", "faq", "changelog")}  # nothing to list there
# `make docs` puts MathJax there where npm is installed, so that formulas show without a network; else it comes from its CDN.
if (Path(__file__).parent / "_static" / "mathjax" / "tex-mml-chtml.js").exists():
    mathjax_path = "mathjax/tex-mml-chtml.js"
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "_build",
    "results/bench/*",  # included by the page of benchmarks
    "results/scaling/*",
    "gallery/**/*.ipynb",
    "gallery/**/*.py",
    "sg_execution_times.rst",
    "**/sg_execution_times.rst",
]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "permissible"
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
}
html_show_sourcelink = False

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 60,
    "abort_on_example_error": True,
}

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]  # the tutorials load data sets of `papers`
from cli_reference import write

write(Path(__file__).parent / "generated" / "command-line.md")

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
