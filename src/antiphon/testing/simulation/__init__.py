"""Deterministic simulation: the real runtime on a loop with its own time, under faults drawn from a seed."""
