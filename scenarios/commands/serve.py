"""oltpsim serve: the same answers in a browser."""

from pathlib import Path
from typing import Annotated

import typer

from oltpsim.simulator.errors import InputError

try:
    from oltpsim.scenarios.page import LOOPBACK, serve
except ModuleNotFoundError as error:
    if (error.name or "").startswith("oltpsim"):
        raise
    raise InputError(
        f"serve: needs Dash ({error.name} is missing): pip install 'oltpsim[app]', or in a checkout 'make environment'"
    ) from error


def serve_(
    host: Annotated[
        str, typer.Option(metavar="NAME", help="Address to listen at. Others than this computer's own may then ask.")
    ] = LOOPBACK[0],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0: any that is free.")] = 8050,
    folder: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Where confirmed runs, uploads and calibrations are kept.")
    ] = Path("oltpsim-serve"),
) -> None:
    """Ask in a browser: sliders for memory, buffers, disks, clients and cores, the answer and its pictures.

    The page asks no other host for anything, and only this computer may ask it unless --host says otherwise: there is
    no password. Ctrl-C ends it; what is finished stays in the folder.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--folder {folder}: is a file; give a folder")
    serve(folder, host, port, lambda address: typer.echo(f"{address} (Ctrl-C ends it)"))
