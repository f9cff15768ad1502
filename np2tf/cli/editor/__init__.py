"""What an editor shows of a source while it is typed: findings, fates of functions, and translations."""
