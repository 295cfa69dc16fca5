"""Shell: models."""
