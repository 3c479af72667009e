"""The machines of conversations: a chart as JSON and the functions bound to its names, for each."""
