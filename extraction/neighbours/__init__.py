"""A language model says how sure it is, asked or by its layers; it is read, never repaired."""
