"""A hook of mkdocs: links that lead out of docs/ are to files of the checkout, which the site does not have.

Such a link becomes its text; a link to a missing file is a warning, with which a strict build fails.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)\s]+)\)")
_log = logging.getLogger("mkdocs.hooks.site_links")


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Replace the links of a page."""
    docs = Path(config["docs_dir"])

    def text_of(link: re.Match[str]) -> str:
        if not (docs / link[2].partition("#")[0]).exists():
            _log.warning("%s leads to %s, which is not there", page.file.src_uri, link[2])
        return link[1]

    return _LINK.sub(text_of, markdown)
