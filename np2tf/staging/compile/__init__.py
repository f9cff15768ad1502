"""From a prepared call to compiled code: which calls share code, tracing, running, results."""
