"""The user's file of settings, and that of a project: records, reading, showing, changing."""

from zidane_acp.config.place import config_path
from zidane_acp.config.user import Config, read_config

__all__ = ["Config", "config_path", "read_config"]
