"""Child processes of `debates.py`: debaters that speak at a steady pace, held as a debate or read bare."""
