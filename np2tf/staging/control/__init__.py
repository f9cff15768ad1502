"""Staged loops and branches, and the operators that translated code calls for them and for numbers."""
