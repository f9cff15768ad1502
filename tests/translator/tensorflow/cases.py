"""Programs made for `--target tf`: translated programs, and refused programs with the code of the refusal."""

from __future__ import annotations


def main_of(body: str, before: str = "") -> str:
    """A module whose main function has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return f"import numpy as np\n\n\n{before}\n\ndef main():\n{lines}\n"


SWEEP = """
def sweep(u, f):
    biggest = 0.0
    for i in range(1, len(u) - 1):
        new = 0.5 * (u[i - 1] + u[i + 1] - f[i])
        biggest = max(biggest, abs(new - u[i]))
        u[i] = new
    return biggest


def clear(x):
    x[:] = 0
"""
TRANSLATED = {
    "promotion": main_of(
        "i, f, d = np.arange(3, dtype=np.int32), np.ones(3, np.float32), np.arange(3.0)\n"
        "return i + f, f * 2.5, i / 2, i * d, f + d, d[1] * f, i // 2, f % 0.3, i ** 2, 2 ** d, -i, f @ d"
    ),
    "floor division is not the floor of the quotient": main_of(
        "x = np.array([1.0, 3.25, -1.0, 6.0])\n"
        "return x // 0.1, x % 0.1, x // -0.3, 7 // x, x[0] // 0.1, 5.5 % x[3], x // np.inf"
    ),
    "negative numbers": main_of("x = np.arange(5)\nreturn np.take(x, [-1, 0]), x[[-1, -5]], x[-2], x[::-2]"),
    "nan": main_of(
        "x = np.array([2.0, np.nan, 1.0])\n"
        "return np.max(x), np.argmax(x), np.argmin(x), np.sort(x), np.minimum(x, 1), np.median(x), x.max()"
    ),
    "steps of floats": main_of("return np.arange(0, 1, 0.3), np.arange(0.1, 0.8, 0.1), np.linspace(0, 1, 7)"),
    "writes keep dtype": main_of(
        "x = np.zeros(3, dtype=np.float32)\nx += np.ones(3)\nx[1] = 2.7\nn = np.arange(4)\nn[0] = 2.7\n"
        "n[1:3] *= 3\nb = np.ones(3, dtype=bool)\nb[0] = 0.0\nreturn x, n, b"
    ),
    "a number that grows": main_of(
        "s = np.sum(np.arange(4))\ns += 1.5\nt = 0\nfor v in np.arange(3):\n    t += v\nt /= 2\nreturn s, t"
    ),
    "the last of several": main_of("x = np.zeros(4)\nx[[0, 0, 2, 0]] = [1, 2, 3, 4]\nreturn x"),
    "once and each time": main_of(
        "x = np.zeros(3)\nx[[0, 0]] += 1\ny = np.zeros(3)\nnp.add.at(y, [0, 0], 1)\nreturn x, y"
    ),
    "written parameters": main_of(
        "u = np.zeros(6)\nu[0] = 1.0\nf = np.ones(6)\ncount = 0\nwhile count < 3:\n"
        "    biggest = sweep(u, f)\n    count += 1\nv = np.ones(2)\nclear(v)\n"
        "return u, biggest, v, sweep(np.zeros(4), f)",
        SWEEP,
    ),
    "functions that return what they write to": main_of(
        "x = np.zeros(3)\ny = put(x, 0)\nput(x, 1)\nz = put(np.ones(2), 1) * 2\nx = put(x, 2)\nreturn x, z",
        "def put(x, k):\n    if k > 5:\n        return x\n    x[k] = k + 1\n    return x\n",
    ),
    "random numbers": main_of(
        "rng = np.random.default_rng(0)\nx = rng.random((3, 4))\nx[0] += rng.integers(0, 5, size=4)\n"
        "order = rng.permutation(3)\ny = x[order]\nrng.shuffle(y)\nk, z = rng.integers(10), rng.random()\n"
        "c = rng.choice(x[0], 2)\nw = np.random.RandomState(1).randn(2, 2)\nnp.random.seed(4)\n"
        "v = np.random.rand(3)\nnp.random.shuffle(v)\nu = rng.normal(x.mean(), x, size=x.shape)\n"
        "print(rng.normal(size=2), float(z))\n"
        "return x, y, k, z, c, w, v, u, walk(5), walk(3, rng), rng.uniform(0, x), rng.choice(5, size=(2, 2))",
        "def walk(n, rng=None):\n    if rng is None:\n        rng = np.random.default_rng(3)\n"
        "    steps = rng.normal(size=(n, 2))\n    steps[0] = 0\n    return np.cumsum(steps, axis=0)\n",
    ),
    "aliases that nobody reads": main_of(
        "x = np.arange(4.0)\ny = x\ny[0] = 5\nz = y[1:]\nz += 1\nreturn z.sum()"
    ),
    "names that take turns": main_of(
        "old, new = np.ones(4), np.zeros(4)\nfor k in range(3):\n    new[1:] = old[:-1] + k\n"
        "    old, new = new, old\nreturn old, new"
    ),
    "shown": main_of(
        "x = np.arange(3.0)\n"
        "print(x, x[0], [x[1]], f'{x[2]:.3f} {x}', str(x.sum()), '%.2f' % x[1])\nprint(x.shape)\n"
        "return repr(x.max()), '{} {:.1f}'.format(x, x[1])"
    ),
    "shapes": main_of(
        "x = np.zeros((2, 3))\nn, m = x.shape\ns = x.shape + (1,)\n"
        "return n, m, s, x.shape, x.ndim, x.size, len(x)"
    ),
    "numbers beside arrays in lists": main_of(
        "x = np.ones(3, np.float32)\nn = np.arange(3, dtype=np.int32)\n"
        "return np.sum([x[0], 1.5]), np.array([x[0], 2]), np.stack([x, [1.5, 2, 3]]), np.mean([n[0], n[1]]), "
        "np.append(x, 0.1), np.max([x[1], 3]), np.vstack([n, [1, 2, 3]])"
    ),
    "numbers as indices": main_of(
        "x = np.arange(24.0).reshape(2, 3, 4)\ni, j = np.argmax(x[0, 0]), np.argmin(x[1, 1])\ni = i - 2\n"
        "y = np.zeros((3, 4))\ny[i] = 1\ny[j, i:] += 2\n"
        "return x[i], x[:, i], x[i, :, j], x[j, i:], x[..., i], x[1:, i, None], x[-i], [5, 6, 7][i], y"
    ),
    "handlers": main_of(
        "x, told = np.arange(4.0), []\nfor text in ('1', 'a', '2'):\n    try:\n        x[0] += 1\n"
        "        x[1] = int(text)\n        x[2] += 1\n    except ValueError as error:\n"
        "        told.append(type(error).__name__)\n        x[3] = -1\n    else:\n        x[3] += 10\n"
        "    finally:\n        x = x * 2\ntry:\n    {}['a']\nexcept (KeyError, OSError):\n    x[0] = 0.5\n"
        "try:\n    raise RuntimeError('own')\nexcept:\n    told.append('all')\nreturn x, told"
    ),
    "jumps out of handlers": main_of(
        "x, k = np.zeros(3), 0\nwhile True:\n    k += 1\n    try:\n        if k == 2:\n            continue\n"
        "        x[k] = int('7' if k < 2 else 'a')\n    except ValueError:\n        x[0] = k\n        break\n"
        "    finally:\n        x += 1\nreturn x, k"
    ),
    "managers": "import contextlib\nimport io\n"
    + main_of(
        "x = np.arange(3.0)\nwith np.errstate(divide='ignore', invalid='ignore'):\n    # quietly\n"
        "    y = x / 0\n    x[0] = 5\nwith io.StringIO() as told, contextlib.redirect_stdout(told):\n"
        "    print(x)\n    x[1] = 7\n    text = told.getvalue()\nreturn x, y, text"
    ),
    "choices": main_of(
        "x = np.arange(3.0)\nfor how in ('sum', 'top', 'no'):\n    match how:\n"
        "        case 'sum' | 'total':\n            x[0] = x.sum()\n        case 'top' if len(x) > 1:\n"
        "            x[1] = x.max()\n        case other:\n            name = other\nreturn x, name"
    ),
    "counters of others": main_of(
        "n = 0\nx = np.arange(4.0)\ndef seen(v):\n    nonlocal n\n    n += 1\n    return v * n\n"
        "y = [seen(v) for v in x]\nreturn y, n, COUNT + bump() + bump(), COUNT",
        "COUNT = 0\n\n\ndef bump():\n    global COUNT\n    COUNT += 1\n    return COUNT\n",
    ),
    "rounds of a graph": main_of(
        "x, v, rows, ends = np.array([1.0, 0.5]), np.zeros(2), [], []\nu = np.zeros((70, 3))\n"
        "for k in range(1, 70):\n    v = v - 0.01 * pull(x)\n    x = x + 0.1 * v\n    u[k, 1:] = x\n"
        "    u[k - 1, 0] = u[-k, 1] - 1\n    rows.append(x)\n    ends.append(x[0])\n"
        "    if x[0] > v[1]:\n        w = x * 2\n        v = v + w[0] * 0.001\n"
        "return x, v, u, np.array(rows), rows[3], len(ends), np.stack(ends)",
        "def pull(x):\n    scale = 2.0\n    return np.sin(x) * scale\n",
    ),
    "rounds in rounds of a graph": main_of(
        "u = np.arange(24.0).reshape(3, 8) % 7\nfor sweep in range(64):\n    for j in range(1, 7):\n"
        "        u[1, j] = 0.25 * (u[1, j - 1] + u[1, j + 1] + u[0, j] + u[2, j])\n"
        "    change = u.max()\nreturn u"
    ),
    "rounds until something is small": main_of(
        "x, change, total = np.array([5.0, -3.0]), 1.0, np.zeros(2, np.float32)\nwhile change > 0.015:\n"
        "    new = x * 0.98 + 0.02\n    change = np.abs(new - x).max()\n    if new[0] > 2:\n"
        "        new[1] += 0.01\n"
        "    else:\n        new -= 0.01\n    x = new\n    total += x\nreturn x, change, total"
    ),
    "rounds that Python decides": main_of(
        "x, s, n, y = np.arange(100), 0, np.float32(1), np.ones(2, np.float32)\nt = np.zeros(3)\n"
        "for k in range(100):\n    s += x[k]\n    y = y * 0.5 if s > 50 else y + 1\n"
        "for k in range(90):\n    t = np.append(t, x[k])[-3:]\n    y = y + x[x > k].sum()\n"
        "for k in range(100):\n    n = n + max(x[k], n)\nfor k in range(80):\n    y = y / 2\n"
        "    y = y + 1.5\nreturn s, n, y, t"
    ),
    "rounds of which one fails": main_of(
        "x, y = np.arange(70.0), np.zeros(2)\nfor k in range(71):\n    y = y + x[k]\nreturn y"
    ),
    "several targets": main_of(
        "x = np.arange(4.0)\nx[0], x[-1] = x[-1], x[0]\nx[1] = x[2] = n = 7\nreturn x, n  # the end"
    ),
    "dtypes as text": main_of(
        "x, m = np.arange(3), np.ones(2) > 0\n"
        "print(x.dtype, (m.dtype, [x.dtype]), repr((x * 0.5).dtype))\n"
        "return f'{x.dtype} {m.dtype!r}', '%s' % x.dtype, '{}'.format(m.dtype), str(x.dtype)"
    ),
    "attributes of dtypes": main_of(
        "x = np.arange(3)\nreturn kinds(x), kinds(x > 1), kinds(x * 0.5), x.dtype.kind in 'iu'",
        "def kinds(x):\n    d = x.dtype\n    return d.kind, x.dtype.name, d.itemsize, d.char, d.str, d.num\n",
    ),
    "dtypes compared": main_of(
        "x, m = np.arange(3), np.ones(2) > 0\nd = x.dtype\n"
        "return (d == np.int64, d == 'int64', d == 'i8', d == int, d != float, d == m.dtype, "
        "d == np.float64,\n"
        "        (x * 0.5).dtype == float, d in (np.int64, bool), m.dtype in [d, np.float64], "
        "m.dtype == bool)"
    ),
    "what NumPy computes": main_of(
        "s, v = np.array([[4.0, 1, 0], [1, 3, 1], [0, 1, 2]]), np.array([3.0, 1.0, 2.0, 1.0])\n"
        "w, e = np.linalg.eigh(s)\nu, t, vt = np.linalg.svd(s, full_matrices=False)\nq, r = np.linalg.qr(s)\n"
        "sign, logdet = np.linalg.slogdet(s)\nw[0] += t[0]\nu[:, 0] *= 2\n"
        "counts, edges = np.histogram(v, bins=3)\nx, residuals, rank, singular = np.linalg.lstsq(s, s[0], "
        "rcond=None)\n"
        "d = np.subtract.outer(v, v)\nd[np.diag_indices_from(d)] += 1\ni, j = np.triu_indices(3, k=1)\n"
        "print(np.array2string(t, precision=3), [k for k in np.ndindex(2, 2)])\n"
        "return (w, np.abs(e), u @ np.diag(t) @ vt, q @ r, sign, logdet, counts, edges, x, rank, d, s[i, "
        "j],\n"
        "        np.argsort(v), v.argsort(kind='stable')[0], np.percentile(v, [5, 50]), np.quantile(s, "
        "0.3, axis=0),\n"
        "        np.gradient(v), np.gradient(s)[1], np.searchsorted(np.sort(v), 1.5), np.unique(v), "
        "np.interp(1.5, v[:2], v[2:]),\n"
        "        np.pad(v, 2, mode='edge'), np.max(s, initial=9), s.std(axis=0, dtype=np.float64), "
        "np.bincount([1, 2], minlength=5),\n"
        "        np.fft.fftshift(v), np.fft.fft(v, 8), np.fft.irfft(np.fft.rfft(v)), np.add.reduce(v), "
        "np.column_stack([v, v]),\n"
        "        np.linspace(v, 2, 3), np.corrcoef(s)[0, 1], np.average(v, weights=v), np.convolve(v, v), "
        "np.insert(v, 0, 1.5))"
    ),
    "results that are written to places": main_of(
        "x, y = np.ones(3), np.arange(3.0)\nnp.add(x, y, out=x)\nnp.sqrt(x, out=y)\n"
        "np.divide(x, y, out=x, where=y > 1.2)\nz = np.divide(y, x, out=np.zeros(3), where=x > 1.3)\n"
        "return x, y, z"
    ),
    "NumPy's own errors": main_of(
        "told = []\nfor a in (np.zeros((2, 2)), np.eye(2)):\n    try:\n        b = np.linalg.inv(a)\n"
        "        told.append(b.sum())\n    except np.linalg.LinAlgError as error:\n"
        "        told.append(str(error))\n"
        "try:\n    raise np.linalg.LinAlgError('own')\nexcept np.linalg.LinAlgError:\n"
        "    told.append('own')\nreturn told"
    ),
    "grids": main_of(
        "y, x = np.mgrid[0:3, 0:4]\nimage = y * 2.0 + x / 4\nimage[x > 2] = 9\nimage[x == y] *= 2\n"
        "rows, columns = np.ogrid[0:1:3j, :2]\nreturn image, rows + columns, np.c_[x[0], x[1] * 2], "
        "np.r_[0:3, 5]"
    ),
    "sums of products": main_of(
        "a, v = np.arange(6.0).reshape(2, 3), np.ones(3)\ny = np.einsum('ij,j->i', a, v)\ny[0] = 5\n"
        "return y, np.einsum('ij,kj->ik', a, a), np.einsum('ii', a[:, :2])"
    ),
    "parameters in a result": main_of(
        "u, v = np.zeros(3), np.ones(3)\nput(u, v, 3)\na, b = put(u, v, 4)\nc = a + b\nt, s = first(u)\n"
        "u, v = put(u, v, 5)\nreturn c, u, v, s, put(np.zeros(2), np.zeros(2), 1)[0]",
        "def put(u, v, n):\n    u[0] = n\n    v[1] += n\n    return u, v\n\n\n"
        "def first(u):\n    u[2] = 7\n    return u, u.sum()\n",
    ),
    "parts of arrays": main_of(
        "x, k, n = np.arange(24.0).reshape(2, 3, 4), 1, len('ab')\nx[k] = 5\nx[-1, 0] = np.arange(4)\n"
        "x[:, 1:, ::2] = [[1], [2]]\nx[0, n, -1] = 7\nx[..., 0] = 3\nx[:, :, -2] += 1\nx[k, :n] *= 2\n"
        "m = np.arange(3)\nm[1:] = 2.9\nm[0] += 1.5\nm[5:] = 4\nb = m > 1\nb[0] = 2\nc = np.zeros(2, "
        "complex)\n"
        "c[1] = 1j\nx[x > 20] = 0\nm[m > 1] += 1\nx[[0, 1], [2, 0]] = -1\nreturn x, m, b, c"
    ),
    "dtypes in errors": main_of(
        "x = np.arange(3)\ntry:\n    raise KeyError('bad', x.dtype)\nexcept KeyError as error:\n"
        "    print(error)\nreturn 0"
    ),
    "a dtype for another array": main_of("d = (np.arange(3) > 1).dtype\nreturn np.zeros(2, dtype=d)"),
    "sums and products of truth values": main_of(
        "m, k = np.arange(4) > 1, np.arange(4) % 2 > 0\nn = m + k\nn += m\n"
        "return m + k, True + m, m + m[0], m * k, m * 2, m + 1, m + 0.5, m + k + 1, n, k[0] + m[0], ~m"
    ),
}
#: Programs that handle an error of NumPy's. TensorFlow raises an error of its own, which no handler may take.
LOUD = {
    "a shape that does not fit": main_of(
        "x, n = np.ones((2, 3)), len('four')\ntry:\n    return np.reshape(x, (n, 2))\n"
        "except Exception:\n    return 0"
    ),
    "operands that do not fit": main_of(
        "x, y = np.ones(3), np.ones(4)\ntry:\n    return x + y\nexcept ValueError:\n    return 0"
    ),
    "matrices that do not fit, and any handler": main_of(
        "x = np.zeros((2, 3))\ntry:\n    return x @ np.ones((2, 2))\nexcept:\n    return 0"
    ),
}
REFUSED = {
    "a view that is read": (main_of("x = np.zeros(3)\ny = x[1:]\nx[1] = 5\nreturn y"), "NP2TF604"),
    "another name": (main_of("x = np.zeros(3)\ny = x\nx += 1\nreturn x, y"), "NP2TF604"),
    "in a list": (main_of("x = np.zeros(3)\nheld = [x]\nx[0] = 1\nreturn held"), "NP2TF604"),
    "a row of an array": (
        main_of("x = np.zeros((2, 2))\nfor row in x:\n    row[0] = 1\nreturn x"),
        "NP2TF604",
    ),
    "the iterable of a loop": (
        main_of("x = np.zeros(3)\nt = 0\nfor v in x:\n    x[1] = 5\n    t += v\nreturn t"),
        "NP2TF604",
    ),
    "perhaps another's": (
        main_of("x, y = np.zeros(3), np.ones(3)\nz = x if x[0] else y\nz[0] = 3\nreturn y"),
        "NP2TF604",
    ),
    "a parameter's view": (
        main_of("u = np.zeros(3)\nf(u)\nreturn u", "def f(u):\n    v = u[1:]\n    v[0] = 1\n"),
        "NP2TF604",
    ),
    "a parameter that may be bound again": (
        main_of(
            "u = np.zeros(3)\nreturn f(u, 0), u",
            "def f(u, n):\n    for k in range(n):\n        u = u + 1\n    u[0] = 5\n    return 1\n",
        ),
        "NP2TF604",
    ),
    "the same array for two parameters": (
        main_of("u = np.zeros(3)\nf(u, u)\nreturn u", "def f(u, v):\n    u[0] = 1\n    u[1] = v[0]\n"),
        "NP2TF604",
    ),
    "a global": (
        main_of("f()\nreturn TABLE", "TABLE = np.zeros(3)\n\n\ndef f():\n    TABLE[0] = 1\n"),
        "NP2TF604",
    ),
    "rows that are exchanged": (
        main_of("x = np.eye(2)\nx[0], x[1] = x[1], x[0]\nreturn x"),
        "NP2TF604",
    ),
    "order": (
        main_of(
            "x = np.zeros(2)\nx[len(log)] = say()\nreturn x",
            "log = []\n\n\ndef say():\n    log.append(1)\n    return 2\n",
        ),
        "NP2TF604",
    ),
    "what an inner function returns": (
        main_of("x = np.zeros(3)\ndef g():\n    return x\ny = g()\nx[0] = 5\nreturn y"),
        "NP2TF604",
    ),
    "what a function returns of the module's": (
        "import numpy as np\n\nX = np.zeros(3)\n\n\ndef g():\n    return X\n\n\nY = g()\nX[0] = 5\n",
        "NP2TF604",
    ),
    "what a lambda returns": (
        main_of("x = np.zeros(3)\ng = lambda: x\ny = g()\nx[0] = 5\nreturn y"),
        "NP2TF603",
    ),
    "a generator that reads later": (
        main_of("x = np.zeros(3)\ng = (v + 1 for v in x)\nx[0] = 5\nreturn list(g)"),
        "NP2TF604",
    ),
    "an iterator that reads later": (
        main_of("x = np.zeros(3)\nz = zip(x, x)\nx[0] = 5\nreturn list(z)"),
        "NP2TF604",
    ),
    "what enumerate goes over": (
        main_of("x = np.arange(3)\nt = 0\nfor k, v in enumerate(x):\n    x[2] = 9\n    t += v\nreturn t"),
        "NP2TF604",
    ),
    "a list in a list": (
        main_of(
            "x = np.zeros(2)\nf(x)\nreturn x",
            "KEPT = []\n\n\ndef f(x):\n    a = []\n    KEPT.append(a)\n    a.append(x)\n",
        ),
        "NP2TF604",
    ),
    "an array as a default": (
        main_of("return f()", "def f(x=np.zeros(2)):\n    x[0] += 1\n    return x\n"),
        "NP2TF603",
    ),
    "an array and None": (main_of("x = np.zeros(2)\nreturn x == None"), "NP2TF606"),
    "an array in a list that a comprehension appends to": (
        main_of("a, held = np.zeros(2), []\n[held.append(a) for _ in range(1)]\na[0] = 1\nreturn held"),
        "NP2TF604",
    ),
    "an array in a list that a lambda appends to": (
        main_of("a, held = np.zeros(2), []\nf = lambda: held.append(a)\na[0] = 1\nreturn held"),
        "NP2TF604",
    ),
    "an array that a container may hold": (
        main_of(
            "return g", "def g(x):\n    t = np.zeros(2)\n    x[0] = t\n    t[0] = 1\n    return t.sum()\n"
        ),
        "NP2TF604",
    ),
    "random texts": (main_of("return np.random.choice(['a', 'b'])"), "NP2TF602"),
    "small integers": (main_of("return np.zeros(3, np.uint8) - 1"), "NP2TF601"),
    "a result written to an array that another name shows": (
        main_of("x = np.ones(3)\ny = x\nnp.add(x, 1, out=x)\nreturn y"),
        "NP2TF604",
    ),
    "an array of a result of several": (
        main_of("x, y = np.meshgrid(np.arange(2), np.arange(3))\nz = x\nz[0] = 7\nreturn x"),
        "NP2TF604",
    ),
    "half precision": (main_of("return np.sqrt(np.array([True, False]))"), "NP2TF602"),
    "a list beside an array": (main_of("return np.ones(2, np.float32) + [1.5, 2.5]"), "NP2TF602"),
    "shifts": (main_of("return np.arange(3) << 1"), "NP2TF602"),
    **{
        f"truth values {operator}": (
            main_of(f"m = np.arange(3) > 1\nreturn m {operator} (np.arange(3) > 0)"),
            "NP2TF602",
        )
        for operator in ("-", "/", "//", "%", "**", "@", "<", ">=")
    },
    "truth values and integers": (main_of("return (np.arange(3) > 1) // np.arange(1, 4)"), "NP2TF602"),
    "a sign of truth values": (main_of("return -(np.arange(3) > 1)"), "NP2TF602"),
    "the class of a dtype": (main_of("return np.arange(3).dtype.type(2)"), "NP2TF601"),
    "a class": (main_of("return np.ones(1)", "class A(np.ndarray):\n    pass\n"), "NP2TF603"),
    "a finally that drops an exception": (
        main_of(
            "for k in range(2):\n    try:\n        x = np.ones(k)\n    finally:\n        break\nreturn x"
        ),
        "NP2TF603",
    ),
    "what a handler reads": (
        main_of(
            "x = np.zeros(2)\ny = x\ntry:\n    x[0] = 1\n    int('a')\nexcept ValueError:\n"
            "    return y\nreturn x"
        ),
        "NP2TF604",
    ),
    "a result that `finally` writes to": (
        main_of("x = np.zeros(2)\ntry:\n    return x\nfinally:\n    x[0] = 1"),
        "NP2TF604",
    ),
    "a write of a call that is given up": (
        main_of(
            "x = np.zeros(2)\ntry:\n    f(x)\nexcept ValueError:\n    pass\nreturn x",
            "def f(x):\n    x[0] = 1\n    raise ValueError\n",
        ),
        "NP2TF608",
    ),
    "an index out of bounds that is caught": (
        main_of("x = np.zeros(2)\ntry:\n    return x[int('3')]\nexcept IndexError:\n    return 0"),
        "NP2TF603",
    ),
    "an exception that is dropped": (
        "import contextlib\n"
        + main_of("x = np.zeros(2)\nwith contextlib.suppress(ValueError):\n    x = x + 1\nreturn x"),
        "NP2TF603",
    ),
    "warnings as errors": (
        main_of("with np.errstate(divide='raise'):\n    return np.ones(2) / 0"),
        "NP2TF601",
    ),
    "type": (main_of("return isinstance(np.sum(np.ones(2)), float)"), "NP2TF606"),
    "identity": (main_of("x = np.ones(1)\ny = x + 0\nreturn x is y"), "NP2TF606"),
    "a call that writes, in an expression": (
        main_of("u = np.zeros(6)\nreturn 1 + sweep(u, u + 1), u", SWEEP),
        "NP2TF608",
    ),
    "np is not always NumPy": ("import numpy as np\n\nx = np.ones(1)\nnp = 3\n", "NP2TF603"),
}
