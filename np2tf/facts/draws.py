"""Which calls may draw random numbers that staged code draws as NumPy does."""

from __future__ import annotations

import libcst as cst

#: Functions of `numpy.random`, and methods of its generators. Whether an object whose method goes by such a
#: name is a generator is seen when it is called.
DRAWS = frozenset(
    {
        *(
            "default_rng",
            "RandomState",
            "rand",
            "randn",
            "randint",
            "random",
            "random_sample",
            "sample",
            "ranf",
        ),
        *("integers", "uniform", "normal", "standard_normal", "choice", "permutation", "permuted", "shuffle"),
        *("beta", "binomial", "chisquare", "dirichlet", "exponential", "f", "gamma", "geometric", "gumbel"),
        *("hypergeometric", "laplace", "logistic", "lognormal", "logseries", "multinomial"),
        *("multivariate_normal", "multivariate_hypergeometric", "negative_binomial", "noncentral_chisquare"),
        *("noncentral_f", "pareto", "poisson", "power", "random_integers", "rayleigh", "standard_cauchy"),
        *("standard_exponential", "standard_gamma", "standard_t", "tomaxint", "triangular", "vonmises"),
        *("wald", "weibull", "zipf"),
    }
)
#: Among them names that many other objects have, too.
_COMMON = frozenset({"f", "power", "sample", "default_rng", "RandomState"})


def looks_like_a_draw(node: cst.CSTNode) -> bool:
    """Whether a call is of a method that generators have, and hardly anything else."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return False
    return node.func.attr.value in DRAWS - _COMMON
