"""Measures, compares, prints and draws what the demonstrations list; knows no single demonstration."""
