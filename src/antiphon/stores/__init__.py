"""Where letters, journals, tasks and snapshots are kept, behind one port."""
