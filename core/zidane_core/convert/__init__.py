"""Ring 1: one conversion a file; value and warnings out, never logs."""
