"""Wire formats: requests written and replies decoded as each provider has them."""
