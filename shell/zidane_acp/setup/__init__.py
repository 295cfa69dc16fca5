"""`zidane-acp setup EDITOR`: shows or writes the entry that adds this agent to an editor."""
