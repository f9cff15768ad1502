"""One file, many files, a project: bytes in; bytes, patches and findings out."""
