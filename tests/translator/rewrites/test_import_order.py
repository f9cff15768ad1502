"""New imports stand where isort puts them, if it has sorted the imports around NumPy's."""

from __future__ import annotations

import pytest

from np2tf import convert

BODY = "\n\ndef f(x):\n    for i in range(len(x)):\n        x[i] = np.sin(x[i - 1])\n    return x\n"
#: The imports of a program, and those of its translation.
CASES = {
    "NumPy alone": ("import numpy as np\n", "import np2tf\nfrom np2tf import tnp\n"),
    "between other packages": (
        "import math\n\nimport matplotlib.pyplot as plt\nimport numpy as np\nimport scipy\n"
        "from scipy import fft\n",
        "import math\n\nimport matplotlib.pyplot as plt\nimport np2tf\nimport scipy\nfrom np2tf import tnp\n"
        "from scipy import fft\n",
    ),
    "before the first of a section": (
        "import math\n\n# for speed\nimport numba\nimport numpy as np\nfrom attrs import define\n",
        "import math\n\nimport np2tf\n# for speed\nimport numba\nfrom attrs import define\n"
        "from np2tf import tnp\n",
    ),
    "sorted by names alone": (
        "from attrs import define\nimport numpy as np\nfrom scipy import fft\n",
        "from attrs import define\nimport np2tf\nfrom np2tf import tnp\nfrom scipy import fft\n",
    ),
    "unsorted": (
        "import scipy\nimport numpy as np\nimport attrs\n",
        "import scipy\nimport np2tf\nfrom np2tf import tnp\nimport attrs\n",
    ),
    "no sections": (
        "import math\nimport numpy as np\nfrom os import path\n",
        "import math\nimport np2tf\nfrom np2tf import tnp\nfrom os import path\n",
    ),
    "a name that stays": (
        "import matplotlib\nimport numpy as np\n\nassert np.foo\n",
        "import matplotlib\nimport np2tf\nimport numpy as np\nfrom np2tf import tnp\n\nassert np.foo\n",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_new_imports_are_sorted(name: str) -> None:
    before, after = CASES[name]
    assert convert(before + BODY).text.startswith(after + "\n\n@np2tf.jit\ndef f(x):\n")
