"""Tools of MCP servers: processes on this machine and addresses on the network."""
