"""`np2tf play`: who may ask what, and the programs that it runs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from np2tf.cli.main import np2tf
from np2tf.cli.play.app import Page, new_app
from np2tf.cli.play.programs import Comparison, Runner
from tests.helpers.command_runner import CliRunner
from tests.helpers.doc_pages import ROOT

HOST = "127.0.0.1:5000"
ORIGIN = {"Host": HOST, "Origin": f"http://{HOST}"}
TEXT = "import numpy as np\nx = np.sin(1)\n"


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return Page(tmp_path / "play.py", TEXT, Runner(20))


@pytest.fixture
def client(page: Page) -> FlaskClient:
    return new_app(page, lambda: {HOST}).test_client()


def asked(client: FlaskClient, page: Page, what: str, headers: dict[str, str], **values: Any) -> Any:
    """The answer to a request of the page."""
    body = {"text": TEXT, "target": "np2tf", **values}
    return client.post(f"/{page.token}/{what}", json=body, headers=headers)


def test_the_page_asks(client: FlaskClient, page: Page) -> None:
    shown = client.get(f"/{page.token}/", headers={"Host": HOST})
    assert shown.status_code == 200
    assert "default-src 'none'" in shown.headers["Content-Security-Policy"]
    assert shown.headers["Referrer-Policy"] == "no-referrer"
    answer = asked(client, page, "examine", ORIGIN).get_json()
    assert answer["translation"] == "from np2tf import tnp\nx = tnp.sin(1)\n"


@pytest.mark.parametrize("what", ["examine", "run", "stop"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": HOST},
        {"Host": HOST, "Origin": "http://evil.example"},
        {"Host": HOST, "Origin": "null"},
        {"Host": HOST, "Origin": "http://127.0.0.1:5001"},
        {"Host": HOST, "Origin": f"https://{HOST}"},
        {"Host": "evil.example:5000", "Origin": "http://evil.example:5000"},
        {"Host": "127.0.0.1", "Origin": "http://127.0.0.1"},
    ],
)
def test_other_pages_and_names_are_refused(
    client: FlaskClient, page: Page, what: str, headers: dict[str, str]
) -> None:
    assert asked(client, page, what, headers).status_code == 403


@pytest.mark.parametrize("path", ["/", "/x/", "/{token}x/", "//", "/é/", "/favicon.ico"])
def test_who_does_not_know_the_address_gets_nothing(client: FlaskClient, page: Page, path: str) -> None:
    answer = client.get(path.format(token=page.token), headers={"Host": HOST})
    assert answer.status_code == 404
    assert page.token not in answer.text
    for what in ("examine", "run"):
        body = {"text": "print(1)", "target": "np2tf"}
        assert client.post(f"{path}{what}", json=body, headers=ORIGIN).status_code == 404


def test_tokens_differ(page: Page, tmp_path: Path) -> None:
    assert page.token != Page(tmp_path, "", Runner(1)).token
    assert len(page.token) >= 32
    assert page.token not in repr(page)


@pytest.mark.parametrize(
    "values", [{"target": "jax"}, {"text": 1}, {"text": None}, {"target": ["np2tf"]}, {"target": None}]
)
def test_wrong_requests(client: FlaskClient, page: Page, values: dict[str, Any]) -> None:
    assert asked(client, page, "examine", ORIGIN, **values).status_code == 400
    assert asked(client, page, "run", ORIGIN, **values).status_code == 400


def test_no_json_and_too_much(client: FlaskClient, page: Page) -> None:
    path = f"/{page.token}/examine"
    assert client.post(path, data="text=1&target=np2tf", headers=ORIGIN).status_code == 415
    assert client.post(path, json=[1], headers=ORIGIN).status_code == 400
    assert asked(client, page, "examine", ORIGIN, text="x" * (1 << 21)).status_code == 413


@pytest.mark.parametrize("target", ["np2tf", "tf"])
@pytest.mark.parametrize(
    "text", ["", "def f(", "\x00", "x = (" * 300, "\ud800", "import numpy as np\nreturn np.sin(1)\n"]
)
def test_half_written_programs(client: FlaskClient, page: Page, text: str, target: str) -> None:
    answer = asked(client, page, "examine", ORIGIN, text=text, target=target)
    assert answer.status_code == 200
    assert "NP2TF905" not in {finding["code"] for finding in answer.get_json()["findings"]}


def test_a_wrong_configuration_is_told(client: FlaskClient, page: Page) -> None:
    (page.path.parent / "np2tf.toml").write_text("selekt = []\n")
    assert "unknown key `selekt`" in asked(client, page, "examine", ORIGIN).get_json()["error"]


def test_no_translation_is_not_run(client: FlaskClient, page: Page) -> None:
    answer = asked(client, page, "run", ORIGIN, text="x = (").get_json()
    assert answer["verdict"] == "failed"
    assert "source" not in answer


# -- programs ------------------------------------------------------------------------------------------------


def both(source: str, translation: str | None = None, limit: float = 60) -> Comparison:
    comparison = Runner(limit).run_both(source, source if translation is None else translation)
    assert comparison is not None
    return comparison


@pytest.mark.parametrize(
    ("source", "translation", "verdict", "message"),
    [
        ("print(1)", "print(1)", "equal", "equal: 1 printed line"),
        ("x = 1\nfile = 2.5", "x = 1\nfile = 2.5", "equal", "equal: 2 values of the module (x, file)"),
        ("print(0.1)", "print(0.5)", "different", "line 1 of the output"),
        ("print(1)", "", "different", "line 1 of the output: only on NumPy: '1'"),
        ("x = 1", "x = 2", "different", "`x`: "),
        ("x = 1", "y = 1", "different", "`x` is a number or an array on NumPy only"),
        (
            "import numpy as np\nx = np.ones(3)",
            "import numpy as np\nx = np.ones(3, 'f')",
            "different",
            "`x`: ",
        ),
        ("_x = 1", "_x = 2", "nothing", "nothing compared"),
        ("1 / 0", "print(1)", "failed", "the source ended with exit status 1"),
        ("print(1)", "raise SystemExit(3)", "failed", "the translation ended with exit status 3"),
    ],
)
def test_what_is_compared(source: str, translation: str, verdict: str, message: str) -> None:
    comparison = both(source, translation)
    assert comparison.verdict == verdict
    assert comparison.message.startswith(message)


def test_a_traceback_is_the_programs_own() -> None:
    comparison = both("def f():\n    return 1 / 0\n\nf()\n")
    lines = comparison.source.errors.splitlines()
    assert lines[:2] == ["Traceback (most recent call last):", '  File "program.py", line 4, in <module>']
    assert lines[-1] == "ZeroDivisionError: division by zero"
    assert both("x = (").source.errors.splitlines()[-1].startswith("SyntaxError")


def test_programs_are_ended_in_time() -> None:
    """With the processes that they have started, and without waiting for what they hold open."""
    text = "import subprocess, sys, time\nprint('before')\n"
    text += "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\ntime.sleep(600)\n"
    comparison = both(text, "print('before')", limit=3)
    assert comparison.message == "the source took longer than 3 seconds, and was ended"
    assert comparison.source.output == "before"
    assert comparison.source.seconds < 30


def test_much_output_is_cut() -> None:
    comparison = both("while True:\n    print('x' * 1000)\n", "")
    assert comparison.verdict == "failed"
    assert len(comparison.source.output) < 30_000


def test_programs_run_in_an_empty_folder(tmp_path: Path) -> None:
    comparison = both("import os\nprint(sorted(os.listdir()), __name__, os.path.basename(__file__))")
    assert comparison.source.output == "['errors', 'output', 'program.py'] __main__ program.py"


# -- the command ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("package", ["flask", "numpy"])
def test_without_its_packages(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """The command says what to install; its help always works."""
    monkeypatch.setitem(sys.modules, package, None)
    done = CliRunner().invoke(np2tf, ["play"])
    assert done.exit_code == 2
    assert f"{package} is not installed: pip install 'np2tf[play]'" in done.stderr
    assert CliRunner().invoke(np2tf, ["play", "--help"]).exit_code == 0


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that something else listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_a_port_that_is_taken(taken: int) -> None:
    done = CliRunner().invoke(np2tf, ["play", "--no-browser", "--port", str(taken)])
    assert done.exit_code == 2
    assert f"port {taken} is taken" in done.stderr


def test_it_listens_on_this_machine_alone(page: Page) -> None:
    from np2tf.cli.play.app import address_of, new_server

    server = new_server(page, 0)
    try:
        assert server.server_address[0] == "127.0.0.1"
        assert address_of(page, server) == f"http://127.0.0.1:{server.server_port}/{page.token}/"
    finally:
        server.server_close()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is a signal of POSIX")
def test_the_command_serves_until_ctrl_c(tmp_path: Path) -> None:
    """The page begins with the file, and the address is the first line of the output."""
    (tmp_path / "mine.py").write_text("import numpy as np\nprint(np.sin(0.5))\n")
    command = [sys.executable, str(ROOT / "cli.py"), "play", "mine.py", "--no-browser"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        # Tests that run in the background ignore the signal, and their children would, too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            with urllib.request.urlopen(address, timeout=60) as page:
                text = page.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert "print(np.sin(0.5))" in text


def test_notebooks_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text("{}")
    done = CliRunner().invoke(np2tf, ["play", "--no-browser", str(tmp_path / "a.ipynb")])
    assert done.exit_code == 2
    assert "give a Python file" in done.stderr


def test_the_command_line_stays_quick() -> None:
    """Neither door is loaded before it is opened."""
    code = "import sys; import np2tf.cli.main, np2tf.cli.commands.play, np2tf.cli.commands.server; "
    code += "print(sorted({'flask', 'pygls', 'lsprotocol', 'numpy', 'libcst', 'jinja2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
