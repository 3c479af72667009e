"""The command `antiphon completion`: scripts for shells, which ask it for the words to complete."""

import argparse

from antiphon.cli.frame import CliCommand, print_lines
from antiphon.cli.help.candidates import FILES, complete
from antiphon.cli.options import Subcommands, run_subcommand
from antiphon.cli.render.text_width import sanitize_line

BASH = r"""# Completion of antiphon in bash: eval "$(antiphon completion bash)"
_antiphon() {
    local line=${COMP_LINE:0:COMP_POINT} current prefix="" output candidate
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[${#words[@]} - 1]}
    COMPREPLY=()
    output=$(antiphon completion candidates -- "${words[@]:1}" 2> /dev/null) || return
    if [[ $output == :files ]]; then
        compopt -o filenames
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        return
    fi
    # Bash replaces only what comes after the last of these characters.
    [[ $current == *[:=]* ]] && prefix=${current%"${current##*[:=]}"}
    while IFS=$'\t' read -r candidate _; do
        [[ -n $candidate && $candidate == "$current"* ]] && COMPREPLY+=("${candidate#"$prefix"}")
    done <<< "$output"
}
complete -F _antiphon antiphon
"""
ZSH = r"""#compdef antiphon
# Completion of antiphon in zsh: eval "$(antiphon completion zsh)", after compinit
_antiphon() {
    local -a lines values shown
    local line
    lines=("${(@f)$(antiphon completion candidates -- "${(@)words[2,CURRENT]}" 2> /dev/null)}")
    if [[ $lines[1] == :files ]]; then
        _files
        return
    fi
    for line in $lines; do
        [[ -n $line ]] || continue
        values+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  }")
    done
    (( $#values )) && compadd -l -d shown -- $values
}
compdef _antiphon antiphon
"""
FISH = r"""# Completion of antiphon in fish: antiphon completion fish | source
function __antiphon_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    set -l output (antiphon completion candidates -- $before[2..-1] "$current" 2> /dev/null)
    if test "$output[1]" = ":files"
        __fish_complete_path "$current"
        return
    end
    printf '%s\n' $output
end
complete -c antiphon -f -a '(__antiphon_complete)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}
EXAMPLES = """examples:
  eval "$(antiphon completion bash)"         in ~/.bashrc
  eval "$(antiphon completion zsh)"          in ~/.zshrc, after compinit
  antiphon completion fish | source          in ~/.config/fish/config.fish

Commands, options, models, aliases, ids of conversations, templates, settings and files are completed.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands."""
    commands = Subcommands(parser, store=False)
    for shell in SCRIPTS:
        commands.add(shell, _print_script, f"print the script for {shell}").set_defaults(shell=shell)
    sub = commands.add("candidates", _print_candidates, "print what the last word may become, for the scripts")
    sub.add_argument("words", metavar="WORD", nargs="*", help="the words after antiphon; pass them after --")


def _print_script(options: argparse.Namespace) -> int:
    return print_lines(SCRIPTS[options.shell].splitlines())


def _print_candidates(options: argparse.Namespace) -> int:
    candidates = complete(options.words)
    if candidates is None:
        return print_lines([FILES])
    return print_lines([f"{sanitize_line(each.word)}\t{sanitize_line(each.about)}".rstrip() for each in candidates])


COMMAND = CliCommand(
    "Print a script that completes commands, options and values of antiphon in a shell.",
    add_options,
    run_subcommand,
    EXAMPLES,
)
