"""The page's server: who may ask, what is served, and how it ends."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from dash import Dash
from flask import Flask, Response, abort, request
from werkzeug.serving import make_server

from oltpsim.scenarios.page.calculator import Calculator
from oltpsim.scenarios.page.callbacks import PageCallbacks, problem_words, register
from oltpsim.scenarios.page.downloads import DOWNLOADS
from oltpsim.scenarios.page.folder import PageFolder
from oltpsim.scenarios.page.jobs import JobBoard
from oltpsim.scenarios.page.layout import page_layout
from oltpsim.scenarios.page.question import questions_in, read_question
from oltpsim.scenarios.page.uploads import save_upload
from oltpsim.scenarios.show.page import TEMPLATES, plotly_js
from oltpsim.scenarios.show.palette import THEMES
from oltpsim.simulator.errors import InputError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ANY_ADDRESS = {"0.0.0.0", "::"}  # noqa: S104 - what a user may ask for
"""listens at all of this computer's addresses, whose names nobody knows here"""
MOST_BYTES = 64 * 2**20
"""of one request"""
PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{%title%}</title>
{%favicon%}
{%css%}
</head>
<body>
{%app_entry%}
<footer>{%config%}{%scripts%}{%renderer%}</footer>
</body>
</html>
"""


class PageServer:
    """The application with what it holds: calculating processes, jobs and a folder."""

    def __init__(self, folder: Path, hosts: Sequence[str] = ()) -> None:
        self.folder = PageFolder(folder)
        self.calculator, self.jobs = Calculator(), JobBoard()
        self.callbacks = PageCallbacks(self.calculator, self.jobs, self.folder)
        flask = Flask("oltpsim")
        flask.config["MAX_CONTENT_LENGTH"] = MOST_BYTES
        settings: dict[str, Any] = {
            "server": flask,
            "title": "oltpsim",
            "update_title": None,
            "assets_folder": str(Path(__file__).parent / "assets"),
            "serve_locally": True,
            "suppress_callback_exceptions": True,
            "index_string": PAGE,
            "external_scripts": ["/drawing.js"],
            "external_stylesheets": ["/report.css"],
        }
        self.app = Dash("oltpsim", **settings)
        self.app.layout = page_layout
        register(self.app, self.callbacks)
        self._names = set() if ANY_ADDRESS & {*hosts} else {*LOOPBACK, *hosts}
        policy = self._policy()
        flask.before_request(self._refuse_strangers)
        flask.after_request(lambda response: _safe(response, policy))
        self._routes(flask)
        self._upload_routes(flask)

    def _policy(self) -> str:
        scripts = " ".join(f"'{each}'" if not each.startswith("'") else each for each in self.app.csp_hashes())
        return (
            f"default-src 'self'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )

    def _refuse_strangers(self) -> None:
        """A page of another host may neither ask under a name that it points here, nor post."""
        host = request.host.rpartition(":")[0] if request.host.rpartition(":")[2].isdigit() else request.host
        if self._names and host.strip("[]") not in self._names:
            abort(403, "this host isn't served; start oltpsim serve with --host")
        origin = request.headers.get("Origin")
        if origin is not None and origin != f"{request.scheme}://{request.host}":
            abort(403, "requests from pages of others aren't served")

    def _routes(self, flask: Flask) -> None:
        themes = f"window.oltpsimThemes = {THEMES!r};\n"
        drawing = themes + (TEMPLATES / "layout.js").read_text(encoding="utf-8") + "\n" + plotly_js()
        style = (TEMPLATES / "page.css").read_text(encoding="utf-8")

        @flask.get("/drawing.js")
        def drawing_js() -> Response:
            return _cached(Response(drawing, mimetype="text/javascript"))

        @flask.get("/report.css")
        def report_css() -> Response:
            return _cached(Response(style, mimetype="text/css"))

        @flask.get("/take/<name>")
        def download(name: str) -> Response:
            if name not in DOWNLOADS:
                abort(404)
            try:
                question, *_ = questions_in(request.query_string.decode("ascii", "replace")) or [read_question({})]
                text, mimetype = DOWNLOADS[name](question, self.folder)
            except InputError as error:
                return Response(problem_words(error), status=400, mimetype="text/plain")
            headers = {"Content-Disposition": f'attachment; filename="{name}"'}
            return Response(text, mimetype=mimetype, headers=headers)

    def _upload_routes(self, flask: Flask) -> None:
        @flask.post("/upload")
        def upload() -> tuple[dict[str, str], int]:
            if request.headers.get("X-Oltpsim") != "upload":  # which a page of another host can't send
                abort(403)
            try:
                files = [(each.filename or "file", each.stream) for each in request.files.getlist("files")]
                return {"name": save_upload(self.folder.uploads, files)}, 200  # type: ignore[arg-type]
            except InputError as error:
                return {"problem": problem_words(error)}, 400
            except OSError as error:
                return {"problem": f"upload: can't be kept: {error.strerror}"}, 400

        @flask.errorhandler(413)
        def too_large(_error: Exception) -> tuple[dict[str, str], int]:
            return {"problem": f"upload: is more than {MOST_BYTES >> 20} MiB; give fewer files, or a zip"}, 413

        @flask.get("/plan/<name>.html")
        def plan_page(name: str) -> Response:
            return self._file(lambda: self.folder.plan_path(name).with_suffix(".html"), "plan.html", "text/html")

        @flask.get("/calibration/<name>.json")
        def model(name: str) -> Response:
            path = lambda: self.folder.calibration_path(name).with_suffix(".model.json")  # noqa: E731
            return self._file(path, "model.json", "application/json")

    def _file(self, path: Callable[[], Path], name: str, mimetype: str) -> Response:
        """A file of the folder, to be taken away."""
        try:
            content = path().read_bytes()
        except (InputError, OSError):
            abort(404)
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        return Response(content, mimetype=mimetype, headers=headers)

    def close(self) -> None:
        """End its processes."""
        self.jobs.close()
        self.calculator.close()


def _cached(response: Response) -> Response:
    response.headers["Cache-Control"] = "max-age=3600"
    return response


def _safe(response: Response, policy: str) -> Response:
    if not response.headers.get("Content-Disposition"):
        response.headers["Content-Security-Policy"] = policy
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def serve(folder: Path, host: str, port: int, ready: Any) -> None:
    """Serve the page until interrupted; `ready(address)` is called when it listens. Raises InputError."""
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # a line for each move of a slider tells nobody anything
    page = PageServer(folder, () if host in LOOPBACK else (host,))
    try:
        server = make_server(host, port, page.app.server, threaded=True)
    except OSError as error:
        page.close()
        raise InputError(f"--host {host} --port {port}: {error.strerror or error}; give another port") from error
    except SystemExit as error:  # which is how werkzeug says that a port is in use
        page.close()
        raise InputError(f"--port {port}: is in use; give another one") from error
    shown = f"[{host}]" if ":" in host else host
    page.calculator.begin()
    try:
        ready(f"http://{shown}:{server.server_port}/")
        server.serve_forever()
    finally:
        server.server_close()
        page.close()
