"""`np2tf server` with a real client over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lsprotocol import types

from np2tf import Options, convert
from np2tf.core.diagnostics import codes
from np2tf.translator.control.fates import CALLED
from tests.helpers.command_runner import CliRunner
from tests.helpers.editor_client import Client, edited

TEXT = '''"""A module."""
import numpy as np


def smooth(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


def area(y):
    return np.trapz("é𝒳", np.sin(y))


def show(y):
    print(np.cos(y))


smooth(np.zeros(3), area(4))
'''
ABILITIES = types.ClientCapabilities(
    window=types.WindowClientCapabilities(show_document=types.ShowDocumentClientCapabilities(True)),
    workspace=types.WorkspaceClientCapabilities(
        inlay_hint=types.InlayHintWorkspaceClientCapabilities(refresh_support=True),
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True),
    ),
)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One server for all tests of this file, in an empty folder."""
    client = Client(tmp_path_factory.mktemp("editor"), ABILITIES)
    yield client
    assert client.close() == 0


@pytest.fixture
def uri(client: Client, tmp_path: Path) -> Iterator[str]:
    """The URI of a document that no test shares."""
    uri = (tmp_path / "a module.py").as_uri()
    yield uri
    client.close_document(uri)
    assert client.findings_of(uri, None) == []


def codes_of(findings: list[types.Diagnostic]) -> list[str]:
    return [str(finding.code) for finding in findings]


def checked(folder: Path, text: str) -> list[tuple[str, int, str]]:
    """The codes, lines and messages that `np2tf check` finds in a text."""
    from np2tf.cli.main import np2tf

    (folder / "checked.py").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(np2tf, ["check", "-q", "--format", "json", str(folder / "checked.py")])
    return [(finding["code"], finding["line"], finding["message"]) for finding in json.loads(done.stdout)]


def test_findings_are_those_of_check(client: Client, uri: str, tmp_path: Path) -> None:
    """Codes, lines and messages are the same; columns are in the client's units."""
    text = TEXT + "np.nonsense(1)\n"
    found = client.open(uri, text)
    facts = [(str(one.code), one.range.start.line + 1, one.message) for one in found]
    assert facts == checked(tmp_path, text)
    removed, unknown = found
    assert (removed.range.start, removed.range.end) == (types.Position(11, 11), types.Position(11, 19))
    assert removed.severity == types.DiagnosticSeverity.Information
    assert (unknown.severity, unknown.source) == (types.DiagnosticSeverity.Warning, "np2tf")


def test_columns_are_of_utf_16(client: Client, uri: str) -> None:
    found = client.open(uri, 'import numpy as np\nx = "𝒳𝒳", np.trapz([1.0])\n')
    assert [(one.range.start.character, one.range.end.character) for one in found] == [(12, 20)]


def test_the_configuration_counts(client: Client, uri: str, tmp_path: Path) -> None:
    """It is read anew, so that a change of it shows when the document is saved."""
    assert "NP2TF008" in codes_of(client.open(uri, TEXT))
    (tmp_path / "pyproject.toml").write_text('[tool.np2tf]\nignore = ["NP2TF008"]\n')
    client.save(uri)
    assert "NP2TF008" not in codes_of(client.findings_of(uri, 1))
    (tmp_path / "pyproject.toml").write_text('[tool.np2tf]\nexclude = ["*.py"]\n')
    client.save(uri)
    assert client.findings_of(uri, 1) == []


def test_a_wrong_configuration_is_said_once(client: Client, uri: str, tmp_path: Path) -> None:
    (tmp_path / "np2tf.toml").write_text("selekt = []\n")
    document = types.TextDocumentItem(uri, "python", 1, TEXT)
    client._call(client.client.text_document_did_open, types.DidOpenTextDocumentParams(document))
    message = client.messages.get(timeout=60)
    assert "unknown key `selekt`" in message.message
    client.save(uri)
    assert client.hints(uri) == {}
    assert client.messages.empty()


def test_suppressions_count(client: Client, uri: str) -> None:
    hidden = TEXT.replace("np.sin(y))\n", "np.sin(y))  # np2tf: ignore[NP2TF008]\n")
    assert "NP2TF008" not in codes_of(client.open(uri, hidden))
    client.change(uri, 2, hidden.replace("trapz", "trapezoid"))
    assert codes_of(client.findings_of(uri, 2)).count("NP2TF911") == 1


