"""Judgement of commands: what a line of bash does, read with a grammar of bash."""
