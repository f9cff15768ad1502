"""Every version of Python and of the dependencies that pyproject.toml claims, by one command: `nox`.

`nox -s tests-3.11` takes one Python with the newest dependencies, `nox -s lowest` the lowest ones. What is
behind `--` goes to pytest: `nox -s tests-3.12 -- tests/rewrites`.
"""

from __future__ import annotations

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
#: The lowest versions that pyproject.toml allows, and of what these need the versions of their time.
LOWEST = (
    "click==8.1.*",
    "jinja2==3.1.*",
    "libcst==1.5.*",
    "numpy==2.1.*",
    "pathspec==1.0.*",
    "platformdirs==4.0.*",
    "rich==13.0.*",
    "ruamel.yaml==0.18.*",
    "tensorflow==2.19.*",
)
#: Python 3.13 has no wheel of TensorFlow 2.19, nor of what else is as old.
LOWEST_PYTHONS = ("3.10", "3.11", "3.12")

nox.options.sessions = ["tests", "lowest"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The suite with the newest dependencies."""
    session.install("--upgrade", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session(python=LOWEST_PYTHONS)
def lowest(session: nox.Session) -> None:
    """The suite with the lowest dependencies."""
    session.install(".[dev]", *LOWEST)
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def docs(session: nox.Session) -> None:
    """The documentation as a site, with its links checked."""
    session.install(".[docs]")
    session.run("mkdocs", "build", "--strict", *session.posargs)
