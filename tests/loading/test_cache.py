"""The cache of translations: what is in it is used, and nothing else is."""

from __future__ import annotations

import importlib
import json
import marshal
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import source_hash
from pathlib import Path

import pytest

import np2tf
from np2tf.cli.main import np2tf as command
from np2tf.core import cache as files
from np2tf.core import cache as fingerprint
from np2tf.core.cache import Cache
from np2tf.loading import translations
from np2tf.loading.code import translation
from np2tf.loading.findings import TranslationWarning
from np2tf.translator.sources.options import Options
from tests.helpers.command_runner import CliRunner

ROOT = Path(__file__).resolve().parents[2]
SOURCE = b"import numpy as np\n\n\ndef f(x):\n    return np.sum(x) + 1\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache for the length of a test."""
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    files.cache.cache_clear()
    monkeypatch.setattr(translations, "_REPORTED_CACHES", [])
    yield tmp_path / "cache" / "translations"
    files.cache.cache_clear()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths of what has been translated and not read."""
    paths: list[str] = []
    original = translation.translation_of

    def counted(data: bytes, path: str, options: Options):
        paths.append(path)
        return original(data, path, options)

    monkeypatch.setattr(translation, "translation_of", counted)
    return paths


def get(data: bytes = SOURCE, path: str = "a.py", options: Options | None = None):
    return translations.translation(path, lambda _: data, options or Options())


def entry(folder: Path, ending: str = "bin") -> Path:
    (found,) = folder.glob(f"*.{ending}")
    return found


def test_second_time_it_is_read(folder: Path, made: list[str]):
    first, second = get(), get()
    assert made == ["a.py"]
    assert first.code == second.code
    assert first.findings == second.findings
    assert second.code.co_filename == "a.py"


def test_what_is_said_is_kept(folder: Path, made: list[str]):
    data = b"import numpy as np\nnp.no_such_name\nx = np.zeros(3)\n"
    first, second = get(data), get(data)
    assert made == ["a.py"]
    assert [finding.code for finding in second.findings] == ["NP2TF002"]
    assert first.findings == second.findings
    assert second.findings[0].diagnostic == np2tf.convert(data.decode(), path="a.py").diagnostics[0]
    assert str(second.findings[0]).startswith("a.py:2:1: NP2TF002 ")


def test_modules_with_nothing_to_do_are_kept_too(folder: Path, made: list[str]):
    data = b"# numpy is only spoken of\nx = 3\n"
    assert get(data).code is None
    assert get(data).code is None
    assert len(made) == 1


def test_the_key_changes_with_all_that_matters(
    folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch
):
    get()
    get(SOURCE + b"\n")
    get(path="b.py")
    get(options=Options(jit=False))
    assert len(made) == 4
    monkeypatch.setattr(fingerprint, "fingerprint", lambda: b"another version or other rules")
    get()
    assert len(made) == 5
    assert len(list(folder.glob("*.bin"))) == 5


def test_the_fingerprint_is_of_rules_and_translator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    names = [Path(path) for path in fingerprint._files()]
    stems = {path.name for path in names}
    files = {"reductions.toml", "pipeline.py", "branches.py", "source_lines.py", "scopes.py", "__init__.py"}
    assert files <= stems
    assert not any(part in ("arrays", "staging") for path in names for part in path.parts)
    before = fingerprint.fingerprint.__wrapped__()
    changed = tmp_path / "rule.toml"
    changed.write_text("x = 1\n")
    monkeypatch.setattr(fingerprint, "_files", lambda: iter([*map(str, names), str(changed)]))
    assert fingerprint.fingerprint.__wrapped__() != before


def test_files_are_readable_and_the_users_alone(folder: Path):
    get()
    text = entry(folder, "py").read_text()
    assert text.startswith("# a.py: translated by np2tf ")
    assert "return tnp.sum(x) + 1" in text
    for path in (folder, *folder.iterdir()):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert len(list(folder.iterdir())) == 2


def poisoned(key: str) -> bytes:
    """A whole entry that would be trusted under `key`."""
    evil = compile("raise SystemExit('executed')", "a.py", "exec")
    content = marshal.dumps((evil, ()))
    return b"np2tf translation\n" + key.encode() + b"\n" + source_hash(content) + content


DAMAGE = {
    "empty": lambda old: b"",
    "short": lambda old: old[:-10],
    "cut in the head": lambda old: old[:20],
    "one bit": lambda old: old[:-5] + bytes([old[-5] ^ 1]) + old[-4:],
    "foreign": lambda old: b"something else altogether" * 100,
    "another key": lambda old: poisoned("0" * 40),
    "hash of another content": lambda old: old[:60] + bytes(32) + poisoned("0" * 40)[92:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_broken_and_foreign_entries_are_made_anew(folder: Path, made: list[str], damage: str):
    good = get()
    path = entry(folder)
    old = path.read_bytes()
    path.write_bytes(DAMAGE[damage](old))
    assert get().code == good.code
    assert len(made) == 2
    get()
    assert len(made) == 2


def test_entries_that_others_may_write_to_are_not_read(folder: Path, made: list[str]):
    get()
    entry(folder).chmod(0o666)
    get()
    assert len(made) == 2
    assert stat.S_IMODE(entry(folder).stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs links")
def test_links_are_not_followed(folder: Path, made: list[str], tmp_path: Path):
    get()
    path = entry(folder)
    elsewhere = tmp_path / "elsewhere.bin"
    elsewhere.write_bytes(path.read_bytes())
    before = elsewhere.read_bytes()
    path.unlink()
    path.symlink_to(elsewhere)
    get()
    assert len(made) == 2
    assert not path.is_symlink()
    assert elsewhere.read_bytes() == before


def test_a_folder_that_others_may_write_to_is_not_used(folder: Path, made: list[str]):
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    with pytest.warns(TranslationWarning, match="NP2TF943"):
        assert get().code is not None
    get()
    assert len(made) == 2
    assert not list(folder.iterdir())


@pytest.mark.skipif(os.name != "posix", reason="needs permissions")
def test_where_nothing_can_be_written_it_works_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path, made: list[str]
):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "file" / "below"))
    with pytest.warns(TranslationWarning, match="translations cannot be cached: .*Not a directory"):
        assert get().code is not None
    # It is said once.
    assert get().code is not None
    assert len(made) == 2


@pytest.mark.parametrize("word", ["off", "0", "OFF", "no"])
def test_turned_off(folder: Path, made: list[str], monkeypatch: pytest.MonkeyPatch, word: str):
    monkeypatch.setenv("NP2TF_CACHE", word)
    get()
    get()
    assert len(made) == 2
    assert not folder.exists()


def test_faults_of_our_own_are_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def fails(*args: object):
        raise RuntimeError("a fault")

    monkeypatch.setattr(translation, "translate", fails)
    assert [finding.code for finding in get().findings] == ["NP2TF905"]
    assert not folder.exists()


def filled(folder: Path, number: int, limit: int) -> Cache:
    """A cache of `number` entries of 1000 bytes or more, the first entry the oldest."""
    cache = Cache(str(folder), limit)
    for k in range(number):
        key = f"{k:040x}"
        cache.store(key, "x" * 1000, "text")
        for path in folder.glob(f"{key}.*"):
            os.utime(path, (time.time() - 10000 + k,) * 2)
    return cache


def test_the_size_is_bounded(tmp_path: Path):
    cache = filled(tmp_path / "c", 20, 10**9)
    cache.limit = 12000
    cache.shrink()
    left = sorted(int(path.stem, 16) for path in (tmp_path / "c").glob("*.bin"))
    assert left == list(range(20 - len(left), 20)), "the oldest go first"
    assert sum(entry.size for entry in cache.entries()) <= 12000
    assert 5 <= len(left) <= 10
    assert len(list((tmp_path / "c").glob("*.py"))) == len(left)


def test_writing_keeps_the_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("np2tf.core.cache._LOOK_EVERY", 5)
    cache = filled(tmp_path / "c", 100, 20000)
    assert sum(entry.size for entry in cache.entries()) < 20000 + 5 * 1200


def test_use_keeps_an_entry_young(tmp_path: Path):
    cache = filled(tmp_path / "c", 2, 10**9)
    path = tmp_path / "c" / f"{0:040x}.bin"
    old = time.time() - 10 * 24 * 3600
    os.utime(path, (old, old))
    assert cache.load(f"{0:040x}") == "x" * 1000
    assert time.time() - path.stat().st_mtime < 60


def test_what_a_dead_process_left_goes(tmp_path: Path):
    cache = filled(tmp_path / "c", 1, 10**9)
    old, young = tmp_path / "c" / f"{1:040x}.abc.tmp", tmp_path / "c" / f"{2:040x}.def.tmp"
    for path in (old, young):
        path.write_text("half")
    os.utime(old, (time.time() - 7200,) * 2)
    cache.shrink()
    assert not old.exists()
    assert young.exists()


def test_other_files_are_not_touched(tmp_path: Path):
    cache = filled(tmp_path / "c", 3, 0)
    foreign = tmp_path / "c" / "thesis.py"
    foreign.write_text("years of work")
    cache.shrink()
    cache.clear()
    assert [path.name for path in (tmp_path / "c").iterdir()] == ["thesis.py"]


PROCESS = """
import sys, time
sys.path.insert(0, sys.argv[1])
from np2tf.core import cache as files
from np2tf.loading import translations as store
from np2tf.translator.sources.options import Options
start = float(sys.argv[2])
time.sleep(max(0, start - time.time()))
for turn in range(30):
    for k in range(6):
        source = f"import numpy as np\\n\\ndef f(x):\\n    return np.sum(x) + {100 + k}\\n".encode()
        made = store.translation(f"module_{k}.py", lambda _: source, Options())
        assert made.code is not None and made.code.co_filename == f"module_{k}.py"
        function = next(one for one in made.code.co_consts if getattr(one, "co_name", "") == "f")
        assert 100 + k in function.co_consts
    if turn % 10 == int(sys.argv[3]):
        files.cache().clear()
