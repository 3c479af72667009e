"""Runs of agents: an arbiter picks who works, agents ask before they act."""
