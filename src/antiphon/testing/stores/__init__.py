"""The facts that make up the contract of stores, by what they are about."""
