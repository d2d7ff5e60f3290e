"""One document a file or folder: contents in, bytes out."""

__all__: list[str] = []
