"""Fits everything in the registry that is a number and not a definition: nothing here runs in the service."""
