"""The functions that are measured on accelerators, and their arguments. Needs NumPy alone.

A case is a kernel of `benchmarks/kernels`, or a function of a program of `fixtures/programs`, at one size and
with one dtype. Its inputs are the arrays among its arguments; Python's numbers are part of the program.
"""

from __future__ import annotations

import copy
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

BENCHMARKS = Path(__file__).resolve().parent.parent
PROGRAMS = BENCHMARKS.parent / "fixtures" / "programs"
sys.path.insert(0, str(BENCHMARKS))

from kernel_systems import KERNELS, arguments, load  # noqa: E402  # beside this folder

#: A kernel's second size, which takes a GPU some milliseconds. Kernels that are absent have one size: they
#: are sequences of small steps, which take as long at the first.
LARGE: dict[str, int] = {
    "alternating_directions": 1500,
    "autocovariance": 200000,
    "azimuthal_integration": 10_000_000,
    "bilateral_filter": 1500,
    "black_scholes": 20_000_000,
    "cavity_flow": 800,
    "clipped_integers": 8000,
    "conv_net": 1024,
    "correlation": 3000,
    "coupled_oscillators": 3000,
    "covariance": 2500,
    "dense_layers": 20000,
    "fft_butterflies": 22,
    "fft_convolution": 2048,
    "floyd_warshall": 1200,
    "game_of_life": 4000,
    "gaussian_process": 1500,
    "gemver": 8000,
    "great_circle": 20_000_000,
    "grey_levels": 4096,
    "heat_3d": 200,
    "histogram": 2_000_000,
    "horizontal_diffusion": 640,
    "inverse_distances": 3000,
    "ising_model": 768,
    "jacobi_2d": 3000,
    "k_means": 200_000,
    "lattice_boltzmann": 400,
    "life_board": 2500,
    "logistic_regression": 200_000,
    "lu": 1500,
    "mandelbrot": 3000,
    "matrix_powers": 2000,
    "maxwell_2d": 3000,
    "nbody": 2000,
    "outlier_clipping": 10_000_000,
    "page_rank": 8000,
    "ridge_regression": 1200,
    "ring_means": 10_000_000,
    "sobel": 6000,
    "sparse_matvec": 500_000,
    "symmetric_rank_k": 1500,
    "thomas_3d": 300,
    "trace_and_shift": 8000,
    "vertical_advection": 384,
    "wave_equation": 2400,
    "program_conjugate_gradient": 512,
    "program_jacobi_heat": 2048,
    "program_mandelbrot": 4000,
    "program_nbody": 2000,
    "program_option_pricing": 1_000_000,
    "program_wave_equation": 2000,
}
#: The cases that tell most, in this order; the others follow.
FIRST = (
    *("black_scholes", "gemver", "program_mandelbrot", "jacobi_2d", "nbody", "program_nbody", "great_circle"),
    *("program_conjugate_gradient", "heat_3d", "mandelbrot", "histogram", "lu", "floyd_warshall", "sobel"),
    *("sparse_matvec", "vertical_advection", "horizontal_diffusion", "game_of_life", "maxwell_2d", "k_means"),
    *(
        "wave_equation",
        "conv_net",
        "correlation",
        "cavity_flow",
        "thomas_3d",
        "csr_slices",
        "bilateral_filter",
    ),
    *("program_jacobi_heat", "program_option_pricing", "program_wave_equation", "matrix_powers", "page_rank"),
    *("inverse_distances", "lattice_boltzmann", "clipped_integers", "logistic_regression", "cholesky"),
)
#: Iterations until a difference is smaller than float32 can tell.
FLOAT64_ALONE = frozenset({"page_rank", "program_conjugate_gradient"})
#: A digest has at most so many elements of an array.
SAMPLES = 64


