"""Tables of programs and options that destroy, that run other programs, and that use the network."""

import re
from collections.abc import Mapping

# Programs that destroy, change the machine, or act with other rights or on other machines.
DESTRUCTIVE = frozenset((
    "rm", "rmdir", "unlink", "shred", "dd", "fdisk", "sfdisk", "gdisk", "parted", "wipefs", "truncate", "blkdiscard",
    "sudo", "su", "doas", "pkexec", "runuser", "setpriv", "kill", "pkill", "killall", "shutdown", "reboot", "halt",
    "poweroff", "init", "telinit", "chown", "chgrp", "chattr", "setfacl", "setcap", "crontab", "at", "batch",
    "iptables",
    "ip6tables", "nft", "ufw", "mount", "umount", "losetup", "cryptsetup", "lvremove", "systemctl", "service",
    "launchctl", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat", "socat", "telnet", "userdel", "useradd",
    "usermod", "groupdel", "passwd", "chpasswd", "visudo", "swapoff", "insmod", "rmmod", "modprobe", "sysctl", "dropdb",
    "docker", "podman", "nerdctl", "kubectl", "helm", "terraform", "ansible", "ansible-playbook", "vagrant", "aws",
    "gcloud", "az", "gdb", "nsenter", "chroot", "mkfs", "mke2fs", "defaults", "diskutil", "osascript", "systemd-run",
    "dbus-send", "gsettings", "xdg-open", "open", "debugfs", "fallocate", "logrotate", "srm", "wipe", "git-filter-repo",
))  # fmt: skip
# Builtins that run a text as a command, now or later, or that change what a name means.
EVALUATES = frozenset((
    "eval", "source", ".", "trap", "alias", "bind", "complete", "compgen", "enable", "hash", "mapfile", "readarray",
    "let",
    "fc",
))  # fmt: skip
# Programs that run the command in their words.
STARTERS = frozenset((
    "xargs", "parallel", "watch", "entr", "busybox", "toybox", "env", "nice", "ionice", "chrt", "taskset", "nohup",
    "timeout", "stdbuf", "setsid", "time", "command", "builtin", "exec", "coproc", "strace", "ltrace", "perf",
    "unshare",
    "flock", "script", "expect", "unbuffer", "caffeinate", "setarch", "linux32", "linux64", "prlimit", "cgexec",
    "firejail",
    "bwrap", "proot", "fakeroot", "dotenv", "direnv", "poetry", "pipenv", "uv", "uvx", "npx", "bunx", "pnpx",
    "nix-shell",
    "hyperfine", "chpst", "start-stop-daemon", "daemonize", "tmux", "screen", "catchsegv", "valgrind", "fd",
    "fdfind", "sem",
    "sudo", "su", "doas", "pkexec", "runuser", "setpriv", "chroot", "nsenter", "systemd-run", "ssh", "docker", "podman",
    "kubectl", "gdb", "at", "batch", "rlwrap",
    "winpty", "arch", "xvfb-run", "dbus-run-session", "ssh-agent", "run-parts", "jobs",
))  # fmt: skip
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh", "pwsh"})
# Interpreters, with the letters of the options that are followed by code.
INTERPRETERS: Mapping[str, str] = {
    "python": "c", "python2": "c", "python3": "c", "pypy": "c", "pypy3": "c", "perl": "eEip", "ruby": "eip",
    "node": "ep",
    "nodejs": "ep", "bun": "ep", "php": "rBRE", "lua": "e", "luajit": "e", "Rscript": "e", "R": "e", "tclsh": "",
    "deno": "",
    "irb": "e", "ghci": "e", "julia": "eE", "elixir": "e", "scala": "e", "osascript": "e", "sqlite3": "", "guile": "c",
}  # fmt: skip
CODE_OPTIONS = ("--eval", "--print", "--exec", "--execute", "--command", "--run", "--in-place")
# Editors that run commands of their own from the command line, in which anything can be written.
EDITORS = frozenset(
    {"vi", "vim", "nvim", "ex", "ed", "red", "view", "emacs", "emacsclient", "nano", "joe", "pico", "kak"}
)

