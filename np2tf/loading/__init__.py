"""NumPy code translated when it is loaded: modules at import, single functions, programs under np2tf run."""
