"""One drawing per file: a result and a frame in, marks out."""

__all__: list[str] = []
