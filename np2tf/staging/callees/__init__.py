"""The functions that traced code calls: known, translated on demand, or refused."""
