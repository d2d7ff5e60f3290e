"""Language models that read reports: asking, believing, and what runs them."""
