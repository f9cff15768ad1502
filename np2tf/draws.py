"""The names of NumPy's functions and methods that draw random numbers, and that staged code draws as NumPy
does.
"""

from __future__ import annotations

#: Functions of `numpy.random`, and methods of its generators.
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