def test_half_written_code(client: Client, uri: str) -> None:
    """The error is shown beside what is still true of the last text that was Python."""
    before = client.open(uri, TEXT)
    client.change(uri, 2, "# one line more\n" + TEXT.replace("def show(y):", "def show(y, :"))
    found = client.findings_of(uri, 2)
    assert codes_of(found) == ["NP2TF901", *codes_of(before)]
    assert [one.range.start.line for one in found[1:]] == [one.range.start.line + 1 for one in before]
    assert {line for line, _ in client.hints(uri)} == {5, 11}
    assert "NP2TF008" not in " ".join(client.actions(uri, 12, 12))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "def",
        "def f(",
        "import numpy as np\nx = np.",
        "'''",
        "\ufeffimport numpy as np\nnp.trapz",
        "\x00",
        "import numpy as np\nreturn np.sin(1)\n",
        "# -*- coding: nonsense -*-\nimport numpy as np\n",
        "# -*- coding: ascii -*-\nimport numpy as np\nnp.trapz('é')\n",
        "if 1:\n\tx\n  y",
        "import numpy as np\r\n\x0cnp.trapz([1])\r\n",
        "x = (" * 300,
    ],
)
def test_no_text_ends_the_server(client: Client, uri: str, text: str) -> None:
    """A text is examined or refused, also while half of it is written; everything is still answered."""
    found = client.open(uri, text)
    assert not {"NP2TF905", "NP2TF908"} & set(codes_of(found))
    client.hover(uri, 0, 1)
    client.hints(uri)
    client.actions(uri, 0)
    client.change(uri, 2, TEXT)
    assert "NP2TF008" in codes_of(client.findings_of(uri, 2))


def test_every_prefix_of_a_text(client: Client, uri: str) -> None:
    """Typing a program letter by letter never fails; only the last text need be examined."""
    client.open(uri, "")
    for version in range(2, len(TEXT) + 2):
        client.change(uri, version, TEXT[: version - 1])
    assert "NP2TF008" in codes_of(client.findings_of(uri, len(TEXT) + 1))
    assert client.messages.empty()


def test_hover_has_the_reason_and_the_remedy(client: Client, uri: str) -> None:
    client.open(uri, TEXT + "x = 1  # np2tf: ignore[NP2TF401]\n")
    text = client.hover(uri, 11, 13)
    assert text is not None
    assert "NumPy removed `np.trapz`; it is `np.trapezoid` now" in text
    assert codes()["NP2TF008"].why in text
    assert codes()["NP2TF008"].remedy in text
    assert client.hover(uri, 5, 0) is None
    text = client.hover(uri, 19, 26)  # in the code of a comment
    assert text is not None
    assert codes()["NP2TF401"].remedy in text


def test_fates_are_hints_behind_the_def(client: Client, uri: str) -> None:
    client.open(uri, TEXT.replace("def area", "@np.vectorize\ndef area"))
    hints = client.hints(uri)
    assert hints[4, len("def smooth(u, n):")] == "compiled: the loop at line 6"
    assert (11, len("def area(y):")) in hints  # and not behind the decorator
    assert hints[11, len("def area(y):")].startswith("NumPy: ")


def test_quick_fixes(client: Client, uri: str) -> None:
    """A finding is mended as `check --fix` does, or hidden as `check --add-ignore` does."""
    client.open(uri, TEXT)
    actions = client.actions(uri, 11, 12, [types.CodeActionKind.QuickFix])
    assert list(actions) == ["Write np.trapezoid for np.trapz (NP2TF008)", "Hide NP2TF008 in this statement"]
    fixed = edited(TEXT, actions["Write np.trapezoid for np.trapz (NP2TF008)"])
    assert fixed == TEXT.replace("trapz", "trapezoid")
    hidden = edited(TEXT, actions["Hide NP2TF008 in this statement"])
    assert hidden == TEXT.replace("np.sin(y))\n", "np.sin(y))  # np2tf: ignore[NP2TF008]\n")
    client.change(uri, 2, hidden)
    assert "NP2TF008" not in codes_of(client.findings_of(uri, 2))
    client.change(uri, 3, hidden.replace("trapz", "trapezoid"))
    client.findings_of(uri, 3)
    (action,) = client.actions(uri, 11, 45, [types.CodeActionKind.QuickFix]).values()
    assert edited(hidden.replace("trapz", "trapezoid"), action) == fixed


def test_all_fixes_at_once(client: Client, uri: str) -> None:
    text = TEXT + "np.float_(1) + np.product([2])\n"
    client.open(uri, text)
    (action,) = client.actions(uri, 0, only=["source.fixAll"]).values()
    expected = text.replace("trapz", "trapezoid").replace("float_", "float64").replace("product", "prod")
    assert edited(text, action) == expected


