"""Programs, projects and test suites run on NumPy and translated, compared and timed."""
