"""Packages by other authors: download them, run their own tests, and judge the outcome."""
