"""The programs that are translated for TensorFlow alone: fixtures, cases of this folder, random programs."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from np2tf.translator.pipeline import Result, translate
from np2tf.translator.sources.options import Options
from np2tf.translator.tree.source import Source, SourceError
from tests.translator.tensorflow.small_programs import Maker

FIXTURES = Path(__file__).resolve().parents[3] / "fixtures"
#: Fixture -> what makes it smaller: an operation takes some microseconds where nothing is compiled.
SMALLER = {
    "programs/histogram": {"n = 3_000_000": "n = 3_000"},
    "programs/kalman": {"simulate(6000": "simulate(140"},
    "programs/kmeans": {"make_blobs(30000": "make_blobs(300"},
    "programs/nbody": {"plummer_sphere(220)": "plummer_sphere(9)", "steps=250": "steps=7"},
    "programs/option_pricing": {"draw_normals(100_000, 250)": "draw_normals(1_000, 20)"},
    "programs/svd_compression": {"test_image(640)": "test_image(64)"},
    "programs/cholesky": {"n = 500": "n = 20"},
    "programs/conjugate_gradient": {"n = 128": "n = 12"},
    "programs/edit_distance": {"random_dna(500": "random_dna(12"},
    "programs/floyd_warshall": {"n = 600": "n = 30"},
    "programs/game_of_life": {"soup(512, 512)": "soup(32, 32)", "generations=300": "generations=9"},
    "programs/perceptron": {"two_spirals(12000": "two_spirals(300", "epochs=30": "epochs=3"},
    "programs/mandelbrot": {"width, height = 1200, 1000": "width, height = 60, 50"},
    "programs/logistic_regression": {"make_data(40000, 20)": "make_data(400, 5)"},
    "programs/fft_poisson": {"n, length = 256": "n, length = 16", "steps=40": "steps=3"},
    "programs/gauss_seidel": {"ny, nx = 48, 48": "ny, nx = 9, 9", "max_iter=500": "max_iter=10"},
    "programs/jacobi_heat": {"n = 512": "n = 16"},
    "programs/wave_equation": {"n = 400": "n = 32", "steps=400": "steps=12"},
}
RANDOM = range(70)


def for_tensorflow(text: str | bytes, path: str = "program.py") -> Result:
    """A translation for TensorFlow alone."""
    return translate(Source.of(text, path), Options(target="tf"))


def refusals(result: Result) -> list[str]:
    """The codes for which a file stays as it is."""
    return [diagnostic.code for diagnostic in result.diagnostics if diagnostic.severity == "error"]


def reasons(result: Result) -> list[str]:
    """What stays on NumPy in a translation, and why."""
    return [diagnostic.message for diagnostic in result.diagnostics if diagnostic.code == "NP2TF611"]


def fixture_paths() -> dict[str, Path]:
    """Every fixture by its name. None is translated: a worker that runs none of these tests takes no time."""
    paths = sorted([*FIXTURES.glob("*/*.np.py"), *FIXTURES.glob("programs/*.py")])
    return {f"{path.parent.name}/{path.name.removesuffix('.py').removesuffix('.np')}": path for path in paths}


@lru_cache(maxsize=1)
def fixtures() -> dict[str, tuple[str, Result]]:
    """Every fixture that can be parsed: its text and what becomes of it."""
    found = {}
    for name, path in fixture_paths().items():
        try:
            source = Source.of(path.read_bytes(), str(path))
        except SourceError:
            continue
        text = source.text
        for before, after in SMALLER.get(name, {}).items():
            assert before in text, name
            text = text.replace(before, after)
        found[name] = (text, for_tensorflow(text, str(path)))
    return found


def translated_fixtures() -> list[str]:
    """The names of the fixtures that are translated."""
    return [name for name, (_, made) in fixtures().items() if made.changed and not refusals(made)]


@lru_cache(maxsize=1)
def random_programs() -> dict[str, tuple[str, Result]]:
    """Random programs that are translated."""
    found = {}
    for kind in ("random", "objects", "borders"):
        for seed in RANDOM:
            text = Maker(seed, kind == "objects", kind == "borders").program()
            made = for_tensorflow(text)
            if not refusals(made):
                found[f"{kind} {seed}"] = (text, made)
    return found


@lru_cache(maxsize=1)
def partly_translated() -> dict[str, tuple[str, Result]]:
    """The programs of which something stays on NumPy, as far as something is translated."""
    from tests.translator.tensorflow.border_cases import PARTLY
    from tests.translator.tensorflow.cases import REFUSED
    from tests.translator.tensorflow.class_cases import REFUSED as WITH_CLASSES

    programs = {name: source for name, (source, _) in {**REFUSED, **WITH_CLASSES}.items()}
    made = {f"stays: {name}": (text, for_tensorflow(text)) for name, text in {**programs, **PARTLY}.items()}
    return {name: (text, result) for name, (text, result) in made.items() if not refusals(result)}


def every_translation() -> list[tuple[str, str | dict[str, str], str | dict[str, str]]]:
    """Name, source and translation of all programs and projects that are translated."""
    from tests.translator.tensorflow import applications
    from tests.translator.tensorflow.cases import LOUD, TRANSLATED
    from tests.translator.tensorflow.class_cases import TRANSLATED as WITH_CLASSES
    from tests.translator.tensorflow.projects import every_project

    made: list[tuple[str, Any, Any]] = [
        (name, fixtures()[name][0], fixtures()[name][1].text) for name in translated_fixtures()
    ]
    made += [
        (name, text, for_tensorflow(text).text)
        for name, text in {**TRANSLATED, **WITH_CLASSES, **LOUD}.items()
    ]
    made += [(name, text, result.text) for name, (text, result) in random_programs().items()]
    made += [(name, text, result.text) for name, (text, result) in partly_translated().items()]
    made += [
        (f"kernel: {name}", *applications.kernel_program(name)) for name in applications.changed_kernels()
    ]
    made += [
        (f"application: {name}", *applications.project_program(name))
        for name in applications.changed_projects()
    ]
    return made + [(name, files, texts) for name, (files, texts) in every_project().items()]
