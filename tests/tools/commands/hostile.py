"""A hostile workspace, and a sandbox in which lines run in it under real bash."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

RUNNER = Path(__file__).with_name("runner.py")
EVIL = '#!/bin/sh\ntouch pwned "$TMPDIR/pwned"\nrm -f notes.txt\necho x > "$HOME/pwned"\n'
# Programs that the repository names for git. What runs commands overrides them by variables; so does the environment.
SETTINGS = {
    "core.fsmonitor": "./evil.sh", "core.pager": "./evil.sh", "core.editor": "./evil.sh", "core.hooksPath": "hooks",
    "core.sshCommand": "./evil.sh", "core.askPass": "./evil.sh", "diff.external": "./evil.sh",
    "diff.evil.textconv": "./evil.sh", "diff.evil.command": "./evil.sh", "filter.evil.clean": "./evil.sh",
    "filter.evil.smudge": "./evil.sh", "gpg.program": "./evil.sh", "log.showSignature": "true",
    "alias.st": "!./evil.sh", "alias.status": "!./evil.sh", "pager.log": "./evil.sh", "pager.diff": "./evil.sh",
    "sequence.editor": "./evil.sh", "interactive.diffFilter": "./evil.sh", "credential.helper": "!./evil.sh",
    "pretty.evil": "format:%G?", "core.alternateRefsCommand": "./evil.sh",
}  # fmt: skip
OVERRIDES = {
    **dict.fromkeys(SETTINGS, ""), "core.fsmonitor": "false", "core.pager": "cat", "core.hooksPath": "/dev/null",
    "gpg.program": "true", "log.showSignature": "false", "diff.evil.textconv": "cat", "diff.evil.command": "true",
    "diff.external": "true", "pager.log": "false", "pager.diff": "false", "pretty.evil": "format:%h",
    "core.editor": "true", "safe.bareRepository": "explicit", "diff.autoRefreshIndex": "false",
}  # fmt: skip
# Names that a program takes for options, and a shell for commands.
NAMES = (
    "-delete", "-exec", "-o", "-oevil", "-rf", "-v", "-i", "-w", "--output=pwned", "--compress-program=evil.sh",
    "--pre=evil.sh", "--ext-diff", "--open-files-in-pager=evil.sh", "--files0-from=names.txt", "-fprint", "-C",
    "a[$(touch pwned)]", "$(touch pwned)", "; touch pwned", "`touch pwned`", "x y.txt", "payload", "ls", "cat", "git",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LineResult:
    """Result of a line: its exit status or "timeout", and what it has changed."""

    line: str
    end: str
    changes: tuple[str, ...]


def missing_sandbox() -> str:
    """Return why lines cannot be run in a sandbox, or an empty text."""
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return "bubblewrap is not installed"
    trial = subprocess.run([bwrap, "--ro-bind", "/", "/", "--unshare-all", "true"], capture_output=True, text=True)
    return trial.stderr.strip() if trial.returncode else ""


def make_workspace(folder: Path) -> None:
    """Fill a folder with a repository whose files and settings name programs that do harm."""
    for name in ("src", "tools", "hooks", "old", "new"):
        (folder / name).mkdir()
    texts = {
        "README.md": "# Read me\n\nTODO: foo bar\n", "notes.txt": "milk\nbread\nmilk\n", "data.csv": "a,b\n1,2\n3,4\n",
        "names.txt": "notes.txt\0README.md", "src/app.py": "import os\n\n\ndef main():\n    return 'foo'\n",
        "src/util.py": "class Foo:\n    bar = 1\n", "Makefile": "all:\n\ttouch pwned\n", ".gitignore": "*.log\n",
        ".gitattributes": "*.txt diff=evil filter=evil\n*.py diff=evil\n", ".envrc": "touch pwned\n", ".bashrc": EVIL,
        "package.json": '{"scripts": {"test": "touch pwned"}}\n', "build.log": "ok\n" * 50, "old/a.txt": "a\n",
        "new/a.txt": "b\n", "sed.sed": "1e touch pwned\n", "prog.awk": 'BEGIN { system("touch pwned") }\n',
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    scripts = ["evil.sh", "tools/ls", "tools/cat", "tools/git", "hooks/post-checkout", "hooks/post-index-change"]
    for name in scripts:
        (folder / name).write_text(EVIL)
        (folder / name).chmod(0o755)
    _make_repository(folder)
    for name in NAMES:
        (folder / name).write_text("payload\n")
    (folder / "link").symlink_to("src")
    shutil.copytree(folder / ".git", folder / "sub" / ".git")
    (folder / "src" / "util.py").write_text("class Foo:\n    bar = 2\n")
    for name, value in SETTINGS.items():
        for place in (folder, folder / "sub"):
            _git(place, "config", name, value)


def _make_repository(folder: Path) -> None:
    _git(folder, "init", "-q", "-b", "main")
    _git(folder, "add", "-A")
    _git(folder, "commit", "-q", "-m", "First")
    (folder / "src" / "app.py").write_text("import os\nimport sys\n\n\ndef main():\n    return 'bar'\n")
    _git(folder, "commit", "-q", "-a", "-m", "Second TODO")
    _git(folder, "tag", "v1.0")
    _git(folder, "branch", "feature/x", "HEAD~1")
    (folder / "README.md").write_text("# Read me twice\n")
    _git(folder, "stash", "-q")
    _git(folder, "remote", "add", "origin", "http://127.0.0.1:8765/x.git")


def _git(folder: Path, *words: str) -> None:
    person = ["-c", "user.name=Ann", "-c", "user.email=ann@x.example", "-c", "commit.gpgSign=false"]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *person, *words], cwd=folder, check=True, capture_output=True, env=environment)


def environment(home: Path, temporary: Path) -> dict[str, str]:
    """Return the variables of a command; git runs no program that the repository names."""
    settings = {f"GIT_CONFIG_KEY_{number}": name for number, name in enumerate(OVERRIDES)}
    settings |= {f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(OVERRIDES.values())}
    return {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb", "HOME": str(home),
        "TMPDIR": str(temporary), "GIT_CONFIG_COUNT": str(len(OVERRIDES)), "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0", **settings,
    }  # fmt: skip


@contextmanager
def sandbox(base: Path) -> Iterator["Sandbox"]:
    """Start a sandbox in which the workspace is writable, and everything else is not."""
    folder = base / "workspace"
    for path in (folder, base / "home", base / "temporary"):
        path.mkdir(parents=True)
    make_workspace(folder)
    words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(base), str(base)]
    words += ["--unshare-all", "--die-with-parent", "--chdir", str(folder), "--", "/usr/bin/env", "-i"]
    words += [f"{name}={value}" for name, value in environment(base / "home", base / "temporary").items()]
    words += [sys.executable, "-I", "-S", str(RUNNER), str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Sandbox(process)
        assert process.stdin is not None
        process.stdin.close()


class Sandbox:
    """Sandbox that runs lines one after the other."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def run(self, line: str) -> LineResult:
        """Run a line, and report what it has changed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        result = json.loads(self.process.stdout.readline())
        return LineResult(line, result["end"], tuple(result["changes"]))


def run_all(lines: Sequence[str], base: Path) -> list[LineResult]:
    """Run lines one after the other; a line that changes something gets the next a fresh workspace."""
    results: list[LineResult] = []
    while len(results) < len(lines):
        with sandbox(base / str(len(results))) as box:
            for line in lines[len(results) :]:
                results.append(box.run(line))
                if results[-1].changes:
                    break
    return results
