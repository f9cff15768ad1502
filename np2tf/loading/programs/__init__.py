"""A whole program run translated: finding it, executing it, its child processes, workers and tracebacks."""
