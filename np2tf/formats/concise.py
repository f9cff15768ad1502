"""One line per finding, `file:line:column: CODE message`, for editors and for `grep`."""

from __future__ import annotations

from np2tf.formats.listing import Listing


def render(listing: Listing) -> str:
    """Return the findings, one on each line."""
    return "".join(f"{finding}\n" for finding in listing.findings)