def test_what_a_file_becomes(client: Client, uri: str) -> None:
    client.open(uri, TEXT)
    action = client.actions(uri, 0)["np2tf: translate this file"]
    assert edited(TEXT, action) == convert(TEXT, Options(as_source=True)).text


def test_edits_are_of_one_version(client: Client, uri: str, tmp_path: Path) -> None:
    """A client that has typed on refuses them; one that knows no versions gets edits all the same."""
    client.open(uri, TEXT)
    client.change(uri, 7, TEXT)
    edit = client.actions(uri, 0)["np2tf: translate this file"].edit
    assert edit.document_changes[0].text_document == types.OptionalVersionedTextDocumentIdentifier(uri, 7)
    other = Client(tmp_path)
    other.open(uri, TEXT)
    action = other.actions(uri, 0)["np2tf: translate this file"]
    assert list(action.edit.changes) == [uri]
    assert edited(TEXT, action) == convert(TEXT, Options(as_source=True)).text
    assert other.close() == 0


def test_what_a_function_becomes(client: Client, uri: str) -> None:
    """One function is as in the translation of the file, with its imports; the others stay."""
    client.open(uri, TEXT)
    after = edited(TEXT, client.actions(uri, 6)["np2tf: translate `smooth`"])
    whole = convert(TEXT, Options(as_source=True)).text
    function = whole[whole.index("@np2tf.jit\ndef smooth") : whole.index("\n\n\ndef area")]
    assert function in after
    assert "import numpy as np\nimport np2tf\nfrom np2tf import tnp\n" in after
    assert "np.trapz(" in after
    assert "np2tf: translate `smooth`" not in client.actions(uri, 0)


@pytest.mark.parametrize(("target", "package"), [("np2tf", "np2tf"), ("tf", "tensorflow")])
def test_a_translation_in_a_document_of_its_own(client: Client, uri: str, target: str, package: str) -> None:
    """It opens at the function that the cursor is in."""
    text = "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n\n\n"
    text += "def g(x):\n    y = f(x)\n    for k in range(3):\n        y = y + np.sin(x)\n    return y\n"
    client.open(uri, text)
    end = " for TensorFlow alone" if target == "tf" else ""
    action = client.actions(uri, 9)[f"np2tf: show what this file becomes{end}"]
    assert isinstance(action, types.Command)
    client.execute(action)
    shown = client.documents.get(timeout=60)
    file = Path(types_path(shown.uri))
    assert file.read_text(encoding="utf-8") == convert(text, Options(as_source=True, target=target)).text
    assert package in file.read_text(encoding="utf-8")
    assert shown.selection is not None
    line = file.read_text(encoding="utf-8").splitlines()[shown.selection.start.line]
    assert line.startswith(("@", "def g"))


def types_path(uri: str) -> str:
    from pygls.uris import to_fs_path

    path = to_fs_path(uri)
    assert path is not None
    return path


def test_a_refusal_is_said(client: Client, uri: str) -> None:
    """What TensorFlow alone cannot do is a message, and no document."""
    client.open(uri, "import numpy as np\n\n\ndef f(x):\n    return [float(one) for one in np.nditer(x)]\n")
    action = client.actions(uri, 4)["np2tf: show what this file becomes for TensorFlow alone"]
    assert isinstance(action, types.Command)
    client.execute(action)
    assert "NP2TF601" in client.messages.get(timeout=60).message


def test_a_document_that_is_no_file(client: Client) -> None:
    assert codes_of(client.open("untitled:Untitled-1", "import numpy as np\nnp.trapz([1])\n")) == ["NP2TF008"]
    client.close_document("untitled:Untitled-1")


def test_without_pygls(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says what to install; its help always works."""
    from np2tf.cli.main import np2tf

    monkeypatch.setitem(sys.modules, "pygls", None)
    done = CliRunner().invoke(np2tf, ["server"])
    assert done.exit_code == 2
    assert "pygls is not installed: pip install 'np2tf[editor]'" in done.stderr
    assert CliRunner().invoke(np2tf, ["server", "--help"]).exit_code == 0


def test_without_numpy() -> None:
    """The translator alone is enough: fates are as the text shows them."""
    code = f"""if True:
        import sys
        sys.modules["numpy"] = sys.modules["tensorflow"] = None
        from pathlib import Path
        from np2tf.cli.configuration import Configurations
        from np2tf.cli.editor.examination import examine
        from np2tf.cli.editor.server import new_server
        found = examine(Path("a.py"), {TEXT!r}, Configurations())
        print([one.code for one in found.findings], [one.words for one in found.fates])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.stdout == f"['NP2TF008'] ['compiled', {CALLED!r}, {CALLED!r}]\n"
