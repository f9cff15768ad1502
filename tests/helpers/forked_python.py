"""Programs in processes of their own that need not import TensorFlow: forks of one process that has done so.

TensorFlow has no threads before its first operation, so that its functions work in the forks.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Answers each request, a line of JSON, by the exit status of a fork that runs the program.
_SERVER = """
import json, os, signal, sys, types

import tensorflow

import np2tf

for line in sys.stdin:
    request = json.loads(line)
    if os.fork() == 0:
        break
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
else:
    sys.exit()

signal.alarm(600)
os.chdir(request["folder"])
os.environ.clear()
os.environ.update(request["environment"])
told = os.open(request["told"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for target, source in ((0, os.open(os.devnull, os.O_RDONLY)), (1, told), (2, told)):
    os.dup2(source, target)
sys.argv = request["arguments"]
sys.modules["__main__"] = main = types.ModuleType("__main__")
if sys.argv[0] == "-c":
    text, name = request["program"], "<string>"
else:
    name = main.__file__ = os.path.abspath(sys.argv[0])
    sys.path[0] = os.path.dirname(name)
    text = open(name, "rb").read()
exec(compile(text, name, "exec"), vars(main))
"""


class ForkedPython:
    """A process that has imported TensorFlow and np2tf."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, command: list[str], folder: Path, environment: dict[str, str], told: Path) -> int:
        """Run what stands behind `python` in a command, and return its exit status.

        Args:
            command: `-c` and a program, or a file and its arguments.
            folder: where it runs.
            environment: its variables.
            told: the file for both streams of output.
        """
        of_command = command[0] == "-c"
        request = {
            "program": command[1] if of_command else None,
            "arguments": ["-c", *command[2:]] if of_command else command,
            "folder": str(folder),
            "environment": environment,
            "told": str(told),
        }
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        print(json.dumps(request), file=requests, flush=True)
        return int(answers.readline())


@contextmanager
def forked_python(environment: dict[str, str]) -> Iterator[ForkedPython]:
    """Start the process, and end it after the last program."""
    command = [sys.executable, "-c", _SERVER]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield ForkedPython(process)
