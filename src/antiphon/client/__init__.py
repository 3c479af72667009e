"""Clients of a server: windows of this machine, and programs of others."""
