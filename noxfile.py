"""Every version of Python and of the dependencies that pyproject.toml claims, by one command: `nox`.

`nox -s tests-3.11` takes one Python with the newest dependencies, `nox -s lowest-3.11` with the lowest, and
`nox -s tests-3.12 -- tests/translator` hands the words behind `--` to pytest. tests/package/test_versions.py
holds that the versions here, in pyproject.toml and in .github/workflows/tests.yml are the same.
"""

from __future__ import annotations

import nox

PYTHONS = ("3.10", "3.11", "3.12", "3.13")
#: The lowest versions that pyproject.toml allows.
LOWEST = (
    "click==8.1.*",
    "jinja2==3.1.*",
    "libcst==1.5.*",
    "matplotlib==3.9.*",
    "numpy==2.1.*",
    "pathspec==1.0.*",
    "platformdirs==4.0.*",
    "rich==13.0.*",
    "ruamel.yaml==0.18.*",
    "tomli==2.0.*; python_version < '3.11'",
    "tensorflow==2.19.*; python_version < '3.13'",
    "tensorflow==2.20.*; python_version >= '3.13'",  # the first version with wheels for it
)

nox.options.sessions = ["tests", "lowest"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The suite with the newest dependencies."""
    session.install("--upgrade", ".[dev]")
    session.run("pytest", *session.posargs)


@nox.session(python=PYTHONS)
def lowest(session: nox.Session) -> None:
    """The suite with the lowest dependencies."""
    session.install(".[dev]", *LOWEST)
    session.run("pytest", *session.posargs)


@nox.session(python="3.11")
def docs(session: nox.Session) -> None:
    """The documentation as a site, with its links checked."""
    session.install(".[docs]")
    session.run("mkdocs", "build", "--strict", *session.posargs)
