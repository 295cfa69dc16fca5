"""Ring 2: the protocol-free agent machine."""
