"""`zidane-acp chat --demo`: a short tour over a throw-away copy of a tiny project."""
