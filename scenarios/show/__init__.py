"""Answers for people and programs: text, tables, charts, pages."""
