"""Declared events: checks compiled from TypedDicts, and their JSON Schema."""
