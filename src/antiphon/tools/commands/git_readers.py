"""Subcommands of git that only read, with the options that may be used; see `readers.py` for the notation."""

from collections.abc import Mapping

from antiphon.tools.commands.readers import ReadOnlyUse

COMMITS = (
    "-n: -i --max-count: --skip: --since= --after= --until= --before= --author= --committer= --grep= --all-match "
    "--invert-grep --merges --no-merges --first-parent --all --branches? --tags? --remotes? --reverse --topo-order "
    "--date-order --author-date-order --cherry-pick --cherry-mark --left-right --left-only --right-only --boundary "
    "--ancestry-path --full-history --no-walk --extended-regexp --fixed-strings --regexp-ignore-case "
)
PATCHES = (
    "-puwbaRzEFcm -U: -M? -C? -B? -D -S= -G= --patch --no-patch -s --raw --stat? --numstat --shortstat --dirstat? "
    "--summary --compact-summary --name-only --name-status --unified: --patch-with-stat --minimal "
    "--patience --histogram "
    "--diff-algorithm: --word-diff? --color-words --color? --no-color --color-moved? --find-renames? --find-copies? "
    "--no-renames --diff-filter: --check --full-index --binary --abbrev? --no-abbrev --ignore-all-space "
    "--ignore-space-change --ignore-space-at-eol --ignore-blank-lines --ignore-cr-at-eol --function-context -W --text "
    "--no-ext-diff --no-textconv --ignore-submodules? --submodule? --no-prefix --pickaxe-all --pickaxe-regex --cc "
    "--inter-hunk-context: --exit-code --quiet --relative --no-relative --no-indent-heuristic --indent-heuristic "
)
FORMATS = (
    "--oneline --pretty% --format% --abbrev-commit --no-abbrev-commit --date= --relative-date --decorate? "
    "--no-decorate --graph --parents --children --source --encoding: --notes? --no-notes --follow --log-size "
)
LISTS = "-i --contains: --no-contains: --merged: --no-merged: --points-at: --sort= --ignore-case --color? --no-color "
LOG = ReadOnlyUse(f"{COMMITS}{PATCHES}{FORMATS}-L:", numbers=True)
GIT_READERS: Mapping[str, ReadOnlyUse] = {
    "status": ReadOnlyUse(
        "-sbvz -u? --short --branch --show-stash --porcelain? --long --verbose --untracked-files? --ignored? "
        "--ignore-submodules? --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?"
    ),
    "log": LOG,
    "show": LOG,
    "diff": ReadOnlyUse(f"{PATCHES}--cached --staged --merge-base --base --ours --theirs"),
    "diff-tree": ReadOnlyUse(f"{PATCHES}-rt --root --no-commit-id --pretty% --format%"),
    "blame": ReadOnlyUse(
        "-befnslwtcp -L: -M? -C? --show-stats --show-name --show-number --show-email --porcelain --line-porcelain "
        "--date= --root --abbrev: --color-lines --color-by-age"
    ),
    "shortlog": ReadOnlyUse(f"{COMMITS}-nse -w? --numbered --summary --email --group= --format%"),
    "rev-list": ReadOnlyUse(
        f"{COMMITS}--count --objects --parents --children --timestamp --oneline --pretty% --format% "
                       "--abbrev-commit --left-right --disk-usage --no-commit-header", numbers=True),
    "grep": ReadOnlyUse(
        "-ahiIvwlLzcnoEGFPpWqrH0 -A: -B: -C: -e= -f: -m: --cached --untracked --no-exclude-standard --exclude-standard "
        "--text --ignore-case --max-depth: --recursive --no-recursive --word-regexp --invert-match "
        "--full-name --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column "
        "--files-with-matches --name-only --files-without-match --null --only-matching --count --color? --no-color "
        "--break --heading --show-function --function-context --context: --after-context: --before-context: --and --or "
        "--not --all-match --quiet --no-textconv --max-count:",
        texts=1, text_option="-e -f", numbers=True,
    ),
    "ls-files": ReadOnlyUse(
        "-cdomstuvfkiz -x= --cached --deleted --others --ignored --stage --unmerged --killed --modified --exclude= "
        "--exclude-standard --directory --no-empty-directory --eol --full-name --abbrev? --error-unmatch --deduplicate"
    ),
    "ls-tree": ReadOnlyUse("-drtlz --long --name-only --name-status --object-only --full-name --full-tree --abbrev?"),
    "cat-file": ReadOnlyUse("-tsep", operands=2),
    "rev-parse": ReadOnlyUse(
        "-q --verify --quiet --abbrev-ref? --short? --symbolic --symbolic-full-name --all --branches? "
        "--tags? --remotes? "
        "--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-git-dir "
        "--is-inside-work-tree --is-bare-repository --is-shallow-repository --show-superproject-working-tree "
        "--show-object-format? --git-path: --default: --not --since= --until="
    ),
    "describe": ReadOnlyUse(
        "--all --tags --contains --abbrev: --candidates: --exact-match --debug --long --match= --exclude= --always "
        "--first-parent"
    ),
    "name-rev": ReadOnlyUse("--tags --refs= --exclude= --all --name-only --no-undefined --always"),
    "merge-base": ReadOnlyUse("-a --all --octopus --is-ancestor --fork-point --independent"),
    "show-ref": ReadOnlyUse("-dsq --head --heads --branches --tags --dereference --hash? --verify --abbrev? --quiet"),
    "for-each-ref": ReadOnlyUse(f"{LISTS}--count: --format%"),
    "check-ignore": ReadOnlyUse("-qvzn --quiet --verbose --non-matching --no-index"),
    "check-attr": ReadOnlyUse("-az --all --cached"),
    "count-objects": ReadOnlyUse("-vH --verbose --human-readable", operands=0),
    "cherry": ReadOnlyUse("-v --abbrev?", operands=3),
    "range-diff": ReadOnlyUse(
        "--no-color --color? --no-dual-color --creation-factor: --no-notes --no-patch -s", operands=3),
    "version": ReadOnlyUse("--build-options", operands=0),
    # Operands name what is made, moved or removed, unless a list is asked for.
    "branch": ReadOnlyUse(
        f"-arv {LISTS}-l --list --all --remotes --verbose --show-current --format% --abbrev? --no-abbrev",
                     operands=0, lists="-l --list"),
    "tag": ReadOnlyUse(f"-l -n? {LISTS}--list --format%", operands=0, lists="-l --list"),
    "remote": ReadOnlyUse("-v --verbose", operands=0),
    "remote get-url": ReadOnlyUse("--all --push", operands=1, texts=1),
    "stash list": ReadOnlyUse(f"{COMMITS}{FORMATS}--stat? -p", operands=0, numbers=True),
    "stash show": ReadOnlyUse("-pu --patch --stat? --name-only --name-status --numstat --no-color", operands=1),
    "worktree list": ReadOnlyUse("-vz --verbose --porcelain", operands=0),
    "reflog": ReadOnlyUse(f"{FORMATS}-n: --max-count: --all --since= --until= --stat? -p", operands=0, numbers=True),
    "reflog show": ReadOnlyUse(
        f"{FORMATS}-n: --max-count: --all --since= --until= --stat? -p", operands=1, numbers=True),
    "bisect log": ReadOnlyUse(operands=0),
    "symbolic-ref": ReadOnlyUse("-q --short --quiet", operands=1, texts=1),
}  # fmt: skip
GLOBAL_FLAGS = frozenset({"--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"})
