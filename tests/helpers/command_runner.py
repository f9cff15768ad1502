"""Runs commands in this process, with standard output and standard error apart, under any supported click."""

from __future__ import annotations

import inspect
from typing import Any

import click.testing
from click.testing import Result

__all__ = ["CliRunner", "Result"]

#: Click before 8.2 mixes both streams unless told otherwise; later versions keep them apart, and in order.
_MIXES = "mix_stderr" in inspect.signature(click.testing.CliRunner.__init__).parameters


class CliRunner(click.testing.CliRunner):
    """Click's runner, whose results have `stdout`, `stderr` and `output` (both) in every version."""

    def __init__(self) -> None:
        super().__init__(**({"mix_stderr": False} if _MIXES else {}))

    def invoke(self, *args: Any, **kwargs: Any) -> Result:
        """Run a command."""
        result = super().invoke(*args, **kwargs)
        if _MIXES:
            result.__class__ = _BothStreams
        return result


class _BothStreams(Result):
    """A result of click before 8.2: its output is standard output, and then standard error."""

    @property
    def output(self) -> str:
        return self.stdout_bytes.decode(errors="replace").replace("\r\n", "\n") + self.stderr
