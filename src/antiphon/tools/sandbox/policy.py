"""SandboxPolicy of one command: which paths it can read, write and not see, and whether it has a network."""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from antiphon.paths import FOLDERS, store_path, undo_path, user_path
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
    own = [os.path.join(home, path[2:]) if path.startswith("~/") else path for path in (*readable, *hidden)]
    extra = own[: len(readable)]
    hidden_paths = [*own[len(readable) :], *SYSTEM_SECRETS, *antiphon_paths(environment), *scan.secrets]
    # A home below /opt does not become readable with it.
    system = [path for path in SYSTEM if path == "/usr" or not is_below(home, [path])]
    paths = [*system, *(os.path.join(home, name) for name in TOOL_CHAINS), *_program_folders(environment, home)]
    if access.network:
        # Often a link to a file below /run.
        paths.append("/etc/resolv.conf")
    paths += [*extra, *_git_folders(root)]
    return SandboxPolicy(
        root,
        _outermost(path for path in map(os.path.realpath, paths) if path != "/"),
        # A link to a secret is not hidden itself, but its target is.
        frozenset(os.path.realpath(path) for path in hidden_paths if os.path.exists(path)),
        frozenset(scan.protected) if access.writes and not access.protected else frozenset(),
        access.writes,
        access.network,
    )


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
    store = os.path.realpath(store_path(environment))
    folders = [str(user_path(purpose, "", environment=environment)) for purpose in FOLDERS]
    return [*folders, str(undo_path(environment)), store, f"{store}-wal", f"{store}-shm", f"{store}.lock"]


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
