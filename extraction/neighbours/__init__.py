"""A language model says how sure it is; what it says is read, never repaired."""
