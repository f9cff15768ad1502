"""Programs of which a part stays on NumPy, or gets arrays by name."""

from __future__ import annotations

from tests.translator.tensorflow.cases import main_of

FAKE = """\
import types

plt = types.SimpleNamespace(seen=[])
plt.plot = lambda *a, **k: plt.seen.append([type(x).__name__ for x in a])
"""
RK4 = """\
def rk4(f, y, h):
    a = f(y)
    b = f(y + h / 2 * a)
    return y + h * b


def decay(y):
    return -0.5 * y
"""
KEEPERS = """\
class Box:
    def __init__(self):
        self.kept = []
        self.count = 1

    def store(self, p):
        self.kept.append(p)

    def put(self, p, k):
        p[k] = self.count


class Keep:
    def __init__(self, z):
        self.z = z


def made(z):
    return Keep(z)
"""
PARTLY = {
    "a library that reads": (
        "import json\n"
        + main_of("x = np.linspace(0, 1, 4)\nreturn json.dumps({'x': x.tolist(), 'n': len(x)}), np.sin(x)")
    ),
    "a library that keeps": main_of(
        "x = np.zeros(3)\nkept = deque()\nkept.append(x)\nx[0] = 5\ny = np.sin(np.arange(3.0))\n"
        "return [list(one) for one in kept], y",
        "from collections import deque\n",
    ),
    "a deep copy": main_of(
        "x = np.arange(3.0)\ny = copy.deepcopy(x)\nx[0] = 7\nreturn x, y, np.exp(np.ones(2))", "import copy\n"
    ),
    "a name that is not in the table": main_of(
        "a = np.array([[2.0, 1.0], [1.0, 3.0]])\nw, v = np.linalg.eig(a)\n"
        "return np.sort(w) + 0, np.abs(v), np.sin(np.ones(2))"
    ),
    "a dtype that TensorFlow lacks": main_of(
        "x = np.arange(300) % 7\nb = x.astype(np.uint8)\nb[0] = 255\nc = b + np.uint8(1)\nreturn b, c, x * 2"
    ),
    "a view of what stays": main_of(
        "a = np.arange(6.0)\nb = np.lib.stride_tricks.as_strided(a, (3,), (16,))\na[0] = 9\n"
        "return b, a, np.sqrt(np.ones(2))"
    ),
    "a view that is written to": main_of(
        "a = np.arange(6.0).reshape(2, 3)\nd = np.einsum('ij->ji', a)\nd[0, 1] = 50\n"
        "return a, d, np.cos(np.ones(2))"
    ),
    "an array and its alias": main_of(
        "x = np.zeros(3)\ny = x\nx[0] = 1\nz = np.cosh(np.ones(3))\nz[0] = 2\nreturn y, z, x + z"
    ),
    "a loop with an alias": main_of(
        "x, y = np.zeros(3), np.ones(3)\nz = x\nfor k in range(3):\n    x[k] = y[k] + k\n    y = y * 2\n"
        "return z, y, x"
    ),
    "an alias of a parameter": main_of(
        "u = np.ones(4)\nv = u\nbump(u)\nreturn u, v, np.sin(np.ones(2))",
        "def bump(u):\n    u[0] += 3\n    return np.sum(u)\n",
    ),
    "a generator function": main_of(
        "return [float(p) for p in pieces(np.arange(4.0))], np.exp(np.arange(3))",
        "def pieces(x):\n    for p in x:\n        yield p * 2\n",
    ),
    "a decorated function": main_of(
        "return f(np.arange(3.0)), np.exp(np.arange(3))",
        "import functools\n\n\n@functools.lru_cache\ndef g(n):\n    return n + 1\n\n\n"
        "def trace(h):\n    @functools.wraps(h)\n    def inner(*a):\n        return h(*a)\n"
        "    return inner\n\n\n"
        "@trace\ndef f(x):\n    return np.cumsum(x) + g(2)\n",
    ),
    "a function that a library calls": main_of(
        "n = 3\nreturn sorted([3, 1, 2], key=lambda k: -k), list(map(weight, [1.0, 2.0])), np.arange(n)",
        "def weight(x):\n    return np.square(x) * 2\n",
    ),
    "a callback that writes to a global": main_of(
        "step(1)\ncall(step)\nreturn U, np.sin(np.ones(2))",
        "U = np.zeros(3)\n\n\ndef step(k):\n    U[k] += 1\n\n\ndef call(f):\n    list(map(f, [0, 1]))\n",
    ),
    "a global that holds an array": main_of(
        "keep(np.ones(2))\nreturn KEPT, np.sin(np.ones(2))",
        "KEPT = 0\n\n\ndef keep(x):\n    global KEPT\n    KEPT = x\n",
    ),
    "an outer name that holds an array": main_of(
        "x = np.ones(2)\ndef f():\n    nonlocal x\n    x = x + 1\nf()\nreturn x, np.sin(np.ones(2))"
    ),
    "an element as a key": main_of("x = np.arange(2)\nreturn {x[0]: 1}, x[1] in {x[1]: 2}"),
    "a text of a library": "import json\n"
    + main_of("return json.dumps(float(np.sum(np.ones(2)))), np.cos(0.5)"),
    "a positional place for the result": main_of(
        "x, y, z = np.arange(3.0), np.zeros(3), np.zeros(3)\nnp.add(x, 1, y)\nnp.maximum(x, 1, z)\n"
        "return y, z, np.sin(np.ones(2))"
    ),
    "a method of a view that NumPy has": main_of(
        "x, y = np.array([3.0, 1.0, 2.0]), np.arange(4.0)\nx.view().sort()\nv = y.view()\nv.fill(7)\n"
        "np.put(v, [0], 5)\nv.real = v.real + 1\nreturn x, y, np.sin(np.ones(2))"
    ),
    "a function that may write to its argument": main_of(
        "x = np.array([1.0, np.nan])\nnp.nan_to_num(x, copy=False)\nreturn x, np.sin(np.ones(2))"
    ),
    "a buffer that is read into an array": "import io\n"
    + main_of(
        "x = np.zeros(2)\nstream = io.BytesIO(np.array([3.0, 4.0]).tobytes())\nstream.readinto(x)\n"
        "return x, np.sin(np.ones(2))"
    ),
    "a view that the outer variable of a statement shows": main_of(
        "x = np.arange(3.0)\nv = x.view()\ndef put():\n    yield 1\n    v[0] = 9\nfor k in put():\n"
        "    pass\nreturn x, np.sin(np.ones(2))"
    ),
    "a result of several arrays": main_of(
        "t, h = np.linspace(0, 1, 5, retstep=True)\nt[0] = 2\n"
        "p, c = np.polyfit([0.0, 1, 2, 4], [1.0, 3, 2, 5], 1, "
        "cov=True)\nreturn t, h, p, c.shape"
    ),
    "texts for a function of NumPy's": main_of(
        "names, counts = np.unique(['b', 'a', 'b'], return_counts=True)\n"
        "return list(map(str, names)), counts, np.sin(np.ones(2))"
    ),
    "numbers that a file has": "import io\n"
    + main_of("x = np.loadtxt(io.StringIO('1 2\\n3 4'))\nx[0] = 5\nreturn x, np.sin(x)"),
    "a written number that a caller has": main_of(
        "s, a, n = np.sum(np.arange(3)), np.ones(2), 5\nf(a)\nf(s)\nf(n)\nreturn s, a, n, np.sin(np.ones(2))",
        "def f(x):\n    x += 1\n    return 0\n",
    ),
    "every name of NumPy beside another's": "from math import *\nfrom numpy import *\n\n\ndef main():\n"
    "    return sqrt(2.0), arange(3.0) * 2\n",
    "an array in a global name": main_of(
        "keep(np.ones(2))\nkeep(np.ones(3))\nreturn KEPT, np.tanh(np.ones(2))",
        "KEPT = None\n\n\ndef keep(x):\n    global KEPT\n    KEPT = x * 2\n",
    ),
    "called parameters": main_of(
        "y = np.ones(3)\nfor k in range(4):\n    y = rk4(decay, y, 0.1)\n"
        "return y, rk4(lambda y: y * 2, y, 0.1)",
        RK4,
    ),
    "a called parameter that nobody gives": main_of("return np.ones(2)", RK4),
    "a special method": main_of(
        "v = V(np.ones(2)) + V(np.arange(2.0))\nreturn v.x, norm(v.x), np.sin(np.ones(2))",
        "class V:\n    def __init__(self, x):\n        self.x = x\n\n    def __add__(self, other):\n"
        "        return V(self.x + other.x)\n\n\ndef norm(x):\n    return np.sqrt((x * x).sum())\n",
    ),
    "an array or None, and a library's number": main_of(
        "x = np.arange(3.0)\nscale = statistics.mean([1, 2, 4])\ny = x * scale\nx[0] = scale\n"
        "return x, y, np.sin(np.ones(2))",
        "import statistics\n",
    ),
    "a mixed name": main_of(
        "x = np.arange(3.0)\nif len(x) > 2:\n    x = np.unique(x)\nx[0] = 4\n"
        "return x, np.sin(x), np.ones(2) * 2"
    ),
    "a mixed attribute": main_of(
        "b = Box()\nb.set(np.ones(2))\nb.load()\nb.x[0] = 5\nreturn b.x, np.sin(np.ones(2))",
        "class Box:\n    def __init__(self):\n        self.x = None\n\n    def set(self, x):\n"
        "        self.x = x * 2\n\n"
        "    def load(self):\n        self.x = np.unique([3.0, 1.0])\n",
    ),
    "a mixed list": main_of(
        "held = [np.ones(2)]\nheld.append(np.unique([1.0, 2.0]))\nheld[0][0] = 3\n"
        "return held, np.sin(np.ones(2))"
    ),
    "a mixed result": main_of(
        "a = pick(np.ones(3), True)\nb = pick(np.ones(3), False)\na[0] = 9\nreturn a, b, np.sin(np.ones(2))",
        "def pick(x, first):\n    if first:\n        return x * 2\n    return np.unique(x)\n",
    ),
    "a caller with an array of its own": main_of(
        "a = np.arange(4.0)\nb = np.unique(np.array([2.0, 1.0]))\n"
        "return scaled(a), scaled(b), a, np.sin(np.ones(2))",
        "def scaled(x):\n    y = x * 2\n    y[0] = 1\n    return y\n",
    ),
    "a parameter that is written to by one caller's array": main_of(
        "a = np.arange(4.0)\nb = np.unique(np.array([2.0, 1.0]))\nput(a)\nput(b)\n"
        "return a, b, np.sin(np.ones(2))",
        "def put(x):\n    x[0] = 17\n",
    ),
    "an iterator that a library gets": main_of(
        "a = np.arange(3.0)\n"
        "return [list(map(float, p)) for p in itertools.islice(zip(a, a * 2), 2)], np.sin(a)",
        "import itertools\n",
    ),
    "sets and scalars": main_of("x = np.arange(4)\nreturn sorted({int(v) for v in x}), np.sin(x)"),
    "shadowed by a star": "from math import *\n"
    + main_of("x = np.arange(3.0)\nreturn x * pi, np.sin(x) + sqrt(2.0)"),
    "print options": main_of(
        "x = np.linspace(0, 1, 3)\nwith np.printoptions(precision=2):\n    print(x / 3)\nreturn np.sin(x)"
    ),
    "a random permutation of texts": main_of(
        "rng = np.random.default_rng(1)\nx = rng.normal(size=3)\nname = rng.choice(['a', 'b'])\n"
        "return str(name), x * 2"
    ),
    "what a deleted item leaves": main_of(
        "x = [1, 2, 3]\ndel x[0]\nd = {'a': np.ones(2)}\ndel d['a']\nreturn x, len(d), np.sin(np.ones(2))"
    ),
    "a key that the assigned call writes to": main_of(
        "i = np.array([0])\nx = np.zeros(4)\nx[i + 1] = bump(i)\nheld = {1: 0}\nheld[int(i[0])] = bump(i)\n"
        "return x, held, np.sin(np.ones(2))",
        "def bump(i):\n    i += 1\n    return 7\n",
    ),
    "a handler of NumPy's own error": main_of(
        "return step(np.zeros((2, 2))), np.sin(np.ones(2))",
        "def step(a):\n    try:\n        b = np.linalg.solve(a, np.ones(2))\n"
        "    except np.linalg.LinAlgError:\n        b = a + 1\n    return b\n",
    ),
    "what a reader keeps after all": main_of(
        "pos, edges = np.zeros(2), np.linspace(0, 1, 5)\nc = patches.Circle(pos, 1)\n"
        "note = figure.Figure().add_subplot().annotate('', xy=pos)\n"
        "n, bins, bars = figure.Figure().add_subplot().hist(np.linspace(0, 1, 9), bins=edges)\n"
        "pos += 1\nedges[0] = -1\nreturn c.center, note.xy, bins, n, np.sin(np.ones(2))",
        "from matplotlib import figure, patches\n",
    ),
    "what shows progress by name": main_of(
        "for row in tqdm(iterable=np.ones((2, 2)), disable=True):\n    print(row)\n"
        "for k, row in tenumerate(np.ones((2, 2)), disable=True):\n    row += k\n    print(row)\n"
        "return np.sin(np.ones(2))",
        "from tqdm import tqdm\nfrom tqdm.contrib import tenumerate\n",
    ),
    "a random number between arrays": main_of(
        "x = random.uniform(np.zeros(2), np.ones(2))\nx[1] = 3\nreturn x.shape, x[1], np.sin(np.ones(2))",
        "import random\n",
    ),
    "methods of the class of arrays": main_of(
        "x, y = np.array([3.0, 1.0]), np.array([2.0, 0.0])\nnp.ndarray.sort(x)\ny.__itruediv__(4)\n"
        "return x, y, np.sin(np.ones(2))"
    ),
    "a place for the result of SciPy's": main_of(
        "x, y, z = np.arange(5.0), np.zeros(5), np.zeros(5)\nndimage.uniform_filter1d(x, 3, -1, y)\n"
        "special.erf(x, z)\nreturn y, z, np.sin(np.ones(2))",
        "from scipy import ndimage, special\n",
    ),
    "views of a dictionary": main_of(
        "d = {'a': np.ones(2), 'b': np.zeros(1)}\nprint(d.values(), d.items())\nshow(d.values())\n"
        "b = np.lib.stride_tricks.as_strided(np.arange(6.0), (3,), (16,))\nreturn list(d.values()), b",
        "def show(x):\n    print(f'{x}')\n",
    ),
    "numbers in arrays as the ends of a range": main_of(
        "w, s = np.array([2.0, 9.0]), np.float32(3)\n"
        "return np.arange(w[0], w[1], 2), np.linspace(w[0], w[1], 4), "
        "np.arange(s), np.linspace(0, s, 3), np.arange(0, 3, 0.5, dtype=int), "
        "np.arange(0, 1, 0.1, np.float32), "
        "np.arange(10, 0, -2.5), np.arange(5, 2.0), np.linspace(1, 2, 0), np.linspace(1, 2, 1)"
    ),
    "numbers that NumPy's functions draw": main_of(
        "w = np.array([0.5, 2.0])\nnp.random.seed(3)\na, b = np.random.rand(), np.random.randint(5)\n"
        "c, d = np.random.uniform(w[0], w[1]), np.random.normal(w, 1)\n"
        "e = np.random.randint(3, dtype=np.int32)\n"
        "print(a, b, c, repr(a), repr(b), repr(c), repr(e))\nreturn a + b, c * w, d, [c], e"
    ),
    "a generator's shuffle of a list": main_of(
        "rng = np.random.default_rng(0)\nheld = [np.ones(2), np.zeros(2), np.arange(2.0)]\n"
        "rng.shuffle(held)\nheld[0][0] = 5\nreturn held, np.sin(np.ones(2))"
    ),
    "arrays that objects keep": main_of(
        "v, w, x = np.ones(2), np.arange(2.0), np.ones(2)\nbox, first, second = Box(), Keep(v), made(w)\n"
        "box.store(x)\nv += 1\nw[0] = 9\nx[:] = 7\nreturn box.kept, first.z, second.z, np.sin(np.ones(2))",
        KEEPERS,
    ),
    "what an object keeps gets to NumPy and back": main_of(
        "u, v = np.arange(2.0), np.array([2.0, 0.5])\nnp.put(u, [0], 3)\nbox = Box()\nbox.store(v + 1)\n"
        "w = box.kept[-1] if box.kept else u\nbox.put(w, 1)\nreturn box.kept, np.sin(np.ones(2))",
        KEEPERS,
    ),
    "an array of NumPy's that a function passes on": main_of(
        "v, u = np.array([2.0, 0.5]), np.ones(2)\nw = sorted([v, u], key=len)[0]\napplied(touched, w)\n"
        "return v, u, np.sin(np.ones(2))",
        "import functools\n\n\n@functools.wraps(len)\ndef touched(x):\n    x[0] += 1\n\n\n"
        "def applied(f, x):\n    return f(x)\n",
    ),
    "a view of a method that NumPy has": main_of(
        "u, v = np.arange(4.0), np.ones(3)\na, b = u.ravel(order='F'), v.ravel(order='A')\nu[1] = 7\nb += 1\n"
        "return a, u, b, v, np.sin(np.ones(2))"
    ),
}
