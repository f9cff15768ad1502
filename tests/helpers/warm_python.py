"""A `python` that starts in milliseconds: forks of one process to which TensorFlow has been read.

To a program, TensorFlow and what belongs to it look as if they had never been imported; importing them gives
the modules that are ready. TensorFlow has no threads before its first operation, so that it works in forks.
What a fork cannot be (options of the interpreter, most variables that it reads, open files besides the three
streams) runs in a new process, by the same command. A signal ends the `python`, and the fork is killed then:
tests of handlers start `sys.executable`.
"""

from __future__ import annotations

import atexit
import subprocess
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

#: What `python` does: hand its arguments, folder, variables and streams over, and end as the fork ends.
_CLIENT = """#!{executable} -SEs
import json, os, signal, socket, sys

arguments = sys.argv[1:]
plain = arguments and (arguments[0] in ("-c", "-m") and arguments[1:] or os.path.isfile(arguments[0]))
read = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
others = [name for name in os.environ if name.startswith("PYTHON") and name[6:7] != "_" and name not in read]
files = [int(name) for name in os.listdir("/proc/self/fd")]
inherited = [file for file in files if file > 2 and os.path.exists(f"/proc/self/fd/{{file}}")]
if not plain or others or inherited:
    os.execv({executable!r}, [{executable!r}, *arguments])
text = json.dumps([arguments, os.getcwd(), dict(os.environ)]).encode()
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(text).to_bytes(8, "little")], [0, 1, 2])
    server.sendall(text)
    status = int(server.makefile().read() or 1)
if status < 0:
    signal.signal(-status, signal.SIG_DFL) if -status not in (signal.SIGKILL, signal.SIGSTOP) else None
    os.kill(os.getpid(), -status)
sys.exit(status)
"""

#: The process that forks.
_SERVER = """
import sys

del sys.path[0]
path, known = [*sys.path], set(sys.modules)
import tensorflow, tensorflow.python.framework.ops, importlib.abc, importlib.machinery
import atexit, contextlib, gc, io, json, os, runpy, select, signal, socket, threading, types

gc.collect()
gc.freeze()  # a fork that collects garbage copies no page of what it has not made
ready = {
    name: (module, getattr(module, "__spec__", None))
    for name, module in sys.modules.items()
    if name not in known and name.partition(".")[0] not in sys.stdlib_module_names
}
for name in ready:
    del sys.modules[name]


class Ready(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path=None, target=None):
        module, spec = ready.get(name, (None, None))
        if spec is None:
            return None
        found = importlib.machinery.ModuleSpec(name, self, origin=spec.origin)
        found.submodule_search_locations = spec.submodule_search_locations
        found.has_location = spec.has_location
        return found

    def create_module(self, spec):
        return ready[spec.name][0]

    def exec_module(self, module):
        whole = module.__name__.partition(".")[0]
        names = [name for name in ready if whole in ("tensorflow", "keras", name.partition(".")[0])]
        for name in names:
            value, spec = ready.pop(name)
            sys.modules[name] = value
            if spec is not None:
                value.__spec__ = spec
            if name == "numpy.random":  # forks begin with different numbers
                value.seed()
        # Finders that the program has added see every import, as they do where modules are read from files.
        for finder in sys.meta_path[: sys.meta_path.index(self)]:
            for name in names:
                if name != module.__name__:
                    finder.find_spec(name, None, None)


sys.meta_path.insert(0, Ready())
of_tests = os.getppid()
with socket.socket(socket.AF_UNIX) as server:
    server.bind(sys.argv[1])
    server.listen(64)
    while True:
        while not select.select([server], [], [], 2)[0]:
            if os.getppid() != of_tests:
                os._exit(0)
        client, _ = server.accept()
        if keeper := os.fork():
            client.close()
            os.waitpid(keeper, 0)
            continue
        if os.fork():
            os._exit(0)
        if program := os.fork():
            events = select.poll()
            events.register(os.pidfd_open(program), select.POLLIN)
            events.register(client, select.POLLRDHUP)
            if all(file == client.fileno() for file, _ in events.poll()):
                os.kill(program, signal.SIGKILL)  # the `python` that asked for it has been killed
            status = os.waitstatus_to_exitcode(os.waitpid(program, 0)[1])
            with contextlib.suppress(BrokenPipeError):
                client.sendall(str(status).encode())
            os._exit(0)
        break

size, streams, _, _ = socket.recv_fds(client, 8, 3)
with client.makefile("rb") as request:
    arguments, folder, environment = json.loads(request.read(int.from_bytes(size, "little")))
for target, stream in enumerate(streams):
    os.dup2(stream, target)
    os.close(stream)
client.close()
signal.alarm(600)
os.chdir(folder)
os.environ.clear()
os.environ.update(environment)
sys.dont_write_bytecode = bool(environment.get("PYTHONDONTWRITEBYTECODE"))
sys.stdin = sys.__stdin__ = io.TextIOWrapper(open(0, "rb", closefd=False))
for number, name in ((1, "stdout"), (2, "stderr")):
    at_once = bool(environment.get("PYTHONUNBUFFERED"))
    stream = io.TextIOWrapper(
        open(number, "wb", 0 if at_once else -1, closefd=False),
        write_through=at_once,
        errors="backslashreplace" if number == 2 else None,
        line_buffering=number == 2 or os.isatty(number),
    )
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)
del stream
sys.orig_argv = [sys.executable, *arguments]
more = [one for one in environment.get("PYTHONPATH", "").split(os.pathsep) if one]
sys.path[:] = [*more, *path]
sys.modules["__main__"] = main = types.ModuleType("__main__")


def run():
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, folder)
        runpy._run_module_as_main(arguments[1])
    elif arguments[0] == "-c":
        sys.argv = ["-c", *arguments[2:]]
        sys.path.insert(0, "")
        exec(compile(arguments[1], "<string>", "exec"), vars(main))
    else:
        sys.argv = arguments
        name = main.__file__ = os.path.abspath(arguments[0])
        sys.path.insert(0, os.path.dirname(os.path.realpath(name)))
        with io.open_code(name) as file:
            program = compile(file.read(), arguments[0], "exec")
        exec(program, vars(main))


def status_of(code):
    if code is None or isinstance(code, int):
        return (code or 0) & 255
    print(code, file=sys.stderr)
    return 1


status = 0
try:
    run()
except SystemExit as end:
    status = status_of(end.code)
except BaseException as error:
    error.__traceback__ = error.__traceback__.tb_next.tb_next
    sys.excepthook(type(error), error, error.__traceback__)
    status = -signal.SIGINT if isinstance(error, KeyboardInterrupt) else 1
# An interpreter that ends would free every module of TensorFlow, one by one.
threading._shutdown()
atexit._run_exitfuncs()
for stream in (sys.stdout, sys.stderr):
    stream.flush()
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


@cache
def warm_python() -> str:
    """Return the path of the `python`, whose process of TensorFlow ends with this one."""
    folder = Path(tempfile.mkdtemp(prefix="np2tf-python-"))
    (folder / "server.py").write_text(_SERVER)
    client = folder / "python"
    client.write_text(_CLIENT.format(executable=sys.executable, address=str(folder / "address")))
    client.chmod(0o755)
    server = subprocess.Popen([sys.executable, folder / "server.py", folder / "address"])
    atexit.register(server.kill)
    while not (folder / "address").exists():
        assert server.poll() is None, "the process that reads TensorFlow has ended"
        time.sleep(0.01)
    return str(client)
