"""What the orchestrator is made of: agents, plans, decisions, limits and what is told to whom; pure."""
