"""A sweep in files: its rows, the series of its runs, and the runs as `oltpsim report` takes them."""

import csv
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from oltpsim.models.input import write_whole, written_whole
from oltpsim.scenarios.questions.sweep import Axis, SampledAxis, Sweep, SweepRunner
from oltpsim.scenarios.run import write_saved_run
from oltpsim.scenarios.show.sweep import sweep_columns, sweep_csv
from oltpsim.simulator.errors import InputError

ENDINGS = (".csv", ".parquet")
LONGEST_NAME = 100


def check_export(path: Path | None, option: str) -> None:
    """Refuse a name of another kind of file, and Parquet where nothing can write it, before the work."""
    if path is None:
        return
    if path.suffix not in ENDINGS:
        raise InputError(f"{option} {path}: the name must end in {' or '.join(ENDINGS)}")
    if path.suffix == ".parquet":
        _parquet(f"{option} {path}")


def write_sweep(sweep: Sweep, path: Path) -> None:
    """One line per point. In Parquet varied fields of which every value is a number are numbers."""
    if path.suffix == ".csv":
        write_whole(path, sweep_csv(sweep))
        return
    arrow, parquet = _parquet(str(path))
    found = sweep_columns(sweep)
    varied = {axis.key for axis in sweep.axes}
    arrays = {name: _typed(values) if name in varied else values for name, values in found.items()}
    arrays["reason"] = arrow.array(found["reason"], arrow.string())
    with written_whole(path) as temporary:
        parquet.write_table(arrow.table(arrays), temporary)


def write_sweep_series(runner: SweepRunner, axes: Sequence[Axis | SampledAxis], path: Path) -> None:
    """One line per run and step of its series: the varied fields, the seed, when the step begins, the values.

    A series that a run doesn't have, such as that of a second disk, is empty there.
    """
    names = list(dict.fromkeys(name for _, _, _, values in _series(runner) for name in values))
    head = [*(axis.key for axis in axes), "seed", "begins_s"]
    with written_whole(path) as temporary:
        if path.suffix == ".csv":
            _series_as_csv(runner, [head, names], temporary)
        else:
            _series_as_parquet(runner, [head, names], temporary)


def _series_as_csv(runner: SweepRunner, header: list[list[str]], path: Path) -> None:
    head, names = header
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow([*head, *names])
        for fields, seed, begins_s, values in _series(runner):
            for step, begin_s in enumerate(begins_s):
                writer.writerow(
                    [*fields, seed, begin_s, *(values[name][step] if name in values else None for name in names)]
                )


def _series_as_parquet(runner: SweepRunner, header: list[list[str]], path: Path) -> None:
    """A row group per run, so that only one run's series are in memory."""
    head, names = header
    arrow, parquet = _parquet(str(path))
    all_fields = list(zip(*(fields for fields, *_ in _series(runner)), strict=True))
    typed = [dict(zip(texts, _typed(texts), strict=True)) for texts in all_fields]
    kinds = [arrow.array(list(each.values())).type for each in typed]
    types = [*kinds, arrow.int64(), *[arrow.float64()] * (1 + len(names))]
    schema = arrow.schema(list(zip([*head, *names], types, strict=True)))
    with parquet.ParquetWriter(path, schema) as writer:
        for fields, seed, begins_s, values in _series(runner):
            count = len(begins_s)
            parts = [[of[field]] * count for of, field in zip(typed, fields, strict=True)]
            parts += [[seed] * count, begins_s, *(values.get(name, [None] * count) for name in names)]
            arrays = [arrow.array(part, kind) for part, kind in zip(parts, types, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))


def _series(runner: SweepRunner) -> Iterator[tuple[tuple[str, ...], int, list[float], dict[str, list[float]]]]:
    """Of each run its varied fields, its seed, when each step begins, and the series by their names."""
    for _, point, run in runner.runs():
        record = runner.store.find(run)
        if record is not None:
            series = json.loads(zlib.decompress(record.result))["series"]
            steps = max((len(values) for values in series["values"].values()), default=0)
            yield point.values, run.seed, [step * series["step_s"] for step in range(steps)], series["values"]


def write_sweep_runs(runner: SweepRunner, axes: Sequence[Axis | SampledAxis], folder: Path) -> int:
    """A saved run for each replication of each point, named by point, values and seed; returns how many."""
    count = 0
    for number, point, run in runner.runs():
        fields = "_".join(
            f"{axis.key.rpartition('.')[2]}={value}" for axis, value in zip(axes, point.values, strict=True)
        )
        plain = re.sub(r"[^-\w.=]+", "-", fields)[:LONGEST_NAME]
        write_saved_run(folder / f"{number:04d}_{plain}_seed={run.seed}.json", runner.store.saved_run(run))
        count += 1
    return count


def _typed(texts: Sequence[str]) -> list[Any]:
    """Integers or numbers if all of them are, else the texts."""
    for kind in (int, float):
        try:
            return [kind(text) for text in texts]
        except ValueError:
            continue
    return list(texts)


def _parquet(where: str) -> tuple[Any, Any]:
    """The library that writes Parquet. Raises InputError where it is missing."""
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            f"{where}: Parquet needs pyarrow, which is not installed: install 'oltpsim[parquet]', or export to .csv"
        ) from error
    return pa, parquet
