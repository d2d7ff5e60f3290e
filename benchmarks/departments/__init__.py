"""Departments whose truth is known and owes nothing to the estimator; `profile_truth.py` asks them.

conditions (what is hard about a department) → staff (who reads, and how wrong each word is) → exams
(what they say and what CT shows) → truth (rates in the long run, lines, directions) → judge (one
profile against that truth) → table (shares with intervals).
"""
