"""Machines of conversations: charts shared with the browser, and the pure functions behind their names."""
