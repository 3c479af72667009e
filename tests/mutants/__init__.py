"""Mutants: one break of the code for each of some requirements, which a test of that requirement notices."""
