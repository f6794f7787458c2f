"""Rules of the house that no linter knows: what a committed file may hold, and how the code is laid out."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("simulator", "models", "calibration", "scenarios")
MOST_LINES = 600
"""A file of 400 lines is long, not wrong; one of 600 holds two things."""

# In pieces, so that this file does not break its own rule.
REGISTRY_HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "registry.npm" + "js",
    "crates" + ".io",
    "proxy.go" + "lang.org",
    "deb.deb" + "ian.org",
    "repo.maven.ap" + "ache.org",
]
LOCKS = ("requirements.lock", "requirements-dev.lock")
DEVELOPERS_FOLDERS = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/", "/Us" + "ers/"]
# A path that starts there, or an address of a file; not a longer path that only contains the word.
STARTS_THERE = r"(?:(?<![\w./~})-])|(?<=file://))"
IN_A_DEVELOPERS_FOLDER = re.compile(STARTS_THERE + "(?:" + "|".join(DEVELOPERS_FOLDERS) + ")")
FORBIDDEN_CALLS = re.compile(r"\byaml\.load\(|(?<![\w.])(?:eval|exec)\(|\bc?[pP]ickle\b|allow_pickle=True")


@cache
def committed_files() -> tuple[Path, ...]:
    """Files that git tracks, and those that `git add` would take, so a rule speaks before the commit."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    return tuple(ROOT / name for name in sorted(set(listed.split("\0"))) if name and (ROOT / name).is_file())


def places(pattern: re.Pattern[str], files: list[Path]) -> list[str]:
    """`file:line: text` of every match."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:100]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def python_files(*folders: str) -> list[Path]:
    wanted = [path for path in committed_files() if path.suffix == ".py"]
    return [path for path in wanted if not folders or path.relative_to(ROOT).parts[0] in folders]


def test_no_file_names_a_package_registry() -> None:
    pattern = re.compile("|".join(map(re.escape, REGISTRY_HOSTS)))
    found = places(pattern, list(committed_files()))
    assert not found, "where packages come from is each machine's own setting:\n" + "\n".join(found)


def test_no_file_names_a_developers_folder() -> None:
    found = places(IN_A_DEVELOPERS_FOLDER, list(committed_files()))
    assert not found, "write paths from the root of the checkout:\n" + "\n".join(found)


@pytest.mark.parametrize("example", ["cd {}x", '"{}x"', "file://{}x", "-f={}x"])
@pytest.mark.parametrize("folder", DEVELOPERS_FOLDERS)
def test_a_developers_folder_is_recognised(folder: str, example: str) -> None:
    assert IN_A_DEVELOPERS_FOLDER.search(example.format(folder))


def test_python_files_fit_a_readers_head() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    too_long = [f"{path.relative_to(ROOT)}: {n}" for path, n in lengths.items() if n >= MOST_LINES]
    assert not too_long, f"split these by sense, a file stays under {MOST_LINES} lines:\n" + "\n".join(too_long)


def test_packages_run_no_text_from_files() -> None:
    found = places(FORBIDDEN_CALLS, python_files(*PACKAGES))
    assert not found, "data files are read by yaml.safe_load, json or numpy:\n" + "\n".join(found)


@pytest.mark.parametrize("line", ["yaml.load(text)", "x = eval(text)", "import pickle", "exec(code)"])
def test_text_that_is_run_is_recognised(line: str) -> None:
    assert FORBIDDEN_CALLS.search(line)


@pytest.mark.parametrize("line", ["yaml.safe_load(text)", "model.eval(x)", "retrieval(x)", "Executor()"])
def test_harmless_lines_are_not(line: str) -> None:
    assert not FORBIDDEN_CALLS.search(line)


def test_data_files_parse() -> None:
    broken = []
    for path in committed_files():
        if path.suffix in {".yaml", ".yml"}:
            try:
                empty = yaml.safe_load(path.read_text(encoding="utf-8")) is None
                broken += [f"{path.relative_to(ROOT)}: empty"] if empty else []
            except yaml.YAMLError as error:
                broken.append(f"{path.relative_to(ROOT)}: {error}")
    assert not broken, "\n".join(broken)


def test_packages_are_typed_and_described() -> None:
    for package in PACKAGES:
        assert (ROOT / package / "py.typed").is_file(), f"{package}/py.typed is missing"
        opening = (ROOT / package / "__init__.py").read_text()
        assert opening.startswith('"""'), f"{package}/__init__.py says nothing"


