"""Averages, quantiles, histograms, and the calculus of samples.

May import the levels below the chapters, `reductions` and `sorting`.
"""
