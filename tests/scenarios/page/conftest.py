"""A page that is served to the tests of this folder."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from werkzeug.serving import make_server

from oltpsim.scenarios.page.server import PageServer


@dataclass(frozen=True)
class ServedPage:
    """A page at an address, and what serves it."""

    url: str
    server: PageServer
    folder: Path


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    """The page in this process, as `serve` serves it."""
    folder = tmp_path_factory.mktemp("page")
    page = PageServer(folder)
    with pytest.MonkeyPatch.context() as patch:  # its answers are counted where they are called without a process
        patch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
        page.calculator.begin()
    server = make_server("127.0.0.1", 0, page.app.server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield ServedPage(f"http://127.0.0.1:{server.server_port}/", page, folder)
    server.shutdown()
    thread.join()
    server.server_close()
    page.close()
