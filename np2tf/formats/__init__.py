"""The output formats of findings: one module per format, loaded when it is asked for.

Each module has `render(listing) -> str`. May import the diagnostics. Finding, selecting and hiding findings
stay out.
"""

from __future__ import annotations

import importlib

from np2tf.formats.listing import Listing

#: name -> module.
FORMATS: dict[str, str] = {
    "text": "text",
    "concise": "concise",
    "json": "as_json",
    "github": "github",
    "gitlab": "gitlab",
    "sarif": "sarif",
    "junit": "junit",
}
#: The formats that people read.
PLAIN = frozenset({"text", "concise"})

__all__ = ["FORMATS", "PLAIN", "Listing", "render"]


def render(name: str, listing: Listing) -> str:
    """Return the findings in a format, with a line end behind the last line; an empty text if there is no
    output.
    """
    text: str = importlib.import_module(f"np2tf.formats.{FORMATS[name]}").render(listing)
    return text
