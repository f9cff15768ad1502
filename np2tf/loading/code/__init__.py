"""From a module's bytes to code that runs translated, with the source's lines, names and original code."""
