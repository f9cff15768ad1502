"""The path of a function that pickles of arrays name which older versions have written."""
