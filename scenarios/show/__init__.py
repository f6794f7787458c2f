"""Answers for people and programs: one table, one chart, one page, one way to write a number."""

from scenarios.show.calibration import calibration_lines
from scenarios.show.catalogue import catalogue_lines, price_table
from scenarios.show.chart import BarSeries, Chart, Mark, Scale, Segment
from scenarios.show.compare import comparison_csv, comparison_json, comparison_table
from scenarios.show.explain import (
    explanation_charts,
    explanation_csv,
    explanation_json,
    explanation_text,
    explanation_title,
)
from scenarios.show.job import job_json, job_text
from scenarios.show.large_systems import figure_amount, figure_error, large_system_lines
from scenarios.show.machine import machine_json, machine_table, machine_yaml
from scenarios.show.next_run import next_run_csv, next_run_json, next_run_text, would_tell
from scenarios.show.numbers import amount, count, milliseconds, share, significant
from scenarios.show.palette import SERIES_COLOURS
from scenarios.show.picture import check_picture, picture_digest, picture_svg, write_picture
from scenarios.show.plan import plan_csv, plan_json, plan_table
from scenarios.show.plan_page import write_plan_page
from scenarios.show.plan_reasons import objective_words, rejection_reason
from scenarios.show.prediction import certificate_line, prediction_csv, prediction_json, prediction_table
from scenarios.show.progress import progress_display
from scenarios.show.report import write_report
from scenarios.show.run_record import finding_lines, found_files_lines, record_headline, record_lines, records_csv
from scenarios.show.sensitivity import (
    sensitivity_chart,
    sensitivity_csv,
    sensitivity_json,
    sensitivity_table,
    sensitivity_title,
)
from scenarios.show.summary import summary_csv, summary_text
from scenarios.show.sweep import sweep_chart, sweep_csv, sweep_table, sweep_title
from scenarios.show.sweep_export import check_export, write_sweep, write_sweep_runs, write_sweep_series
from scenarios.show.validation import validation_lines
from scenarios.show.validation_page import agreement_chart, residuals_chart, write_validation_page
from scenarios.show.words import CALCULATED, configuration_line, is_calculated, rate_interval

__all__ = [
    "CALCULATED",
    "SERIES_COLOURS",
    "BarSeries",
    "Chart",
    "Mark",
    "Scale",
    "Segment",
    "agreement_chart",
    "amount",
    "calibration_lines",
    "catalogue_lines",
    "certificate_line",
    "check_export",
    "check_picture",
    "comparison_csv",
    "comparison_json",
    "comparison_table",
    "configuration_line",
    "count",
    "explanation_charts",
    "explanation_csv",
    "explanation_json",
    "explanation_text",
    "explanation_title",
    "figure_amount",
    "figure_error",
    "finding_lines",
    "found_files_lines",
    "is_calculated",
    "job_json",
    "job_text",
    "large_system_lines",
    "machine_json",
    "machine_table",
    "machine_yaml",
    "milliseconds",
    "next_run_csv",
    "next_run_json",
    "next_run_text",
    "objective_words",
    "picture_digest",
    "picture_svg",
    "plan_csv",
    "plan_json",
    "plan_table",
    "prediction_csv",
    "prediction_json",
    "prediction_table",
    "price_table",
    "progress_display",
    "rate_interval",
    "record_headline",
    "record_lines",
    "records_csv",
    "rejection_reason",
    "residuals_chart",
    "sensitivity_chart",
    "sensitivity_csv",
    "sensitivity_json",
    "sensitivity_table",
    "sensitivity_title",
    "share",
    "significant",
    "summary_csv",
    "summary_text",
    "sweep_chart",
    "sweep_csv",
    "sweep_table",
    "sweep_title",
    "validation_lines",
    "would_tell",
    "write_picture",
    "write_plan_page",
    "write_report",
    "write_sweep",
    "write_sweep_runs",
    "write_sweep_series",
    "write_validation_page",
]
