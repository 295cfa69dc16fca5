"""The imperative shell of zidane-acp."""
