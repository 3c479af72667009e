"""What a debate is made of: its settings, formats, costs, transcript, rounds and signals; all pure."""
