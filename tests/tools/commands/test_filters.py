"""A filter of commands is not passed by anything that bash would run differently from what it seems."""

import sys

import pytest

from antiphon.tools import CommandFilter
from antiphon.tools.commands import grammar

GIT = CommandFilter(allowed=["git status*", "git log*", "ls", "ls *"])
BLOCKED = CommandFilter(blocked=["git push*", "sudo *", "rm*"])


@pytest.mark.requirement("S1.4-9")
@pytest.mark.parametrize(
    "command",
    ["git status", "git log -5", "ls -l", "git status && ls", "ls | ls", "ls 2>/dev/null", "ls $(git log)",
    "ls \"$X\""],
)  # fmt: skip
def test_a_command_on_the_allow_list_passes(command):
    assert GIT.problem(command) is None


@pytest.mark.requirement("S1.4-9")
@pytest.mark.parametrize(
    "command",
    [
        "rm a", "git push", "git status; rm a", "git status | sh", "git status $(rm a)", "git status > file",
        "git status >> .bashrc", "ls `rm a`", "ls\nrm a", "ls & rm a", "PATH=. ls", "PATH=.; ls", "X=1", "X=1; ls",
        "$X",
        "ls 'x", "env ls -l > x", "git status >| x", "git status &> x", "eval ls", "sh -c ls", "ls >(rm a)", "./ls",
        "/bin/ls", "ls\r\nrm a", "ls ${x:-'}'}; rm a; echo \\'", "ls() { rm a; }; ls", "f() { ls; }; f", "alias ls=rm",
        "for PATH in .; do ls; done", "ls $((x))", "git -c core.pager=x log", "coproc ls", "ls <<E\n$(rm a)\nE",
        "trap 'rm a' EXIT", "command ls", "timeout 5 ls",
    ],
)  # fmt: skip
def test_nothing_rides_along_past_an_allow_list(command):
    assert GIT.problem(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "git push", "cd x && git push origin", "X=1 git push", "sudo ls", "echo $(git push)", "nohup git push",
        "env -i git push", "/bin/rm x", 'bash -c "rm x"', "bash -xc 'ls; rm x'", "find . -exec rm {} +",
        "ls | xargs rm",
        "ls | xargs -n1 rm", "env rm x", "env -S 'rm x'", "sudo rm", "echo $(rm x)", "eval rm", "command rm x",
        "r\\m x",
        '"rm" x', "'r'm x", "f() { rm x; }; f", "alias x=rm", "git -C . push", "git -c alias.p=push p", "git $X",
        "git pu?h", "r* x", "$X x", "$'\\x72m' x", "{rm,x}", "PATH=. make", "env PATH=. make", "echo rm x | bash",
        "timeout 5 bash -c 'rm x'", "sh -c 'sh -c \"rm x\"'", "coproc rm x", "trap 'rm x' EXIT", "source x",
        "if true; then rm x; fi", "! rm x", "time rm x", "exec rm x", "builtin eval rm x", "busybox rm x", "r\\\nm x",
        "tar xf a --to-command='rm x'", "sort --compress-program=rm a", "python -c 'x'",
        "awk 'BEGIN { system(\"rm x\") }'",
        "sed '1e rm x' f", "test -v 'a[$(rm x)]'", "watch rm x", "ssh host rm x", "hash -p /bin/rm ls", "ls <(rm x)",
    ],
)  # fmt: skip
def test_a_blocked_command_is_found_wherever_it_stands(command):
    assert BLOCKED.problem(command) is not None


@pytest.mark.parametrize(
    "command",
    [
        "make", "git status", "git log $X", "echo $X", "pytest -q", "cat <<'E' > f\nrm x\nE", "FOO=1 make",
        "bash build.sh",
        "sed -i 's/a/b/' f", "for f in *.py; do wc -l \"$f\"; done", "git commit -m 'remove rm'", "find . -name '*.py'",
    ],
)  # fmt: skip
def test_what_is_not_blocked_passes(command):
    assert BLOCKED.problem(command) is None


def test_what_find_runs_must_be_allowed_too():
    finds = CommandFilter(allowed=["find *", "wc *"])

    assert finds.problem("find . -exec wc -l {} +") is None
    assert finds.problem("find . -exec rm {} +") is not None
    assert finds.problem("find . -exec wc {} ; -exec rm {} ;") is not None


def test_an_allowed_shell_runs_allowed_commands_only():
    shells = CommandFilter(allowed=["bash -c *", "ls*"])

    assert shells.problem("bash -c ls") is None
    assert shells.problem("bash -c 'ls; rm a'") is not None


def test_what_is_blocked_is_refused_even_if_it_is_allowed():
    both = CommandFilter(allowed=["git *"], blocked=["git push*"])

    assert both.problem("git pull") is None
    assert both.problem("git push") == "'git push' is blocked by 'git push*'"


def test_a_problem_says_what_is_refused():
    assert GIT.problem("make") == "'make' is not an allowed command; allowed: git status*, git log*, ls, ls *"
    assert GIT.problem("ls > a") == "it writes to a file: a"
    assert BLOCKED.problem("$X a") == "the program depends on a variable; name it directly"
    assert BLOCKED.problem("ls 'x") == "cannot analyse this command; use a simpler one"
    assert BLOCKED.problem("git $X") == "'git $X' depends on a variable and may be blocked by 'git push*'"


def test_a_filter_without_rules_lets_everything_pass():
    assert CommandFilter().problem("rm -rf 'x") is None


def test_without_the_grammar_a_filter_refuses_and_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    grammar._parser.cache_clear()

    assert "pip install 'antiphon[tools]'" in GIT.problem("ls")


@pytest.mark.parametrize("patterns", ["ls*", ["ls*", 5]])
@pytest.mark.parametrize("name", ["allowed", "blocked"])
def test_patterns_that_are_no_list_of_texts_are_refused(name, patterns):
    with pytest.raises(TypeError, match=f"{name} is .* it must be a list of patterns"):
        CommandFilter(**{name: patterns})
