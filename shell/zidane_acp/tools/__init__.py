"""Shell: tools."""
