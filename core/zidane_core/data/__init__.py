"""Ring 0: frozen records only. Nothing here decides anything."""
