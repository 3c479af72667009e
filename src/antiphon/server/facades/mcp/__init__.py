"""Threads as tools and resources of an MCP server, over streamable HTTP and over standard input and output.

Only `protocol.py`, `sessions.py`, `stored_events.py` and `stdio.py` use the MCP library, which is imported when it is
first needed.
"""
