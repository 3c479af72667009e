"""Windows of the server's machine: its socket, their folders, keys and threads, and its end."""
