"""The one form of a question's answer: headline, facts, tables, remarks, what to do next."""

from oltpsim.scenarios.questions.sections.answer import AnswerColumn, AnswerTable, Sections
