"""What only the committee's review asks of the numbers, one question a module."""
