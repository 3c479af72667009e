"""Protocols of other makers, spoken over the same threads and the same journals."""
