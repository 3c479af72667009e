"""Charts explored, played and drawn."""
