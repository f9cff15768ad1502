"""A page on this machine to try translations in."""
