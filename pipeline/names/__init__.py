"""How names of people and places are spelt, and the word lists that tell them from other words."""
