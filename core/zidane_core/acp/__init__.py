"""Ring 3: ACP speech over the agent machine."""