print("libcst" in sys.modules)
"""


def test_many_processes_at_once(folder: Path):
    """Processes translate, read, and clear the same entries at the same time, and every process gets the
    right result.
    """
    start = str(time.time() + 2)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, str(ROOT), start, str(k)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for k in range(6)
    ]
    errors = [process.communicate(timeout=120)[1] for process in running]
    assert [process.returncode for process in running] == [0] * 6, errors
    assert errors == [""] * 6
    assert not list(folder.glob("*.tmp"))


HIT = """
import sys
from unittest.mock import MagicMock
sys.path.insert(0, sys.argv[1])
import np2tf
import np2tf.staging.objects.code_names  # which is none of those below
import np2tf.staging.host.watched_loops  # nor this
from np2tf.loading.import_hook import install
install(["cached_module"])
# What the translation imports, and what becomes of its functions, are none of the cache's business.
for name in ("environment.raw_tensors", "environment.tensorflow_patches", "host.originals"):
    sys.modules[f"np2tf.staging.control.{name}"] = MagicMock()
names = {"_np2tf_type": type, "_np2tf_suspects": ()}
sys.modules["np2tf.staging.process.boundary"].NAMES = names
sys.modules["np2tf.tnp"] = MagicMock()
import cached_module
names = ("libcst", "np2tf.core.diagnostics", "np2tf.translator.pipeline", "np2tf.core.rules")
print([name for name in names if name in sys.modules])
print(cached_module.__spec__.loader.translated)
"""


def test_a_hit_loads_neither_libcst_nor_the_rules(folder: Path, tmp_path: Path):
    (tmp_path / "cached_module.py").write_bytes(SOURCE)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HIT, str(tmp_path)]
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60) for _ in range(2)
    ]
    first, second = (run.stdout.splitlines() for run in runs)
    assert (
        first[0] == "['libcst', 'np2tf.core.diagnostics', 'np2tf.translator.pipeline', 'np2tf.core.rules']"
    ), runs[0].stderr
    assert second == ["[]", "True"], runs[1].stderr


def test_an_import_uses_it(folder: Path, made: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "imported_twice.py").write_bytes(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for _ in range(2):
        with np2tf.translating("imported_twice"):
            module = importlib.import_module("imported_twice")
        assert module.f([1.0, 2.0]) == 4.0
        del sys.modules["imported_twice"]
    assert len(made) == 1


# -- the command ---------------------------------------------------------------------------------------------


def run(*arguments: str):
    return CliRunner().invoke(command, ["cache", *arguments])


def test_info_and_clear(folder: Path):
    done = run("info")
    assert done.exit_code == 0
    assert done.output.splitlines()[:2] == [f"folder: {folder}", "translations: 0"]
    get()
    told = json.loads(run("info", "--json").output)
    assert told["translations"] == 1
    assert told["bytes"] == sum(path.stat().st_size for path in folder.iterdir())
    assert run("clear").output == "2 files removed\n"
    assert json.loads(run("info", "--json").output)["translations"] == 0


def test_the_most_that_is_kept_can_be_said(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NP2TF_CACHE_SIZE", "1.5")
    files.cache.cache_clear()
    assert json.loads(run("info", "--json").output)["limit"] == 1_500_000
    monkeypatch.setenv("NP2TF_CACHE_SIZE", "much")
    files.cache.cache_clear()
    assert json.loads(run("info", "--json").output)["limit"] == 256_000_000


def test_info_of_a_cache_that_is_off(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NP2TF_CACHE", "off")
    files.cache.cache_clear()
    done = run("info")
    assert done.exit_code == 2
    assert "NP2TF_CACHE has turned the cache off" in done.output


def test_the_platforms_folder_is_the_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.delenv("NP2TF_CACHE_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    files.cache.cache_clear()
    folder = files.cache().folder
    files.cache.cache_clear()
    assert "np2tf" in folder
    if sys.platform == "linux":
        assert folder == str(tmp_path / "np2tf" / "translations")


def test_the_command_loads_neither_tensorflow_nor_libcst(folder: Path):
    code = (
        "import sys\nfrom np2tf.cli.main import np2tf\n"
        "try:\n    np2tf(['cache', 'info'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "print([name for name in ('tensorflow', 'numpy', 'libcst') if name in sys.modules])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
