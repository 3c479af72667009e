"""Table of programs that only read, each with the options that may be used.

`options` lists them by kind, which the last character tells:

- `-abc`: letters without a value, in any bundle; `--all`: a long option without a value, never abbreviated;
- `-n:` and `--lines:` need a value, attached or in the next word; a path in it may not lead outside;
- `-e=` and `--regexp=` need a value that is a text, which names no file;
- `-M?` and `--color?` may have a value, which is attached;
- `--format%` needs a format of git, in which no program is named, or the name of one that no repository can define.

An option that is not listed is not harmless: it writes a file, runs a program, or nobody has looked at it.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadOnlyUse:
    """Harmless uses of a program."""

    options: str = ""
    operands: int | None = None
    """How many words may follow besides options; None is any number."""
    texts: int = 0
    """How many of the first words are texts, not files."""
    script: str = ""
    """Pattern that the first word must match as a whole, if there is one: a program in a language of its own."""
    text_option: str = ""
    """Options that take the place of these texts."""
    lists: str = ""
    """Options with which all operands are patterns of a list."""
    numbers: bool = False
    """Whether `-5` is an option."""
    globs: bool = False
    """Whether no option of the program is harmful, so that a glob may expand to one."""


ANY = 1_000_000
# Of jq: paths, and functions that have no arguments and see nothing but their input.
_JQ_STEP = r"(?:\.[A-Za-z_]\w*|\.?\[(?:-?\d*|-?\d*:-?\d*|\"[^\"\\]*\")\]|\.\"[^\"\\]*\")"
_JQ_NAMES = "keys|length|type|add|sort|unique|reverse|first|last|min|max|not|flatten|to_entries|tostring|tonumber"
_JQ_TERM = rf"(?:\.|(?:{_JQ_STEP}\??)+|{_JQ_NAMES})"
JQ = rf" ?{_JQ_TERM}(?: ?[|,] ?{_JQ_TERM})* ?"
SUMS = ReadOnlyUse("-btz --binary --text --tag", globs=True)
GREP = ReadOnlyUse(
    "-EFGPiywxvcnHhlLoqsrRIazbZTU -A: -B: -C: -m: -d: -D: -e= -f: --extended-regexp --fixed-strings --perl-regexp "
    "--basic-regexp --ignore-case --word-regexp --line-regexp --invert-match --count --line-number --with-filename "
    "--no-filename --files-with-matches --files-without-match --only-matching --quiet --silent --no-messages "
    "--recursive --dereference-recursive --text --null --null-data --byte-offset --initial-tab --after-context: "
    "--before-context: --context: --max-count: --regexp= --file: --include= --exclude= --exclude-dir= --color? "
    "--colour? --binary-files: --directories: --devices: --label= --help --version -V",
    texts=1, text_option="-e -f --regexp --file", numbers=True, globs=True,
)  # fmt: skip
READERS: Mapping[str, ReadOnlyUse] = {
    "ls": ReadOnlyUse(
        "-aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1 -I= -w: -T: --all --almost-all --author --block-size: --color? "
        "--directory --classify? --file-type --format: --full-time --group-directories-first --no-group "
        "--human-readable --si --dereference --hide= --indicator-style: --inode --ignore= --kibibytes "
        "--numeric-uid-gid "
        "--literal --quote-name --reverse --recursive --size --sort: --time: --time-style= --width: --help --version",
        globs=True,
    ),
    "cat": ReadOnlyUse(
        "-AbeEnstTuv --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs "
        "--show-nonprinting --help --version",
        globs=True,
    ),
    "tac": ReadOnlyUse("-br -s= --before --regex --separator=", globs=True),
    "head": ReadOnlyUse(
        "-qvz -n: -c: --lines: --bytes: --quiet --silent --verbose --help --version", numbers=True, globs=True
    ),
    "tail": ReadOnlyUse(
        "-qvz -n: -c: --lines: --bytes: --quiet --silent --verbose --help --version", numbers=True, globs=True
    ),
    "wc": ReadOnlyUse("-clLmw --bytes --chars --lines --max-line-length --words --help --version", globs=True),
    "nl": ReadOnlyUse("-p -b= -d= -f= -h= -i: -l: -n: -s= -v: -w: --body-numbering= --number-width:", globs=True),
    "cut": ReadOnlyUse(
        "-nsz -b: -c: -d= -f: --bytes: --characters: --delimiter= --fields: --only-delimited --complement "
        "--output-delimiter= --help --version",
        globs=True,
    ),
    "tr": ReadOnlyUse("-cCdst --complement --delete --squeeze-repeats --truncate-set1", texts=2, operands=2),
    "rev": ReadOnlyUse(""),
    "fold": ReadOnlyUse("-bs -w: --bytes --spaces --width:", globs=True),
    "expand": ReadOnlyUse("-i -t: --initial --tabs:", globs=True),
    "paste": ReadOnlyUse("-sz -d= --delimiters= --serial --zero-terminated", globs=True),
    "join": ReadOnlyUse("-iz -a: -e= -j: -1: -2: -t= -o: -v: --header --ignore-case --check-order", operands=2),
    "comm": ReadOnlyUse("-123z --check-order --nocheck-order --output-delimiter= --total", operands=2),
    "column": ReadOnlyUse("-tnx -s= -o= -c: --table --separator= --output-separator="),
    "sort": ReadOnlyUse(
        "-bdfghimMnrRsuVzcC -k: -t= --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort "
        "--human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --version-sort --check --key: "
        "--stable --field-separator= --unique --zero-terminated --help --version"
    ),
    # The second operand of uniq is a file that it writes.
    "uniq": ReadOnlyUse(
        "-cdDiuz -f: -s: -w: --count --repeated --ignore-case --skip-fields: --skip-chars: --unique --zero-terminated "
        "--check-chars: --help --version",
        operands=1,
    ),
    "diff": ReadOnlyUse(
        "-abBcdeEiNnpqrstTuwyZ -C: -U: -W: -x= -I= --brief --report-identical-files --unified? --context? "
        "--side-by-side "
        "--width: --recursive --new-file --ignore-case --ignore-all-space --ignore-space-change --ignore-blank-lines "
        "--ignore-trailing-space --exclude= --text --strip-trailing-cr --minimal --color? --suppress-common-lines "
        "--label= --help --version",
        operands=2,
    ),
    "cmp": ReadOnlyUse("-bls -n: -i: --print-bytes --verbose --quiet --silent", operands=4),
    "grep": GREP,
    "egrep": GREP,
    "fgrep": GREP,
    "rg": ReadOnlyUse(
        "-nNilcwvFsSUxPqoHIu0.pL -e= -f: -g= -t= -T= -A: -B: -C: -m: -d: -M: -r= --line-number --no-line-number "
        "--ignore-case --smart-case --case-sensitive --files --files-with-matches --files-without-match --count "
        "--count-matches --word-regexp --line-regexp --invert-match --fixed-strings --hidden --no-ignore "
        "--no-ignore-vcs "
        "--glob= --iglob= --type= --type-not= --type-list --after-context: --before-context: --context: --max-count: "
        "--max-depth: --max-columns: --multiline --multiline-dotall --pcre2 --quiet --only-matching --with-filename "
        "--no-filename --heading --no-heading --color= --colors= --column --json --stats --sort= --sortr= "
        "--null --regexp= "
        "--file: --replace= --text --trim --unrestricted --follow --vimgrep --no-config --no-messages --version",
        texts=1, text_option="-e -f --regexp --file --files --type-list",
    ),
    "file": ReadOnlyUse(
        "-bhikLNrs0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference --version"),
    "stat": ReadOnlyUse("-fLt -c= --dereference --file-system --format= --printf= --terse --version", globs=True),
    "du": ReadOnlyUse(
        "-abcDhHklLmsSx0 -d: -t: --all --apparent-size --block-size: --bytes --total --max-depth: --human-readable "
        "--exclude= --si --summarize --time? --threshold: --one-file-system --inodes --separate-dirs --version",
        globs=True,
    ),
    "df": ReadOnlyUse(
        "-ahHiklPT -B: -t: -x: --all --human-readable --si --inodes --local --print-type --total --version"),
    "tree": ReadOnlyUse(
        "-adflsphugDFrtUciCnAQNqJX -L: -I= -P= --dirsfirst --noreport --gitignore --prune --du --si --sort= --version "
        "--matchdirs --ignore-case --filesfirst --charset="
    ),
    "readlink": ReadOnlyUse("-efmnqsvz --canonicalize --canonicalize-existing --canonicalize-missing --no-newline"),
    "realpath": ReadOnlyUse(
        "-eLmPqsz --canonicalize-existing --canonicalize-missing --logical --physical --strip --quiet"),
    "basename": ReadOnlyUse("-az -s= --multiple --suffix= --zero", globs=True),
    "dirname": ReadOnlyUse("-z --zero", globs=True),
    "md5sum": SUMS,
    "sha1sum": SUMS,
    "sha256sum": SUMS,
    "sha512sum": SUMS,
    "b2sum": SUMS,
    "cksum": ReadOnlyUse("", globs=True),
    "od": ReadOnlyUse("-abcdfiloxsv -A: -t: -N: -j: -w? --address-radix: --format: --read-bytes: --skip-bytes:"),
    "hexdump": ReadOnlyUse("-bcCdovx -n: -s: --canonical --length: --skip:"),
    "base64": ReadOnlyUse("-di -w: --decode --ignore-garbage --wrap:", operands=1),
    "jq": ReadOnlyUse(
        "-rcesnSMjaC --raw-output --compact-output --exit-status --slurp --null-input --sort-keys --monochrome-output "
        "--join-output --ascii-output --tab --indent: --version",
        texts=1, script=JQ,
    ),
    "seq": ReadOnlyUse("-w -f= -s= --equal-width --separator=", operands=3, texts=3),
    "pwd": ReadOnlyUse("-LP", operands=0),
    "whoami": ReadOnlyUse(operands=0),
    "id": ReadOnlyUse("-gGnruz --group --groups --name --real --user --zero", operands=1, texts=1),
    "groups": ReadOnlyUse(operands=0),
    "uname": ReadOnlyUse("-asnrvmpio --all --kernel-name --nodename --kernel-release --machine --operating-system",
    operands=0),
    "arch": ReadOnlyUse(operands=0),
    "nproc": ReadOnlyUse("--all", operands=0),
    "uptime": ReadOnlyUse("-ps --pretty --since", operands=0),
    "free": ReadOnlyUse("-bkmghtwl --bytes --kibi --mebi --gibi --human --total --wide --si", operands=0),
    "which": ReadOnlyUse("-a", texts=ANY),
    "type": ReadOnlyUse("-aptPf", texts=ANY),
    "date": ReadOnlyUse("-uR -d= -I? -r: --utc --universal --date= --iso-8601? --rfc-3339= --rfc-email --reference:",
    operands=1),
    "true": ReadOnlyUse(texts=ANY),
    "false": ReadOnlyUse(texts=ANY),
    "cd": ReadOnlyUse("-LP", operands=1),
}  # fmt: skip

# Programs that tell their version and do nothing else then. Those are missing that a file of the folder replaces by
# another version of themselves (cargo, go, yarn).
VERSIONS = frozenset((
    "python", "python3", "python3.11", "python3.12", "python3.13", "python3.14", "node", "ruby", "perl", "bash",
    "make", "gcc", "g++", "clang", "cmake", "git", "sed", "awk", "find", "tar",
))  # fmt: skip

TEST_OPERATORS = frozenset((
    "-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h", "-n", "-z", "-b", "-c", "-p", "-S", "-nt", "-ot", "-ef", "=",
    "==", "!=", "!", "-eq", "-ne", "-lt", "-le", "-gt", "-ge",
))  # fmt: skip

# What find tests and prints; the second list has a value.
FIND_WORDS = frozenset((
    "-H", "-L", "-P", "!", "(", ")", "-not", "-a", "-and", "-o", "-or", ",", "-true", "-false", "-empty", "-print",
    "-print0", "-prune", "-quit", "-ls", "-depth", "-d", "-follow", "-mount", "-xdev", "-readable", "-writable",
    "-executable", "-nouser", "-nogroup", "-noleaf", "-daystart", "-ignore_readdir_race", "-warn", "-nowarn",
))  # fmt: skip
FIND_VALUES = frozenset((
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-lname",
    "-ilname", "-type", "-xtype", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-newer", "-anewer",
    "-cnewer", "-newermt", "-maxdepth", "-mindepth", "-perm", "-user", "-group", "-uid", "-gid", "-links", "-inum",
    "-printf", "-used",
))  # fmt: skip
# Values that are patterns and formats; the others may be paths.
FIND_TEXTS = FIND_VALUES - {"-newer", "-anewer", "-cnewer"}
PS_WORDS = frozenset({"aux", "ax", "auxf", "axf", "-e", "-f", "-ef", "-A", "-aux", "-l", "-o", "pid,cmd", "pid,args"})
