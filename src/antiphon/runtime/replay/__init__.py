"""Replay of journals: compared with what was stored, at an earlier step, or with the code of today."""
