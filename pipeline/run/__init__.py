"""One run: its recipe's workers, books, gates and notices."""