# Long options that destroy or run a program, by program; their abbreviations count too.
LONG_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "tar": (
        "--checkpoint-action", "--to-command", "--use-compress-program", "--rsh-command", "--rmt-command",
        "--info-script", "--new-volume-script", "--remove-files", "--delete", "--recursive-unlink", "--unlink-first",
        "--overwrite",
    ),
    "make": ("--eval",), "gmake": ("--eval",), "sort": ("--compress-program",), "rg": ("--pre", "--hostname-bin"),
    "git": ("--upload-pack", "--receive-pack", "--open-files-in-pager", "--extcmd", "--config-env", "--exec-path"),
    "zip": ("--unzip-command", "--move"), "split": ("--filter",), "man": ("--pager", "--html"),
    "cpio": ("--rsh-command",), "wget": ("--use-askpass", "--config", "--execute"), "curl": ("--config",),
    "ctags": ("--options",), "cp": ("--remove-destination",), "ag": ("--pager",), "bat": ("--pager",),
    "awk": ("--exec", "--file", "--include", "--load"), "gawk": ("--exec", "--file", "--include", "--load"),
    "sed": ("--file",), "ln": ("--force",), "chmod": ("--recursive",),
}  # fmt: skip
# Short options, by their letters; tar may have them without a dash.
SHORT_OPTIONS: Mapping[str, str] = {
    "tar": "IFU", "zip": "Tm", "man": "PH", "ln": "f", "chmod": "R", "make": "E", "awk": "lif", "gawk": "lif",
    "sed": "f",
}  # fmt: skip
# Programs that replace what a path names; outside the workspace that destroys.
REPLACES = frozenset({"chmod", "cp", "mv", "ln", "install", "tee", "touch", "mkdir", "mkfifo", "mknod", "sed", "patch"})

# Subcommands of git with the options that destroy; "" means always. Abbreviations count too.
GIT_DESTRUCTIVE: Mapping[str, tuple[str, ...]] = {
    "push": ("--force", "-f", "--force-with-lease", "--force-if-includes", "--delete", "-d", "--mirror", "--prune",
             "--exec"),
    "reset": ("--hard", "--merge", "--keep"),
    "clean": ("",), "restore": ("",), "rm": ("",), "filter-branch": ("",), "filter-repo": ("",), "prune": ("",),
    "update-ref": ("",), "checkout-index": ("",), "read-tree": ("",), "replace": ("",), "difftool": ("",),
    "mergetool": ("",), "daemon": ("",), "instaweb": ("",), "fast-import": ("",), "send-email": ("",),
    "web--browse": ("",),
    "upload-pack": ("",), "receive-pack": ("",), "credential": ("",),
    "switch": ("-f", "--force", "--discard-changes", "-C", "--force-create"),
    "branch": ("-D", "-d", "--delete", "-f", "--force", "-M", "-C"),
    "stash": ("drop", "clear"), "tag": ("-d", "--delete", "-f", "--force"), "reflog": ("expire", "delete"),
    "gc": ("--prune",), "worktree": ("remove", "prune", "-f", "--force"), "submodule": ("deinit", "foreach", "-f",
    "--force"),
    "rebase": ("--exec", "-x"), "bisect": ("run",), "remote": ("remove", "rm", "prune"), "notes": ("remove", "prune"),
    "grep": ("-O", "--open-files-in-pager"), "archive": ("--exec", "--remote"), "clone": ("-c", "--config", "-u",
    "--template"),
    "fetch": ("--prune", "-p", "--force", "-f"), "pull": ("--force", "-f"), "ls-remote": ("--exec",),
    "init": ("--template",),
    "lfs": ("prune",),
}  # fmt: skip
# Of checkout, a word may be a file whose changes are discarded, unless a branch is made.
GIT_NEW_BRANCH = frozenset({"-b", "--orphan", "--detach"})
# Subcommands that change the settings of the repository, which name programs.
GIT_SETTINGS = frozenset({"config", "remote", "submodule", "init", "lfs", "worktree", "maintenance", "sparse-checkout"})
# Settings of git that are programs, or files with more settings.
GIT_PROGRAMS = re.compile(
    r"alias\.|core\.(pager|editor|fsmonitor|hookspath|sshcommand|askpass|gitproxy|alternaterefscommand|worktree)|pager\."
    r"|filter\.|diff\..*(external|command|textconv)|merge\..*driver|gpg\.|credential\.|sequence\.|interactive\."
    r"|include|difftool\.|mergetool\.|uploadpack\.|url\.|protocol\.|remote\..*(vcs|pack)|submodule\..*update|trailer\.",
    re.IGNORECASE,
)
# Options before the subcommand; all others may name a program.
GIT_GLOBALS = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--version", "--bare"})
# Variables that decide which programs run and what they do.
VARIABLES = frozenset((
    "PATH", "BASH_ENV", "ENV", "IFS", "HOME", "SHELL", "SHELLOPTS", "BASHOPTS", "PS0", "PS1", "PS4",
    "PROMPT_COMMAND", "CDPATH",
    "EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE", "LESS", "RUBYOPT", "RUBYLIB",
    "NODE_OPTIONS",
    "NODE_PATH", "MAKEFLAGS", "GNUMAKEFLAGS", "MAKEFILES", "TAR_OPTIONS", "RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS",
    "XDG_CONFIG_HOME", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CC", "CXX", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH",
    "AWKPATH",
    "AWKLIBPATH", "EXINIT", "VIMINIT", "CURL_HOME", "WGETRC", "RUSTC_WRAPPER", "RUSTFLAGS", "GOFLAGS", "FPATH",
    "ZDOTDIR",
    "HISTFILE", "TMPDIR", "OLDPWD", "PWD", "command_not_found_handle",
))  # fmt: skip
VARIABLE_PREFIXES = (
    "LD_",
    "DYLD_",
    "GIT_",
    "PYTHON",
    "PERL",
    "BASH_",
    "npm_config_",
    "NPM_CONFIG_",
    "PIP_",
    "UV_",
    "CARGO_",
)

