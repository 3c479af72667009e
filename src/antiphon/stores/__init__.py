"""Stores of letters, journals, tasks and snapshots, behind one port."""
