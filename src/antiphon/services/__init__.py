"""What drives machines: the work behind their actors, and friendly fronts to them."""
