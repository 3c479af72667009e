"""SandboxPolicy of one command: which paths it can read, write and not see, and whether it has a network."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from antiphon.paths import FOLDERS, config_path, store_files, store_path, templates_path, undo_path, user_path
from antiphon.tools.access import Access
from antiphon.tools.sandbox.scan import SensitivePaths

# Programs and settings of the system; links such as /bin are followed.
SYSTEM = (
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix/store", "/gnu/store",
    "/run/current-system", "/snap", "/var/lib/dpkg", "/var/lib/rpm",
)  # fmt: skip
# Credentials of the system, which matter if we run as the superuser.
SYSTEM_SECRETS = (
    "/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d",
    "/etc/security/opasswd", "/etc/ssl/private", "/etc/krb5.keytab", "/etc/NetworkManager/system-connections",
    "/etc/wireguard", "/etc/openvpn", "/etc/letsencrypt", "/etc/kubernetes", "/etc/rancher", "/etc/ppp",
    "/etc/ipsec.secrets", "/etc/ssh/ssh_host_rsa_key", "/etc/ssh/ssh_host_ecdsa_key", "/etc/ssh/ssh_host_ed25519_key",
)  # fmt: skip
# Tool chains below the home folder, with the variable by which their programs find them.
TOOL_CHAINS: Mapping[str, str | None] = {
    ".cargo": "CARGO_HOME", ".rustup": "RUSTUP_HOME", ".pyenv": "PYENV_ROOT", ".rbenv": "RBENV_ROOT",
    ".asdf": "ASDF_DATA_DIR", ".nvm": "NVM_DIR", ".nodenv": "NODENV_ROOT", ".volta": "VOLTA_HOME",
    ".bun": "BUN_INSTALL", ".deno": "DENO_INSTALL", ".sdkman": "SDKMAN_DIR", ".dotnet": "DOTNET_ROOT",
    ".ghcup": None, ".opam": "OPAMROOT", ".juliaup": None, ".nix-profile": None, ".local/bin": None,
    ".local/lib": None, ".local/pipx": None, ".local/share/pipx": None, ".local/share/uv": None,
    ".local/share/mise": "MISE_DATA_DIR", ".local/share/fnm": None, ".local/share/pnpm": "PNPM_HOME", "bin": None,
    "go/bin": None, "go/pkg": None, "miniconda3": None, "anaconda3": None, "miniforge3": None,
}  # fmt: skip
# Bubblewrap takes 9,000 words, three for each mount.
MOST_PINNED = 1_000
# What of a Python's prefix its programs are made of.
OWN_FOLDERS = ("bin", "lib", "lib64", "Scripts", "pyvenv.cfg")
PACKAGE = Path(__file__).parents[2]
# What belongs to the programs of a folder `bin`.
BESIDE_BIN = ("lib", "lib64", "libexec", "share", "include", "pyvenv.cfg", "conda-meta")


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What a command can reach; all paths are absolute and without symlinks."""

    folder: str
    # Readable files and folders besides the workspace.
    readable: tuple[str, ...]
    # Paths that are not readable, although they are in the workspace or below a readable folder.
    hidden: frozenset[str]
    # Paths of a writable workspace that are not writable.
    read_only: frozenset[str]
    # Folders of a writable workspace that cannot be moved, because hidden or read-only paths are in them.
    pinned: frozenset[str]
    writes: bool
    network: bool


def make_policy(
    folder: str,
    access: Access,
    scan: SensitivePaths,
    environment: Mapping[str, str],
    *,
    readable: Sequence[str] = (),
    hidden: Sequence[str] = (),
) -> SandboxPolicy:
    """Return the policy of a command with this access."""
    root = os.path.realpath(folder)
    home = home_folder(environment)
    settings = [os.path.join(home, path[2:]) if path.startswith("~/") else path for path in (*readable, *hidden)]
    extra = settings[: len(readable)]
    hidden_paths = [*settings[len(readable) :], *SYSTEM_SECRETS, *antiphon_paths(environment), *scan.secrets]
    # A home below /opt does not become readable with it.
    system = [path for path in SYSTEM if path == "/usr" or not is_below(home, [path])]
    paths = [*system, *(os.path.join(home, name) for name in TOOL_CHAINS), *_program_folders(environment, home)]
    if access.network:
        # Often a link to a file below /run.
        paths.append("/etc/resolv.conf")
    paths += [*extra, *_git_folders(root)]
    # A link to a secret is not hidden itself, but its target is.
    all_hidden = frozenset(os.path.realpath(path) for path in hidden_paths if os.path.exists(path))
    own = frozenset(_inside(root, own_program_folders())) if access.writes else frozenset()
    protected = _protected(root, scan) if access.writes and not access.protected else frozenset()
    return SandboxPolicy(
        root,
        _outermost(path for path in map(os.path.realpath, paths) if path != "/"),
        all_hidden,
        own | protected,
        _pinned(root, all_hidden | own, protected) if access.writes else frozenset(),
        access.writes,
        access.network,
    )


