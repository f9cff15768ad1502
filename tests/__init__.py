"""The tests: a folder for each house, and `helpers`, a package of what tests share."""