NETWORK = frozenset((
    "curl", "wget", "fetch", "aria2c", "http", "https", "xh", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "netcat",
    "socat",
    "telnet", "ftp", "ping", "dig", "nslookup", "host", "whois", "traceroute", "mtr", "lynx", "w3m", "links", "apt",
    "apt-get",
    "yum", "dnf", "apk", "pacman", "zypper", "brew", "port", "snap", "flatpak", "gh", "glab", "hub", "aws", "gcloud",
    "az",
    "kubectl", "helm", "terraform", "docker", "podman", "npx", "bunx", "pnpx", "uvx", "pipx", "corepack", "nmap",
    "openssl",
    "psql", "mysql", "redis-cli", "mongosh", "heroku", "fly", "vercel", "netlify", "wrangler", "twine", "mail",
    "sendmail",
))  # fmt: skip
# Subcommands that use the network.
NETWORK_SUBCOMMANDS: Mapping[str, frozenset[str]] = {
    "git": frozenset({"push", "fetch", "pull", "clone", "ls-remote", "submodule", "lfs", "send-email", "archive",
    "svn", "p4"}),
    "pip": frozenset({"install", "download", "index", "search", "wheel"}),
    "npm": frozenset({"install", "i", "ci", "add", "update", "exec", "x", "publish", "view", "info", "search",
    "audit", "outdated",
                      "create", "init", "login"}),
    "yarn": frozenset({"install", "add", "up", "upgrade", "dlx", "create", "publish", "info", "audit"}),
    "pnpm": frozenset({"install", "i", "add", "update", "dlx", "create", "publish", "audit", "outdated"}),
    "bun": frozenset({"install", "i", "add", "update", "x", "create", "publish"}),
    "deno": frozenset({"install", "add", "cache", "publish", "upgrade"}),
    "cargo": frozenset({"install", "fetch", "update", "add", "search", "publish", "login", "generate-lockfile"}),
    "go": frozenset({"get", "install", "mod"}),
    "gem": frozenset({"install", "update", "fetch", "push", "search"}),
    "bundle": frozenset({"install", "update", "add"}),
    "composer": frozenset({"install", "update", "require", "create-project"}),
    "uv": frozenset({"pip", "sync", "add", "lock", "run", "tool", "python", "publish", "build"}),
    "poetry": frozenset({"install", "add", "update", "lock", "publish"}),
    "pipenv": frozenset({"install", "update", "lock", "sync"}),
    "conda": frozenset({"install", "create", "update", "search"}),
    "mvn": frozenset({"install", "deploy", "package", "compile", "test", "verify"}),
    "rustup": frozenset({"install", "update", "toolchain", "default", "target", "component"}),
}  # fmt: skip


def decides_programs(variable: str) -> bool:
    """Return whether a variable decides which programs run, or what they do."""
    return variable in VARIABLES or variable.startswith(VARIABLE_PREFIXES)
