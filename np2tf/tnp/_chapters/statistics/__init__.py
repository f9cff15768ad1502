"""Averages, quantiles, histograms, and the calculus of sampled functions.

May import the levels below the chapters, `reductions` and `sorting`. Sums, means and variances belong to
`reductions`.
"""
