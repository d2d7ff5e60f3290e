"""One module per source format, each yielding exams and the rows it had to set aside."""
