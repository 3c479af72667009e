"""What a model may ask for, and what happens when it does."""
