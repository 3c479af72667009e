"""The machines of a run, pure: orchestrator, crew and agent."""
