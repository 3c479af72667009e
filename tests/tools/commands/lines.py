"""Generator of lines for the judge: readers with their options, hostile variations of them, and known attacks."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from antiphon.tools.commands.git_readers import GIT_READERS
from antiphon.tools.commands.judgement import risk_of_command
from antiphon.tools.commands.readers import (
    FIND_VALUES,
    FIND_WORDS,
    PS_WORDS,
    READERS,
    TEST_OPERATORS,
    VERSIONS,
    ReadOnlyUse,
)
from antiphon.tools.commands.reading import option_table

FILES = (
    "README.md", "notes.txt", "data.csv", "src", "src/app.py", "./src", ".", "build.log", "old", "new", "missing",
    "link",
    "src/*.py", "*.txt", "*", "./*", "?-*", "-*", "names.txt", "package.json", "'x y.txt'", "sub", "evil.sh", "payload",
    "old/a.txt", "new/a.txt", ".gitignore", "tools/ls",
)  # fmt: skip
VALUES = (
    "1",
    "2",
    "5",
    "-1",
    "+2",
    "foo",
    "'foo bar'",
    '"a|b"',
    "'^class '",
    "a,b",
    ":",
    "','",
    "%s",
    "'%h %s'",
    "*.py",
    "auto",
)
REVISIONS = (
    "HEAD",
    "HEAD~1",
    "main",
    "v1.0",
    "feature/x",
    "HEAD~1..HEAD",
    "stash@{0}",
    "HEAD:README.md",
    "HEAD^",
    "nope",
)
# Options that run a program or write a file; the judge must not take them for harmless.
HOSTILE = (
    "--output=pwned", "--output pwned", "-o pwned", "-opwned", "--compress-program=./evil.sh", "--compress=./evil.sh",
    "--open-files-in-pager=./evil.sh", "--open=./evil.sh", "-O./evil.sh", "--ext-diff", "--textconv",
    "-exec touch pwned ;",
    "-exec touch pwned \\;", "-delete", "-fprint pwned", "-fls pwned", "-ok touch pwned \\;", "--pre=./evil.sh", "-i",
    "-i.bak", "--in-place", "-f prog.awk", "-f sed.sed", "'BEGIN { system(\"touch pwned\") }'", "'1e touch pwned'",
    "'w pwned'", "'s/a/b/e'", "'s/a/b/w pwned'", "-v 'a[$(touch pwned)]'", "-v PATH", "%n PATH", "-s", "--set=0",
    "payload pwned",
    "--show-signature", "--format=%G?", "--pretty=evil", "--files0-from=-", "-T .", "--use-compress-program=./evil.sh",
    "-C",
    "--exec=./evil.sh", "--upload-pack=./evil.sh", "-c core.pager=./evil.sh", "-D main", "-d v1.0", "newbranch",
    "--no-index",
    "-R", "-X", "--help", "-h", "--batch", "--filters", "--dirty", "-w", "-u", "-z", "--", "- -", "-m pwned",
    "-F pwned",
)  # fmt: skip
FRAGMENTS = (
    "$(touch pwned)", "`touch pwned`", "${x:-$(touch pwned)}", "$x", "${x}", "$HOME", "~", "~root", "{a,b}",
    "<(touch pwned)",
    ">(touch pwned)", "> pwned", ">pwned", ">> notes.txt", ">| pwned", "&> pwned", "2> pwned", "<> pwned", ">&pwned",
    "< notes.txt",
    "<notes.txt", "2>&1", "2>/dev/null", "> /dev/null", "<< E\nx\nE", "<<< x", "; touch pwned", "& touch pwned",
    "| touch pwned",
    "|& cat", "&& touch pwned", "|| touch pwned", "\ntouch pwned", "\r\ntouch pwned", "\r#; touch pwned", "# x", "#",
    "\\\n", "\\",
    "'", '"', "$'\\x0atouch pwned'", '$"x"', "$((x[$(touch pwned)]))", "$[1]", "\x00", "\x1b[2J", "\x0b", "\x0c",
    "\u00a0", "\u2003",
    "\u202e", "\u200b", "\ufeff", "\u0085", "\u037e touch pwned", "＄(touch pwned)", "é", "'é'", "x=1", "!", "!!", "[",
    "]", "(", ")",
    "{", "}", ";;", "time", "coproc", "then", "a[1]=2", "*", "?", "[a-z]*", "@(a|b)", "+(x)", "\t", "  ", "\\;", "\\(",
    "\\$", "%", "^x^y",
)  # fmt: skip
PREFIXES = (
    "PATH=$PWD/tools:$PATH; ", "PATH=tools ", "PATH=./tools:$PATH ", "HOME=$PWD; ", "x=/etc/passwd; ",
    "LD_PRELOAD=./x.so ",
    "GIT_EXTERNAL_DIFF=./evil.sh ", "BASH_ENV=./evil.sh ", "time ", "! ", "command ", "env ", "nice ", "exec ",
    "builtin ", "./", "tools/",
    "/usr/bin/", "/bin/", "\\", "coproc ", "if true; then ", "( ", "{ ", "cd src && ", "cd tools; ", "cd sub && ",
    "alias ls=touch\n",
    "ls() { touch pwned; }; ", "trap 'touch pwned' EXIT; ", "set -x; ", "shopt -s expand_aliases\n",
    "printf -v PATH tools; ",
    "printf %n PATH; ", "hash -p ./evil.sh ls; ", "enable -n echo; ", "export PATH=tools; ", "read PATH; ",
    "for x in a; do ",
)  # fmt: skip
ATTACKS = (
    "echo hi \r#; touch pwned", "echo ${x:-'}'}; touch pwned; echo \\'", "test -v 'a[$(touch pwned)]'",
    "PATH=$PWD/tools:$PATH; ls",
    "HOME=$PWD; git status", "sort --compress-program=./evil.sh -S 1k build.log", "git grep --open=./evil.sh foo",
    "uniq payload .git/config",
    "x=/etc/passwd; cat $x", "cat notes.txt <$x >&0", "coproc touch pwned", "trap 'touch pwned' EXIT",
    "awk 'BEGIN { system(\"touch pwned\") }'",
    "tar -cf /dev/null --checkpoint=1 --checkpoint-action=exec='touch pwned' .", "git reset --har",
    "make --eval='$(shell touch pwned)'",
    "[ -v 'a[$(touch pwned)]' ]", "[[ -v a[$(touch pwned)] ]]", "echo $((a[$(touch pwned)]))",
    "find . -exec touch pwned ;",
    "printf -v 'a[$(touch pwned)]' x", "printf xxx%n PATH; ls", "git diff --output=pwned", "git log --output=pwned",
    "tree -o pwned",
    "sed -n '1w pwned' notes.txt", "sed 's/a/b/w pwned' notes.txt", "awk '{ print > \"pwned\" }' notes.txt",
    "awk 1 x=1 notes.txt",
    "find . -fprint pwned", "sort -o pwned notes.txt", "sort notes.txt -opwned", "git branch pwned", "git tag pwned",
    "date 0101",
    "git -c core.pager=./evil.sh -p log", "git -C sub status", "cd sub && git status", "find * -name x", "cat *",
    "ls -- *",
    "diff -l notes.txt README.md", "git stash", "git symbolic-ref HEAD refs/heads/x", "git remote add x y",
    "git reflog expire --all",
    "echo a; #; touch pwned", "echo 'a\nb'; touch pwned", 'echo "${x:-\'}"; touch pwned; echo "\'}"',
    "echo \\\ntouch pwned",
    "git log --format=%G? -1", "git for-each-ref --format='%(signature)'", "file -C -m notes.txt",
    "rg --pre ./evil.sh foo",
    "command -v ls; command touch pwned", "type touch; touch pwned", "ls>pwned", "ls 2>pwned", "cat<notes.txt>pwned",
    "ls -l>/dev/null>pwned",
)  # fmt: skip
JOINTS = (" | ", " && ", " || ", "; ", "\n", " ; ", "|", " & ", " |& ", ";", " &\n")
SHELLISH = " \t\n;&|<>()$`'\"\\#*?[]{}~=!%^-,./:@aé\r"


def option_lines(word: str, *, limited: bool) -> Iterator[str]:
    """Yield a line for every option of the tables, with a word after it or attached to it, if it is judged to read.

    With `limited`, only of programs that do harm with more operands.
    """
    uses = {**READERS, **{f"git {name}": use for name, use in GIT_READERS.items()}}
    for program, use in uses.items():
        if limited and use.operands is None:
            continue
        for option, kind in option_table(use.options).items():
            separator = "=" if option.startswith("--") else ""
            lines = (f"{program} {option} {word}", f"{program} {option}{separator}{word}" if kind else "")
            yield from (line for line in lines if line and risk_of_command(line) == "read")


class LineGenerator:
    """Generates lines from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def line(self) -> str:
        """Return a line: mostly plain, often with something hostile in it."""
        random = self.random
        if random.random() < 0.06:
            line = random.choice(ATTACKS)
        else:
            line = self.command()
            while random.random() < 0.25:
                line += self._joint() + self.command()
        if random.random() < 0.12:
            line = random.choice(PREFIXES) + line
        if random.random() < 0.22:
            line = self._with_fragment(line)
        if random.random() < 0.12:
            line = self._edited(line)
        return line

    def command(self) -> str:
        """Return one command, usually of a known reader."""
        makers: Sequence[Callable[[], list[str]]] = (self._reader, self._reader, self._git, self._git, self._other)
        words = self.random.choice(makers)()
        if self.random.random() < 0.1:
            words.insert(self.random.randrange(1, len(words) + 1), self.random.choice(HOSTILE))
        words[1:] = [self._quoted(word) for word in words[1:]]
        return " ".join(words)

    def _joint(self) -> str:
        return self.random.choice(JOINTS[:4] if self.random.random() < 0.8 else JOINTS)

    def _reader(self) -> list[str]:
        name = self.random.choice(list(READERS))
        return [name, *self._words(READERS[name], FILES)]

    def _git(self) -> list[str]:
        name = self.random.choice(list(GIT_READERS))
        return ["git", *name.split(), *self._words(GIT_READERS[name], (*REVISIONS, *FILES[:8]))]

    def _words(self, use: ReadOnlyUse, operands: Sequence[str]) -> list[str]:
        random = self.random
        table = list(option_table(use.options).items())
        words = [self._option(*random.choice(table)) for _ in range(random.choice((0, 1, 1, 2, 3))) if table]
        if use.numbers and random.random() < 0.2:
            words.append(f"-{random.randrange(30)}")
        most = 3 if use.operands is None else use.operands
        if use.texts:
            words.append(random.choice(VALUES))
        words += [random.choice(operands) for _ in range(random.randrange(most + 1))]
        if random.random() < 0.1:
            words.insert(random.randrange(len(words) + 1), "--")
        return words

    def _option(self, name: str, kind: str) -> str:
        random = self.random
        if name.startswith("--") and random.random() < 0.04:
            return name[: random.randrange(3, len(name) + 1)]
        if not kind or (kind == "?" and random.random() < 0.5):
            return name
        value = random.choice(VALUES if random.random() < 0.85 else FILES)
        separator = "=" if name.startswith("--") else random.choice(("", " "))
        return f"{name}{separator if kind == '?' or random.random() < 0.8 else ' '}{value}"

    def _other(self) -> list[str]:
        random = self.random
        pick = random.choice
        scripts = (
            "'1,5p'",
            "'$d'",
            "p",
            "'/foo/p'",
            "'s/a/b/g'",
            "'1q'",
            "'s/a/b/e'",
            "'1,$d;p'",
            "'s|a|b|'",
            "'1!d'",
            "'w x'",
        )
        programs = (
            "'{print $1}'",
            "'{print $1, $2}'",
            "'NR==2'",
            "'/foo/ {print NR \":\" $0}'",
            "'{print > \"pwned\"}'",
            "'{print|\"sh\"}'",
        )
        match random.randrange(9):
            case 0:
                tests = [pick([*FIND_WORDS]) for _ in range(random.randrange(3))]
                values = [f"{pick([*FIND_VALUES])} {pick(VALUES)}" for _ in range(random.randrange(3))]
                return ["find", pick(FILES), *tests, *values]
            case 1:
                return ["test", pick([*TEST_OPERATORS]), pick(FILES)]
            case 2:
                return ["[", pick(FILES), pick([*TEST_OPERATORS]), pick(VALUES), "]"]
            case 3:
                return ["sed", pick(("-n", "-E", "-n", "-i", "-s", "")), pick(scripts), pick(FILES)]
            case 4:
                return ["awk", pick(("-F,", "-F:", "", "-F '|'", "-v x=1")), pick(programs), pick(FILES)]
            case 5:
                return [
                    "printf",
                    pick(("'%s\\n'", "%d", "'%b'", "%n", "-v", "'%5.2f'", "%q", "'%(%F)T'")),
                    pick(VALUES),
                    pick(FILES),
                ]
            case 6:
                return ["echo", *(pick((*FILES, *VALUES)) for _ in range(random.randrange(4)))]
            case 7:
                return [pick([*VERSIONS]), pick(("--version", "--version", "-V", "-c 'touch pwned'"))]
            case _:
                return pick(
                    (
                        ["command", "-v", pick(("ls", "touch", "git"))],
                        ["ps", pick([*PS_WORDS])],
                        ["cd", pick(FILES)],
                        ["pwd"],
                    )
                )

    def _quoted(self, word: str) -> str:
        roll = self.random.random()
        if roll > 0.12 or any(character in word for character in "'\"\\\n"):
            return word
        return f"'{word}'" if roll < 0.05 else f'"{word}"' if roll < 0.1 else "\\" + word

    def _with_fragment(self, line: str) -> str:
        at = self.random.choice((len(line), self.random.randrange(len(line) + 1)))
        space = self.random.choice(("", " "))
        return line[:at] + space + self.random.choice(FRAGMENTS) + space + line[at:]

    def _edited(self, line: str) -> str:
        for _ in range(self.random.choice((1, 1, 2))):
            at = self.random.randrange(len(line) + 1)
            kind = self.random.randrange(3)
            added = self.random.choice(SHELLISH) if kind else ""
            line = line[:at] + added + line[at + (kind < 2) :]
        return line
