"""Measures, compares, prints and draws what the demonstrations list. Nothing about one demonstration comes in."""
