"""The pure core of zidane-acp: protocol, turns, conversions and provider codecs, with no I/O."""

__version__ = "0.1.0"
