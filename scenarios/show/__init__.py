"""Answers for people and programs: text, tables, charts, pages. Each file is a door: it answers for one question."""
