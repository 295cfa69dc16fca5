"""Ring 1: provider codecs as pure reducers."""
