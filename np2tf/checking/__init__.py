"""What `np2tf check` does with findings: selects, hides and knows them; and edits comments."""
