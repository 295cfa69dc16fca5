"""MCP servers: their processes and connections, over the official package `mcp`, which is loaded late."""
