"""Exercises and their judge. ``python practice/judge.py`` is the command; see `judging`."""