def _grid(module: Any, size: int) -> tuple[Any, ...]:
    return module.complex_grid(-2.0, 0.6, -1.2, 1.2, size, size * 5 // 6), 30


def _sphere(module: Any, size: int) -> tuple[Any, ...]:
    return (*module.plummer_sphere(size), 0.005, 50)


def _system(module: Any, size: int) -> tuple[Any, ...]:
    ax, ay = module.face_coefficients(module.coefficient(size))
    grid = (np.arange(size) + 0.5) / size
    b = np.outer(np.sin(np.pi * grid), grid * (1 - grid)) / size**2
    return b, ax, ay, 1.0 / (ax[1:] + ax[:-1] + ay[:, 1:] + ay[:, :-1])


def _plate(module: Any, size: int) -> tuple[Any, ...]:
    return (*module.make_plate(size), 1.0 / (size - 1), 2e-2, 200)


def _paths(module: Any, size: int) -> tuple[Any, ...]:
    return module.draw_normals(size, 100), 100.0, 0.03, 0.25, 1.0


def _pond(module: Any, size: int) -> tuple[Any, ...]:
    return module.gaussian_drop(size, (-0.3, 0.2), 0.08), module.sponge(size), 100


#: Programs' functions: the function, its arguments by size, and today's size.
_FUNCTIONS: dict[str, tuple[str, Callable[[Any, int], tuple[Any, ...]], int]] = {
    "conjugate_gradient": ("cg", _system, 128),
    "jacobi_heat": ("solve", _plate, 512),
    "mandelbrot": ("escape_times", _grid, 1200),
    "nbody": ("simulate", _sphere, 220),
    "option_pricing": ("price_paths", _paths, 100_000),
    "wave_equation": ("propagate", _pond, 400),
}


@dataclass(frozen=True)
class Case:
    """A function at one size and with one dtype.

    Attributes:
        name: the kernel's name; a program's has "program_" before it.
        size: "SIZE" (today's), "LARGE" or "SMALL".
        dtype: "float64" as the source has it, or "float32": the floats among the inputs are of this dtype.
    """

    name: str
    size: str
    dtype: str

    @property
    def key(self) -> str:
        """The case as one word."""
        return f"{self.name}-{self.size}-{self.dtype}"

    @property
    def source(self) -> Path:
        """The file that has the function."""
        name = self.name.removeprefix("program_")
        return (KERNELS if name == self.name else PROGRAMS) / f"{name}.py"

    @property
    def function(self) -> str:
        """The name of the function."""
        return "kernel" if self.source.parent == KERNELS else _FUNCTIONS[self.source.stem][0]

    def module(self) -> types.ModuleType:
        """Return the module as its author wrote it."""
        return load(self.source.stem, self.source.parent)

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments, with floats of the case's dtype."""
        if self.function == "kernel":
            made = self._of_kernel()
        else:
            _, make, today = _FUNCTIONS[self.source.stem]
            sizes = {"SIZE": today, "SMALL": 24, "LARGE": LARGE.get(self.name, today)}
            made = make(self.module(), sizes[self.size])
        return tuple(self._cast(np.asarray(arg)) if isinstance(arg, np.ndarray) else arg for arg in made)

    def _of_kernel(self) -> tuple[Any, ...]:
        if self.size != "LARGE":
            return arguments(self.name, self.size)
        own = KERNELS / "arguments"
        module = load(self.name, own if (own / f"{self.name}.py").exists() else KERNELS)
        return tuple(module.initialise(LARGE[self.name]))

    def _cast(self, array: np.ndarray) -> np.ndarray:
        if self.dtype == "float32" and array.dtype.kind in "fc":
            array = array.astype(np.float32 if array.dtype.kind == "f" else np.complex64)
        return np.ascontiguousarray(array)


def every_case() -> list[Case]:
    """Return all cases, the most telling first."""
    kernels = [path.stem for path in sorted(KERNELS.glob("*.py"))]
    others = [name for name in (*kernels, *(f"program_{name}" for name in _FUNCTIONS)) if name not in FIRST]
    order = [
        Case(name, size, dtype)
        for dtype in ("float64", "float32")
        for names, size in ((FIRST, "LARGE"), (FIRST, "SIZE"), (others, "SIZE"), (others, "LARGE"))
        for name in names
    ]
    return [
        case
        for case in order
        if (case.size == "SIZE" or case.name in LARGE)
        and not (case.dtype == "float32" and case.name in FLOAT64_ALONE)
    ]


def arrays_of(value: Any) -> list[np.ndarray]:
    """Return the arrays and numbers in a result, in order."""
    if isinstance(value, (tuple, list)):
        return [array for item in value for array in arrays_of(item)]
    return [] if value is None else [np.asarray(value)]


def run_whole(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, tuple[int, ...]]:
    """Call a NumPy function on copies of its arguments.

    Returns:
        The result together with the arguments that the function has written to, and their places.
    """
    own = copy.deepcopy(args)
    result = function(*own)
    written = tuple(
        k
        for k, (before, after) in enumerate(zip(args, own, strict=True))
        if isinstance(before, np.ndarray)
        and not np.array_equal(before, after, equal_nan=before.dtype.kind in "fc")
    )
    return (result, tuple(own[k] for k in written)), written


def digest(array: Any) -> dict[str, Any]:
    """Return what tells an array from another: shape, dtype, some elements, and sums."""
    array = np.asarray(array)
    flat = array.reshape(-1)
    places = np.random.default_rng(7).integers(0, max(flat.size, 1), SAMPLES)
    numbers = flat[places if flat.size > SAMPLES else slice(None)]
    kind = np.complex128 if array.dtype.kind == "c" else np.float64
    wide = flat.astype(kind, copy=False)
    is_finite = np.isfinite(wide)
    finite = wide if is_finite.all() else wide[is_finite]
    return {
        "shape": list(array.shape),
        "dtype": str(array.dtype),
        "samples": [str(number) for number in numbers.astype(kind)],
        "sum": str(finite.sum()),
        "size": float(np.abs(finite).sum()),
        "most": float(np.abs(finite).max(initial=0.0)),
        "finite": int(finite.size),
    }


def distance(own: dict[str, Any], theirs: dict[str, Any]) -> float:
    """Return how far an array is from another, by their digests, relative to the largest element; inf if the
    shapes or the infinite elements differ.
    """
    if own["shape"] != theirs["shape"] or own["finite"] != theirs["finite"]:
        return float("inf")
    a, b = (np.array([complex(text) for text in one["samples"]]) for one in (own, theirs))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    apart = np.abs(np.where(same, 0, a - b)).max(initial=0.0)
    total = abs(complex(own["sum"]) - complex(theirs["sum"])) / (theirs["size"] or 1.0)
    far = max(float(apart) / (theirs["most"] or 1.0), total)
    return far if np.isfinite(far) else float("inf")