@pytest.mark.parametrize("lock", [*LOCKS, "benchmarks/requirements.lock"])
def test_locks_are_complete_and_name_no_place(lock: str) -> None:
    text = (ROOT / lock).read_text()
    assert "://" not in text
    assert " @ " not in text
    requirements = re.split(r"\n(?=[\w.-]+==)", text)[1:]
    assert requirements
    assert all("--hash=sha256:" in requirement for requirement in requirements)


def test_development_lock_agrees_with_the_run_time_lock() -> None:
    run_time, development = (set(re.findall(r"^[\w.-]+==\S+", (ROOT / lock).read_text(), re.M)) for lock in LOCKS)
    assert run_time <= development, "run `make lock`"


def test_changelog_has_a_place_for_the_next_change() -> None:
    assert re.search(r"^## \[Unreleased\]$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)


def test_readme_names_exactly_two_make_commands() -> None:
    named = set(re.findall(r"(?:^ {4}|`)(make [a-z-]+)", (ROOT / "README.md").read_text(), re.MULTILINE))
    assert named == {"make demo", "make test"}


# Rules for the code, over its syntax. Each is a function from sources to offenders, so that its test can also be shown
# some code that breaks the rule.

NO_NAMES = frozenset(
    """said told asked each own those of room again still late rest some more come comes go goes found given there
    kept shown taken every others answered""".split()  # noqa: SIM905 - a list has a line for each word
)
"""Words that name nothing: a name needs at least one other."""
LAZY_TABLES = ("scenarios/commands/cli.py", "scenarios/python/modules.py", "scenarios/run/engines.py")
"""Where commands, rooms and engines are found: loaded when they are wanted, so that `oltpsim --help` is fast."""
LAZY_FILES = (*LAZY_TABLES, "models/jobs/simulated.py", "scenarios/commands/lazy_parts.py")
"""Those, and what loads the kernel for a job, and what draws and reads for few runs."""
EXTRAS = {"dask", "distributed", "pandas", "psycopg", "pyarrow"}
"""Packages that need not be installed, so that they are imported where they are used."""
ENTRY_POINTS = {"oltpsim.scenarios.commands.cli", "oltpsim.scenarios.python.interface"}
A_DOOR_FOR_EACH_FILE = {"oltpsim.scenarios.show", "oltpsim.scenarios.commands"}
"""rooms whose files answer one question each, so that a command loads no other question's"""
BESIDE_ALL_ROOMS = {"oltpsim.simulator.errors"}
"""The exceptions, which every room raises and catches."""
OF_EVERY_ENGINE = {"simulate"}
"""What engines offer under one name, so that each can answer for the others; the table of engines calls it."""
MOST_FORMAT_SKIPS = 30


@dataclass(frozen=True)
class Source:
    """A Python file by its path from the root, and its syntax."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")

    @property
    def module(self) -> str:
        """Name as imported: oltpsim.models.wiring.paths, oltpsim.models.wiring."""
        path = self.path.removesuffix(".py").removesuffix("/__init__").removeprefix("src/")
        return ("oltpsim/" * path.startswith(tuple(f"{name}/" for name in PACKAGES)) + path).replace("/", ".")

    @property
    def package(self) -> str:
        """The package that it lies in, itself for an `__init__.py`."""
        return self.module if self.is_package else self.module.rpartition(".")[0]

    @property
    def folder(self) -> str:
        """Folder that it lies in, from the root."""
        return self.path.rpartition("/")[0]

    @cached_property
    def exported(self) -> list[str]:
        """The names that a package offers: those that its `__init__.py` imports."""
        statements = self.tree.body if self.is_package else []
        return [
            name.asname or name.name for each in statements if isinstance(each, ast.ImportFrom) for name in each.names
        ]

    @cached_property
    def constants(self) -> list[str]:
        """The names that a module gives by assignment."""
        targets = [
            target
            for each in self.tree.body
            if isinstance(each, ast.Assign | ast.AnnAssign)
            for assigned in (each.targets if isinstance(each, ast.Assign) else [each.target])
            for target in ast.walk(assigned)
        ]
        return [target.id for target in targets if isinstance(target, ast.Name)]

    @cached_property
    def imports(self) -> list[tuple[str, str]]:
        """Module and name of every import, wherever it stands; the name is empty for `import module`."""
        pairs = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                pairs += [(alias.name, "") for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                pairs += [(node.module or "", alias.name) for alias in node.names]
        return pairs

    def definitions(self, *kinds: type[ast.AST]) -> list[ast.FunctionDef | ast.ClassDef]:
        """Functions and classes, at any depth."""
        return [node for node in ast.walk(self.tree) if isinstance(node, kinds)]  # type: ignore[misc]


@cache
def sources(*folders: str) -> tuple[Source, ...]:
    return tuple(Source(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in python_files(*folders))


@cache
def examples() -> tuple[Source, ...]:
    """The imports of examples in pages, which are for whoever calls the program from Python."""
    pages = [path for path in committed_files() if path.suffix == ".md"]
    return tuple(
        Source(
            path.relative_to(ROOT).as_posix(), "\n".join(re.findall(r"^from \S+ import [\w, ]+$", text, re.MULTILINE))
        )
        for path in pages
        for text in [path.read_text("utf-8")]
    )


def words_of(name: str) -> list[str]:
    """`_kept_of` and `KeptOf` are both kept, of."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower().strip("_").split("_")


def names_that_say_nothing(code: Iterable[Source]) -> set[str]:
    """`path: name` of modules, constants, classes, functions and methods that consist of NO_NAMES."""
    named = {
        (source.path, name)
        for source in code
        for name in [
            source.module.rpartition(".")[2],
            *source.constants,
            *(definition.name for definition in source.definitions(ast.FunctionDef, ast.ClassDef)),
        ]
    }
    return {f"{path}: {name}" for path, name in named if set(words_of(name)) <= NO_NAMES}


def classes_with_two_meanings(code: Iterable[Source]) -> set[str]:
    """Names of classes and other types, such as `Currency = Annotated[str, ...]`, that are defined more than once."""
    counts = Counter(
        name
        for source in code
        for name in [*(definition.name for definition in source.definitions(ast.ClassDef)), *type_names(source)]
    )
    return {name for name, count in counts.items() if count > 1}


def type_names(source: Source) -> list[str]:
    """Names of types that a module gives by assignment, but variables of types, which are their file's own."""
    return [
        target.id
        for statement in source.tree.body
        if isinstance(statement, ast.Assign) and not ast.unparse(statement.value).startswith("TypeVar(")
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id[0].isupper() and not target.id.isupper()
    ]


def files_with_lazy_imports(code: Iterable[Source]) -> set[str]:
    """Files with an import inside a function, or by name, that are no table of what is loaded when it is wanted."""
    return {source.path for source in code if source.path not in LAZY_FILES and lazily_imported(source) - EXTRAS}


def lazily_imported(source: Source) -> set[str]:
    """First words of modules that functions import."""
    inside_functions = [
        node for function in source.definitions(ast.FunctionDef, ast.AsyncFunctionDef) for node in ast.walk(function)
    ]
    names = []
    for node in inside_functions:
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append(node.module or "")
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            names.append(ast.unparse(node.args[0]).strip("'"))
    return {name.partition(".")[0] for name in names}


def modules_in_tables(code: Iterable[Source]) -> set[str]:
    """What the lazy tables may load: words in them, up to a colon, as modules of their package or with full names."""
    return {
        name
        for source in code
        if source.path in LAZY_TABLES
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for word in [node.value.partition(":")[0]]
        for name in (word, f"{source.package}.{word}")
    }


def modules_entered_from_outside(code: Iterable[Source], users: Iterable[Source]) -> set[str]:
    """Modules and names that are imported outside of their package although its `__init__.py` doesn't import them."""
    modules = {source.module: source for source in code}
    entered = set()
    for user in users:
        for module, name in user.imports:
            target = modules.get(f"{module}.{name}") or modules.get(module)
            if target is None or inside(user.module, target.package):
                continue
            if not target.is_package:
                doors = ENTRY_POINTS | BESIDE_ALL_ROOMS
                entered |= set() if target.package in A_DOOR_FOR_EACH_FILE else {target.module} - doors
            elif target.module == module and name and name not in target.exported:
                entered.add(f"{module}.{name}")
    return entered


def inside(module: str, package: str) -> bool:
    return f"{module}.".startswith(f"{package}.")


def modules_for_tests_only(code: Iterable[Source], users: Iterable[Source]) -> set[str]:
    """Modules of which nothing is imported, nor a name that their package exports, except by tests."""
    used = [pair for user in users if not user.is_package for pair in user.imports]
    wanted = (
        ENTRY_POINTS
        | modules_in_tables(code)
        | {module for module, _ in used}
        | {f"{module}.{name}" for module, name in used}
    )
    for facade in [source for source in code if source.is_package]:
        for module, name in facade.imports:
            if f"{facade.module}.{name}" in wanted or not facade.exported:
                wanted.add(module)
                wanted.add(f"{module}.{name}")  # a name that a package above exports in turn
    return {source.module for source in code if not source.is_package and source.module not in wanted}


def imports_by_folder(code: Iterable[Source]) -> set[str]:
    """Files that import one of the folders by its bare name: a second copy of it, or somebody else's package."""
    return {each.path for each in code for module, _ in each.imports if module.partition(".")[0] in PACKAGES}


def exports_for_tests_only(code: Iterable[Source], users: Iterable[Source]) -> set[str]:
    """Names that a package offers and that no other package, script, facade or example imports."""
    users = list(users)
    wanted = {f"{module}.{name}" for user in users for module, name in user.imports if not inside(user.package, module)}
    wanted |= names_by_alias(users)
    return {
        f"{source.module}.{name}"
        for source in code
        if source.is_package
        for name in source.exported
        if name not in OF_EVERY_ENGINE and f"{source.module}.{name}" not in wanted
    }


def names_by_alias(users: Iterable[Source]) -> set[str]:
    """Names of modules that a lazy table imports under an alias: `running.simulate` is scenarios.run.simulate."""
    users = list(users)
    aliases = {
        alias.asname: alias.name
        for user in users
        if user.path in LAZY_TABLES
        for node in ast.walk(user.tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname
    }
    return {
        f"{aliases[node.value.id]}.{node.attr}"
        for user in users
        for node in ast.walk(user.tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases
    }


def exports_with_two_meanings(code: Iterable[Source]) -> set[str]:
    """Names that packages offer for different things, but what every engine offers; a door may pass on another's."""
    origins: dict[str, set[str]] = {}
    doors = {source.module: source for source in code if source.is_package}
    for door in doors.values():
        for module, name in door.imports:
            if module not in doors:
                origins.setdefault(name, set()).add(module)
    return {name for name, modules in origins.items() if len(modules) > 1} - OF_EVERY_ENGINE


def modules_without_a_test(code: Iterable[Source], tests: Iterable[Source]) -> set[str]:
    """Modules without a test file of their name below their part of tests/, whose package has no folder of tests."""
    paths = {test.path for test in tests if "/test_" in test.path}
    folders = {path.rpartition("/")[0] for path in paths}
    names = {(path.split("/")[1], path.rpartition("/test_")[2].removesuffix(".py")) for path in paths}
    return {
        source.module
        for source in code
        if not source.is_package
        and f"tests/{source.folder}" not in folders
        and (source.path.split("/")[0], source.module.rpartition(".")[2]) not in names
    }


def folders_of_no_package(code: Iterable[Source], tests: Iterable[Source]) -> set[str]:
    packages = {source.folder for source in code}
    folders = {test.path.rpartition("/")[0].removeprefix("tests/") for test in tests if "/test_" in test.path}
    return {folder for folder in folders if folder.split("/")[0] in PACKAGES and folder not in packages}


def files_laid_out_by_hand(code: Iterable[Source]) -> set[str]:
    """Files with statements that the formatter must leave alone, if there are more than a few tables of data."""
    counts = {source.path: source.text.count("fmt: " + "skip") for source in code}
    return {path for path, count in counts.items() if count} if sum(counts.values()) > MOST_FORMAT_SKIPS else set()


def modules_named_like_an_export(code: Iterable[Source]) -> set[str]:
    """Modules that hide what their package exports under the same name, or are hidden by it."""
    modules = {source.module for source in code}
    return {
        f"{source.module}.{name}"
        for source in code
        if source.is_package
        for name in source.exported
        if f"{source.module}.{name}" in modules
    }


USERS = (*PACKAGES, "docs", "benchmarks")
RULES: dict[str, Callable[[], set[str]]] = {
    "names that say nothing": lambda: names_that_say_nothing(sources(*PACKAGES)),
    "classes with two meanings": lambda: classes_with_two_meanings(sources(*PACKAGES)),
    "files with lazy imports": lambda: files_with_lazy_imports(sources(*PACKAGES)),
    "modules entered from outside": lambda: modules_entered_from_outside(sources(*PACKAGES), sources(*USERS)),
    "modules for tests only": lambda: modules_for_tests_only(sources(*PACKAGES), sources(*USERS, "src")),
    "exports for tests only": lambda: exports_for_tests_only(
        sources(*PACKAGES), [*sources(*USERS, "src"), *examples()]
    ),
    "imports by the name of a folder": lambda: imports_by_folder(
        [*sources(*USERS, "src", "tests", ".ci"), *examples()]
    ),
    "exports with two meanings": lambda: exports_with_two_meanings(sources(*PACKAGES)),
    "modules without a test": lambda: modules_without_a_test(sources(*PACKAGES), sources("tests")),
    "folders of tests of no package": lambda: folders_of_no_package(sources(*PACKAGES), sources("tests")),
    "files laid out by hand": lambda: files_laid_out_by_hand(sources(*PACKAGES)),
    "modules named like an export": lambda: modules_named_like_an_export(sources(*PACKAGES)),
}


@pytest.mark.parametrize("rule", RULES)
def test_the_code_keeps_the_rule(rule: str) -> None:
    found = RULES[rule]()
    assert not found, f"{rule}:\n" + "\n".join(sorted(found))


FACADE = Source("models/wiring/__init__.py", "from oltpsim.models.wiring.system import build, spare")
SYSTEM = Source("models/wiring/system.py", "def build(): ...\ndef spare(): ...")
USER = Source("scenarios/run/runs.py", "from oltpsim.models.wiring import build")
INTRUDER = Source("scenarios/run/runs.py", "from oltpsim.models.wiring.system import build")


@pytest.mark.parametrize("name", ["of", "_kept", "taken_again", "KeptOf"])
@pytest.mark.parametrize(
    "kind", ["def {}(): ...", "class {}: ...", "class Part:\n    def {}(self): ...", "{}, B = 1, 2"]
)
def test_a_name_that_says_nothing_is_found(name: str, kind: str) -> None:
    source = Source("models/wiring/paths.py", kind.format(name))
    assert names_that_say_nothing([source]) == {f"models/wiring/paths.py: {name}"}


def test_a_module_whose_name_says_nothing_is_found() -> None:
    assert names_that_say_nothing([Source("models/wiring/found.py", "")]) == {"models/wiring/found.py: found"}


@pytest.mark.parametrize("name", ["rest_of_path", "_kept_runs", "room_temperature", "shown_rows"])
def test_a_name_with_one_noun_is_not(name: str) -> None:
    assert not names_that_say_nothing([Source("models/wiring/paths.py", f"def {name}(): ...")])


def test_a_class_name_with_two_meanings_is_found() -> None:
    code = [Source(f"models/wiring/{part}.py", "class Disk: ...") for part in ("disks", "prices")]
    assert classes_with_two_meanings(code) == {"Disk"}
    assert not classes_with_two_meanings(code[:1])
    alias = Source("models/wiring/parts.py", "Disk = str | None\nROWS = 1\nPart = TypeVar('Part')")
    assert classes_with_two_meanings([*code[:1], alias]) == {"Disk"}
    assert not classes_with_two_meanings([alias, Source("models/wiring/rows.py", "ROWS = 2\nPart = TypeVar('Part')")])


@pytest.mark.parametrize(
    "line", ["import simpy", "from oltpsim.models.wiring import build", "x = importlib.import_module('simpy')"]
)
def test_a_lazy_import_is_found(line: str) -> None:
    source = Source("models/wiring/paths.py", f"def paths():\n    {line}")
    assert files_with_lazy_imports([source]) == {"models/wiring/paths.py"}
    assert not files_with_lazy_imports([Source(LAZY_TABLES[0], source.text)])
    assert not files_with_lazy_imports([Source("models/wiring/paths.py", "def paths():\n    import pyarrow.parquet")])


def test_an_import_at_the_top_is_not_lazy() -> None:
    assert not files_with_lazy_imports([Source("models/wiring/paths.py", "import simpy\ndef paths(): ...")])


def test_a_package_is_entered_by_its_door() -> None:
    code = [FACADE, SYSTEM]
    assert modules_entered_from_outside(code, [INTRUDER]) == {"oltpsim.models.wiring.system"}
    assert modules_entered_from_outside(code, [Source("docs/build.py", "from oltpsim.models.wiring import system")])
    assert modules_entered_from_outside(code, [Source("docs/build.py", "from oltpsim.models.wiring import x")]) == {
        "oltpsim.models.wiring.x"
    }
    assert not modules_entered_from_outside(code, [USER])
    shown = Source("scenarios/show/plan.py", "def plan_table(): ...")
    assert not modules_entered_from_outside(
        [shown], [Source("scenarios/commands/plan.py", "from oltpsim.scenarios.show.plan import plan_table")]
    )
    assert not modules_entered_from_outside(code, [Source("models/wiring/paths.py", INTRUDER.text)])


def test_what_only_tests_import_is_found() -> None:
    assert modules_for_tests_only([FACADE, SYSTEM], [FACADE]) == {"oltpsim.models.wiring.system"}
    assert not modules_for_tests_only([FACADE, SYSTEM], [FACADE, USER])
    table = Source(LAZY_TABLES[0], 'COMMANDS = {"sweep": "sweep:register"}')
    assert not modules_for_tests_only([table, Source("scenarios/commands/sweep.py", "")], [table])
    assert exports_for_tests_only([FACADE, SYSTEM], [FACADE, USER]) == {"oltpsim.models.wiring.spare"}
    aliases = Source(LAZY_TABLES[1], "import oltpsim.models.wiring as wiring")
    assert not exports_for_tests_only(
        [FACADE, SYSTEM], [aliases, USER, Source("scenarios/python/interface.py", "wiring.spare()")]
    )
    assert exports_for_tests_only([FACADE, SYSTEM], [USER, Source("scenarios/python/interface.py", "wiring.spare()")])


def test_an_import_by_the_name_of_a_folder_is_found() -> None:
    wrong, right = (
        Source("docs/build.py", f"from {name}.run import simulate") for name in ("scenarios", "oltpsim.run")
    )
    assert imports_by_folder([wrong, right]) == {"docs/build.py"}


def test_a_name_that_two_doors_offer_for_different_things_is_found() -> None:
    other = Source("models/reading/__init__.py", "from oltpsim.models.reading.pieces import build")
    passed_on = Source("models/reading/__init__.py", "from oltpsim.models.wiring import build")
    assert exports_with_two_meanings([FACADE, SYSTEM, other]) == {"build"}
    assert not exports_with_two_meanings([FACADE, SYSTEM, passed_on])


def test_a_module_without_a_test_is_found() -> None:
    elsewhere, by_name, by_folder = (
        Source(f"tests/models/{name}.py", "") for name in ("test_disk", "test_system", "wiring/test_wiring")
    )
    assert modules_without_a_test([SYSTEM], [elsewhere]) == {"oltpsim.models.wiring.system"}
    assert not modules_without_a_test([SYSTEM], [by_name])
    assert not modules_without_a_test([SYSTEM], [by_folder])
    assert folders_of_no_package([SYSTEM], [by_folder]) == set()
    assert folders_of_no_package([SYSTEM], [Source("tests/models/wires/test_wiring.py", "")]) == {"models/wires"}


def test_a_module_named_like_an_export_is_found() -> None:
    code = [FACADE, Source("models/wiring/build.py", "")]
    assert modules_named_like_an_export(code) == {"oltpsim.models.wiring.build"}
    assert not modules_named_like_an_export([FACADE, SYSTEM])


def test_statements_laid_out_by_hand_are_counted() -> None:
    tables = [Source(f"models/wiring/table{n}.py", "ROWS = 1  # fmt: " + "skip") for n in range(MOST_FORMAT_SKIPS + 1)]
    assert len(files_laid_out_by_hand(tables)) == MOST_FORMAT_SKIPS + 1
    assert not files_laid_out_by_hand(tables[1:])
