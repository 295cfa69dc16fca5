"""Shell: transports."""
