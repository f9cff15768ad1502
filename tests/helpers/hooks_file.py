"""A configuration of pre-commit as a user has written it."""

from __future__ import annotations

HOOKS = """\
# my hooks
default_stages: [pre-commit]
repos:
  # first
  - repo: https://example.org/a
    rev: 'v1'   # pinned
    hooks:
      - id: a
        args: [ "--x",   '--y' ]

# afterwards
ci:
  skip: [a]
"""
