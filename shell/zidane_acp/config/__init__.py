"""The user's file of settings, and that of a project: records, reading, showing, changing."""

from zidane_acp.config.place import LONGEST, config_path
from zidane_acp.config.user import Config, config_of, read_config

__all__ = ["LONGEST", "Config", "config_of", "config_path", "read_config"]
