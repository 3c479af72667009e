"""Differences between two charts, and their consequences for stored runs."""
