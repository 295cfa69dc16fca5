"""The terminal client behind `zidane-acp chat`: an ACP client of its own, for our agent or any other."""
