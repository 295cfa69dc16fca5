"""The `sessions` commands: listing, showing, exporting, importing and removing what is stored."""
