"""A source that nobody has touched is not read again, and a source that somebody has touched is."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from np2tf.core import cache
from np2tf.loading import translations as sources
from np2tf.loading import translations as store
from np2tf.loading.findings import Translation
from np2tf.translator.sources.options import Options

SOURCE = b"import numpy as np\n\n\ndef f(x):\n    return np.sum(x) + 1\n"
OTHER = SOURCE.replace(b"1", b"2")


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A source file, an empty cache, and file times that count at once."""
    monkeypatch.setenv("NP2TF_CACHE", "on")
    monkeypatch.setenv("NP2TF_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sources, "_SETTLING_TIME", 0)
    new_process()
    path = tmp_path / "source_of_functions.py"
    path.write_bytes(SOURCE)
    yield path
    store._sources.cache_clear()
    cache.cache.cache_clear()


def new_process() -> None:
    """Forget what a process knows, once what it would write at its end is written."""
    options = Options()
    kept = cache.cache()
    if kept is not None:
        store._sources(kept, options).write()
    store._sources.cache_clear()
    cache.cache.cache_clear()


def constants(path: Path, reads: list[str]) -> tuple[object, ...]:
    """The constants of f in a file's translation; adds to `reads` if the file was read."""

    def read(name: str) -> bytes:
        reads.append(name)
        return Path(name).read_bytes()

    made = store.translation(str(path), read, Options())
    assert made.code is not None
    return next(
        constant.co_consts for constant in made.code.co_consts if getattr(constant, "co_name", "") == "f"
    )


def test_an_untouched_source_is_read_once(source: Path):
    reads: list[str] = []
    first = constants(source, reads)
    new_process()
    assert constants(source, reads) == first
    assert len(reads) == 1


def test_a_source_with_the_size_and_time_of_the_old_one_is_read(source: Path):
    reads: list[str] = []
    constants(source, reads)
    new_process()
    before = source.stat()
    source.write_bytes(OTHER)
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert 2 in constants(source, reads)
    assert len(reads) == 2


def test_a_source_replaced_by_another_file_is_read(source: Path):
    reads: list[str] = []
    constants(source, reads)
    new_process()
    other_file = source.with_name("other.py")
    other_file.write_bytes(OTHER)
    os.replace(other_file, source)
    assert 2 in constants(source, reads)


def test_a_source_touched_a_moment_ago_is_read_again(source: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sources, "_SETTLING_TIME", 60 * 10**9)
    reads: list[str] = []
    constants(source, reads)
    new_process()
    constants(source, reads)
    assert len(reads) == 2


def test_other_options_have_translations_of_their_own(source: Path):
    constants(source, [])
    new_process()
    kept = cache.cache()
    assert kept is not None
    seen = sources.FileState.of(str(source))
    assert sources.Sources(kept, Options()).find(str(source), seen)
    assert sources.Sources(kept, Options(jit=False)).find(str(source), seen) is None


def test_a_file_that_binds_a_name_of_numpy_counts_too(source: Path):
    """A translation that takes a name of another file for NumPy's is made again when this file changes."""
    origin = source.with_name("origin_of_names.py")
    origin.write_text("import numpy as np\n")
    source.write_text("from origin_of_names import np\n\n\ndef f(x):\n    return np.sum(x) + 1\n")

    def reads_tnp() -> bool:
        code = store.translation(str(source), lambda name: source.read_bytes(), Options()).code
        return code is not None and "tnp" in code.co_names

    assert reads_tnp()
    new_process()
    cached_translation = store.translation(str(source), lambda name: b"not read", Options())
    assert cached_translation.code is not None
    for text in ("import math as np\n", None):
        new_process()
        if text is None:
            origin.unlink()
        else:
            origin.write_text(text)
        assert not reads_tnp()


def test_what_is_said_is_kept(source: Path):
    source.write_bytes(b"import numpy as np\nnp.no_such_name\nx = np.zeros(3)\n")
    first = store.translation(str(source), lambda name: source.read_bytes(), Options())
    new_process()
    second = store.translation(str(source), lambda name: b"not read", Options())
    assert [finding.code for finding in first.findings] == ["NP2TF002"]
    assert second.findings == first.findings
    assert second.key == first.key


def test_a_cleared_cache_is_empty(source: Path):
    reads: list[str] = []
    first = constants(source, reads)
    new_process()
    kept = cache.cache()
    assert kept is not None
    kept.clear()
    assert constants(source, reads) == first
    assert len(reads) == 2


DAMAGE = {
    "cut in the head": lambda old: old[:70],
    "cut": lambda old: old[:-10],
    "a bit of the table": lambda old: old[:90] + bytes([old[90] ^ 1]) + old[91:],
    "a bit of the translation": lambda old: old[:-10] + bytes([old[-10] ^ 1]) + old[-9:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_folder_s_damaged_entry_is_not_used(source: Path, damage: str):
    reads: list[str] = []
    first = constants(source, reads)
    new_process()
    translations = source.with_name("cache") / "translations"
    (entry,) = [path for path in translations.glob("*.bin") if not path.with_suffix(".py").exists()]
    damaged = DAMAGE[damage](entry.read_bytes())
    entry.write_bytes(damaged)
    assert constants(source, reads) == first
    assert len(reads) == 2
    new_process()
    assert entry.read_bytes() != damaged
    assert constants(source, reads) == first
    assert len(reads) == 2


def test_a_source_without_numpy_is_not_read_to_see_that(source: Path):
    source.write_bytes(b"x = 1\n")

    def no_reading(name: str) -> bytes:
        raise AssertionError(name)

    compiled = [compile("x = 1\n", str(source), "exec")]
    first = store.translation(str(source), lambda name: source.read_bytes(), Options(), compiled.pop)
    new_process()
    second = store.translation(str(source), no_reading, Options(), compiled.pop)
    assert first.code is None
    assert second.code is None
    assert second.own_code == first.own_code
    assert second.own_code is not None


def test_processes_add_to_what_others_have_written_and_drop_what_is_gone(source: Path):
    kept = cache.cache()
    assert kept is not None
    paths = [source, source.with_name("other.py"), source.with_name("gone.py")]
    for path in paths[1:]:
        path.write_bytes(OTHER)
    processes = [sources.Sources(kept, Options()) for _ in paths]
    for process, path in zip(processes, paths, strict=True):
        process.remember(str(path), sources.FileState.of(str(path)), Translation(None, (), key=path.name))
    before = sources.FileState.of(str(paths[2]))
    for process in processes:
        process.write()
        if process is processes[1]:
            paths[2].unlink()
    last = sources.Sources(kept, Options())
    for path in paths[:2]:
        found = last.find(str(path), sources.FileState.of(str(path)))
        assert found is not None
        assert found.key == path.name
    assert last.find(str(paths[2]), before) is None


def test_originals_are_kept_with_their_translations(source: Path):
    """The cache gives back the code of the same functions, and the pairs are of the module's own code."""
    made = store.translation(str(source), lambda name: Path(name).read_bytes(), Options())
    kept = sources._read(sources._serialize(made))
    assert kept.code is not None
    (translated, original, _), *further_pairs = kept.originals.pairs
    assert not further_pairs
    assert any(constant is translated for constant in kept.code.co_consts)
    assert original.co_names == ("np2tf: np", "sum")
    assert made.originals.pairs[0][:2] == (translated, original)
