"""The HTTP server: the application, the wire contract and the frame format."""
