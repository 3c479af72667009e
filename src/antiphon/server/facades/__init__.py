"""Protocols of other makers over the same threads: each is a projection of the journal."""
