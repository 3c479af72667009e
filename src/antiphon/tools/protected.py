"""Protected paths of a workspace: files that decide what runs later, so changing one is a permission of its own.

1. A path is protected if one of its names is, at any depth, in upper or lower case.
   So are folders of start-up programs, by two names: `.config/autostart`.
2. What a name stands for is not checked: a folder named `Makefile` is protected as well.
3. `package.json` and other manifests that name dependencies are not: a model changes them in ordinary work, and their
   scripts run only by a command, which is sandboxed or asked about. Neither is `conftest.py`, which is test code.
"""

import os
from fnmatch import fnmatchcase
from itertools import pairwise

VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj", ".bzr"})
NAMES = frozenset((
    *VERSION_CONTROL, ".gitmodules", ".gitattributes", ".gitconfig", ".hgrc",
    # Antiphon, other agents and their servers
    ".antiphon", ".mcp.json", "mcp.json", "mcp.toml", ".mcp.toml", "agents.md", "claude.md", "gemini.md", ".claude",
    ".codex", ".cursor", ".cursorrules", ".aider.conf.yml", ".windsurfrules", ".clinerules", ".continue",
    ".windsurf", ".roo", ".kiro", "qwen.md",
    # continuous integration and hooks
    ".github", ".gitlab", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".circleci", ".travis.yml", ".drone.yml", ".woodpecker",
    ".woodpecker.yml", ".buildkite", ".teamcity", ".ci", ".forgejo", ".gitea", "jenkinsfile", "azure-pipelines.yml",
    "bitbucket-pipelines.yml", "appveyor.yml", ".appveyor.yml", "cloudbuild.yaml", ".husky", ".githooks",
    ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", ".lefthook.yml", "lefthook.toml",
    "azure-pipelines.yaml", ".cirrus.yml", "buildspec.yml", "buildspec.yaml", "lefthook-local.yml",
    ".lefthook-local.yml",
    # programs that run the commands of a file
    "makefile", "gnumakefile", "bsdmakefile", "makefile.am", "makefile.in", "justfile", ".justfile", "rakefile",
    "taskfile.yml", "taskfile.yaml", "taskfile.dist.yml", "noxfile.py", "sitecustomize.py",
    "usercustomize.py", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnp.cjs", ".pnp.loader.mjs", ".yarn",
    ".cargo", "flake.nix", ".gdbinit", ".lldbinit",
    # editors
    ".vscode", ".idea", ".zed", ".fleet", ".devcontainer", ".devcontainer.json", ".editorconfig", ".vimrc", ".exrc",
    ".nvimrc", ".nvim.lua", ".dir-locals.el", ".emacs", ".sublime-project",
    # shells
    ".envrc", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
    ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".inputrc",
    ".tmux.conf", ".screenrc", ".ssh", ".netrc", ".tool-versions", ".mise.toml", "mise.toml",
    ".mise.local.toml", "mise.local.toml",
    # start of a session
    ".xinitrc", ".xprofile", ".xsession", ".xsessionrc", ".pam_environment", "launchagents", "launchdaemons",
))  # fmt: skip
PATTERNS = (".env*", "*.mk", "makefile.*", "*.just", "*.pth", "*.code-workspace", "*.sublime-project", "config.fish")
# Folders below these start programs when a person logs in; their last names alone are too common to be protected.
START_UP = frozenset((
    (".config", "autostart"), (".config", "systemd"), (".config", "environment.d"), (".config", "plasma-workspace"),
    (".config", "fish"), (".config", "i3"), (".config", "sway"), (".config", "hypr"), (".config", "openbox"),
    (".config", "git"), ("share", "systemd"), ("share", "dbus-1"), ("spool", "cron"),
))  # fmt: skip
START_UP_NAMES = frozenset(last for _, last in START_UP)


def is_protected(path: str | os.PathLike[str]) -> bool:
    """Return whether a path relative to the workspace is protected; `..` is walked as text, and upper case ignored."""
    names = _names(os.fspath(path))
    pairs = pairwise(name.casefold() for name in names)
    return any(map(_is_protected_name, names)) or any(pair in START_UP for pair in pairs)


def _names(path: str) -> list[str]:
    names: list[str] = []
    for name in path.replace("\\", "/").split("/"):
        if name == "..":
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return names


def _is_protected_name(name: str) -> bool:
    # Some file systems ignore trailing dots and spaces, and characters that are not shown.
    folded = "".join(character for character in name if character.isprintable()).rstrip(". ").casefold()
    return folded in NAMES or any(fnmatchcase(folded, pattern) for pattern in PATTERNS)
