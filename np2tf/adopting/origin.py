"""The source from which np2tf was installed, so that a hook or a job can install the same version."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution


@dataclass(frozen=True)
class Distribution:
    """A git repository and a revision, or a release of a package index."""

    url: str = ""
    revision: str = ""
    version: str = ""

    @property
    def requirement(self) -> str:
        """Return the requirement for pip; "" if it is unknown."""
        if self.url:
            return f"np2tf @ git+{self.url}@{self.revision}"
        return f"np2tf=={self.version}" if self.version else ""


def parse_origin(text: str) -> Distribution:
    """Parse `URL@REVISION`.

    Raises:
        ValueError: the URL or the revision is missing.
    """
    url, _, revision = text.removeprefix("git+").rpartition("@")
    if not url or "/" in revision or not revision:
        raise ValueError("must be URL@REVISION, such as https://example.org/np2tf.git@v0.1.0")
    return Distribution(url, revision)


def installed_distribution() -> Distribution:
    """Return the source of the running np2tf as pip has recorded it; an empty record for a checkout."""
    try:
        package = distribution("np2tf")
    except PackageNotFoundError:
        return Distribution()
    text = package.read_text("direct_url.json")
    if text is None:
        return Distribution(version=package.version) if package.read_text("INSTALLER") else Distribution()
    record = json.loads(text)
    revision = record.get("vcs_info", {}).get("commit_id", "")
    return Distribution(record["url"], revision) if revision else Distribution()
