"""Packages written by others: getting them, running their own tests, judging the outcome."""
