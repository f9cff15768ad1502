"""numpy.linalg, and polyfit, which is least squares."""
