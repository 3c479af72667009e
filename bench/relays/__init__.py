"""Clients of the fake server, one process each: ours and the official SDKs."""
