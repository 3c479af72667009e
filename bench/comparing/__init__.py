"""Parts of `compare.py`: checkouts, child processes, turns and statistics."""
