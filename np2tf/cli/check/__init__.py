"""The findings of np2tf check: suppressed by comments, known by a baseline, printed in a format."""
