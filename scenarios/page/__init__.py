"""The live page: a machine asked for in a browser, with sliders, answered by the engines and drawn like the reports."""

from oltpsim.scenarios.page.server import LOOPBACK, serve
