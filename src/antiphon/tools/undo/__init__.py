"""Undo of changes that tools make: records and copies of files, kept outside the workspace."""
