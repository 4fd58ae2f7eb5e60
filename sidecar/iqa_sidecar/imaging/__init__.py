"""Decoded images and the operations on their pixels that several tools share."""
