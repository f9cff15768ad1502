"""Rewrites: each recognises one pattern and adds edits to a Plan."""
