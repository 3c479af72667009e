"""Protocols of other clients, over the same threads."""