def _inside(root: str, paths: Iterable[str]) -> Iterator[str]:
    return (path for path in paths if path != root and is_below(path, [root]))


def _protected(root: str, scan: SensitivePaths) -> frozenset[str]:
    """Return the protected paths of a workspace; those of symlinks with their targets."""
    targets = [os.path.realpath(path) for path in scan.protected if os.path.islink(path)]
    return frozenset(_inside(root, [*scan.protected, *targets]))


def _pinned(root: str, always: frozenset[str], protected: frozenset[str]) -> frozenset[str]:
    """Return the folders that cannot be moved; of very many, those with protected paths are left out."""
    exceptions = always | protected
    of_protected = _folders_above(root, protected, exceptions)
    pinned = _folders_above(root, always, exceptions)
    return frozenset(pinned | of_protected if len(of_protected) <= MOST_PINNED else pinned)


def _folders_above(root: str, paths: Iterable[str], exceptions: frozenset[str]) -> set[str]:
    """Return the folders between the workspace and these paths, apart from those inside another exception."""
    above: set[str] = set()
    for path in _inside(root, paths):
        folders: list[str] = []
        while (path := os.path.dirname(path)) != root:
            folders = [] if path in exceptions else [*folders, path]
        above.update(folders)
    return above


def own_program_folders() -> list[str]:
    """Return the files and folders of the programs that run Antiphon: its package, its Python and what this imports.

    A command that changed one of them would run outside the sandbox the next time that Antiphon uses it.
    """
    prefixes = {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}
    paths = [os.path.join(prefix, name) for prefix in prefixes for name in OWN_FOLDERS]
    paths += [str(PACKAGE), os.path.dirname(sys.executable), os.path.dirname(os.path.realpath(sys.executable))]
    paths += [path for path in sys.path if os.path.isabs(path)]
    return sorted({path for path in map(os.path.realpath, paths) if os.path.exists(path)})


def _outermost(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the existing paths that are not inside another one."""
    outermost: list[str] = []
    for path in sorted(set(paths)):
        # In this order a folder comes before what is in it.
        if not is_below(path, outermost) and os.path.exists(path):
            outermost.append(path)
    return tuple(outermost)


def home_folder(environment: Mapping[str, str]) -> str:
    """Return the person's home folder."""
    return os.path.realpath(environment.get("HOME") or Path.home())


def tool_chain_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables by which programs of the home find their tool chains, because a command has another home."""
    home = home_folder(environment)
    if not any(is_below(entry, [home]) for entry in environment.get("PATH", "").split(":")):
        return {}
    folders = {variable: os.path.join(home, name) for name, variable in TOOL_CHAINS.items() if variable}
    return {variable: folder for variable, folder in folders.items() if os.path.isdir(folder)}


def antiphon_paths(environment: Mapping[str, str]) -> list[str]:
    """Return the paths of our own data: keys, settings, stores, copies."""
    folders = [str(user_path(purpose, "", environment=environment)) for purpose in FOLDERS]
    named = [config_path(environment), templates_path(environment), undo_path(environment)]
    return [*folders, *map(str, named), *store_files(store_path(environment))]


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Whether a path is one of these or inside one."""
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def _program_folders(environment: Mapping[str, str], home: str) -> list[str]:
    """Return the folders of programs that are not part of the system, and what is installed beside them."""
    prefixes = {sys.prefix, sys.base_prefix}
    programs = [os.path.join(prefix, "bin") for prefix in prefixes]
    programs += [entry for entry in environment.get("PATH", "").split(":") if os.path.isabs(entry)]
    folders = []
    for program_folder in map(os.path.realpath, programs):
        # A home folder, or one above it, is not a folder of programs.
        if is_below(home, [program_folder]):
            continue
        folders.append(program_folder)
        prefix, name = os.path.split(program_folder)
        if name in ("bin", "sbin", "Scripts", "condabin") and prefix != home:
            folders += [os.path.join(prefix, beside) for beside in BESIDE_BIN]
    return folders


def _git_folders(root: str) -> list[str]:
    """Return the repository of a worktree, if it names the worktree as its own; a file alone is not believed."""
    with suppress(OSError, UnicodeDecodeError, ValueError):
        link = os.path.join(root, ".git")
        if os.path.isfile(link):
            git_folder = os.path.join(root, _first_line(link).removeprefix("gitdir: "))
            if os.path.realpath(_first_line(os.path.join(git_folder, "gitdir"))) == os.path.realpath(link):
                return [os.path.join(git_folder, _first_line(os.path.join(git_folder, "commondir")))]
    return []


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline(4_096).rstrip("\n")
