"""Reductions over axes: sums, extremes, truth, running sums.

May import the levels below the chapters, and no other chapter. Quantiles and histograms belong to
`statistics`.
"""
