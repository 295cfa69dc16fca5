"""Logging in: keys of providers, where they are kept, and how they are asked for."""
