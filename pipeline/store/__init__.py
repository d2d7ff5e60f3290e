"""Shards, their keys and zones, locks and what may be deleted: bytes, and nothing of medicine."""
