"""Fits calibrations, thresholds and models; nothing here runs in the service."""
