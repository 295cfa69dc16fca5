"""Ring 1: one conversion a file, value and warnings out, never logging.

What touches ACP imports the records of `zidane_core.acp.wire` (which import nothing but msgspec): the one
stated exception to the order of the rings.
"""
