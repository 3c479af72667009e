"""Agents from files: three formats, and everything that can be wrong with one, told with file and line."""

import pytest

from antiphon.agents.files import BadAgents, default_agents, default_files, load_all_agents

POET = "---\nname: poet\nwhenToUse: for poems\nlimits:\n  maxIterations: 3\n---\nYou are the poet of this team.\n"


def folder(path, **files):
    for name, text in files.items():
        stem, _, suffix = name.rpartition("_")
        (path / f"{stem}.{suffix}").write_text(text)
    return path


def problems(path, **files):
    with pytest.raises(BadAgents) as caught:
        load_all_agents(folder(path, **files))
    return [str(problem) for problem in caught.value.problems]


@pytest.mark.requirement("S1-95")
def test_the_default_team_is_whole_and_without_warnings():
    found = default_agents()

    assert list(found.agents) == ["planner", "developer", "tester", "reviewer", "researcher"]
    assert found.warnings == ()
    assert found.agents["planner"]["plans"]
    assert found.agents["planner"]["transitions"] == {"onSuccess": "developer"}


@pytest.mark.requirement("S1-95")
def test_the_default_files_can_be_copied_and_loaded(tmp_path):
    for name, text in default_files().items():
        (tmp_path / name).write_text(text)

    assert load_all_agents(tmp_path).agents == default_agents().agents


@pytest.mark.requirement("S1-95", "S1.4-2")
def test_three_formats_say_the_same(tmp_path):
    yaml = "name: bard\nwhenToUse: for poems\nsystemPrompt: You are the bard of this team.\n"
    toml = 'name = "singer"\nwhenToUse = "for songs"\nsystemPrompt = "You are the singer of this team."\n'
    toml += "[limits]\nmaxIterations = 3\n"
    agents = load_all_agents(folder(tmp_path, poet_md=POET, bard_yaml=yaml, singer_toml=toml)).agents

    assert list(agents) == ["bard", "poet", "singer"]
    assert agents["poet"]["systemPrompt"] == "You are the poet of this team."
    assert agents["poet"]["limits"] == agents["singer"]["limits"] == {"maxIterations": 3}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "limts: 3",
            "poet.md:4: unknown key 'limts'; did you mean limits? known: name, whenToUse, systemPrompt, model,",
        ),
        ("xyz: 3", "poet.md:4: unknown key 'xyz'; known: name, whenToUse, systemPrompt, model,"),
        ("7: x", "poet.md:4: unknown key '7'"),
        ("limits:\n  maxToken: 3", "poet.md:5: unknown key 'limits.maxToken'; did you mean maxTokens? known: maxIter"),
        ("model: 3", "poet.md:4: model is 3: Expected `str | null`, got `int`"),
        ("plans: 1", "poet.md:4: plans is 1: Expected `bool`, got `int`"),
        ("temperature: warm", "poet.md:4: temperature is 'warm': Expected `float`, got `str`"),
        ("responseSchema: []", "poet.md:4: responseSchema is []: Expected `object`, got `array`"),
        ("tools: all", "poet.md:4: tools must be a mapping with the keys allowed, blocked"),
        ("tools:\n  allowed: [1]", "poet.md:5: tools.allowed is [1]: Expected `str`, got `int` - at `$[0]`"),
        ("limits:\n  maxIterations: 0", "poet.md:5: limits.maxIterations is 0: Expected `int` >= 1"),
        ("limits:\n  maxCostUsd: -0.5", "poet.md:5: limits.maxCostUsd is -0.5: Expected `float` > 0.0"),
        ("limits:\n  maxIterations: true", "poet.md:5: limits.maxIterations is True: Expected `int`, got `bool`"),
        ("transitions:\n  onSuccess: nobody", "poet.md:5: onSuccess leads to 'nobody', which is not an agent"),
        ("transitions:\n  onOutput: [{pattern: '(', to: poet}]", "poet.md:5: '(' is not a valid pattern"),
        (
            "transitions:\n  onOutput: [x]",
            "poet.md:5: transitions.onOutput is ['x']: Expected `object`, got `str`",
        ),
        (
            "transitions:\n  onOutput: [{pattern: a, to: poet, flags: i}]",
            "poet.md:5: a rule of onOutput must have the keys",
        ),
        ("transitions:\n  onOutput: [{pattern: 1, to: poet}]", "poet.md:5: transitions.onOutput is [{'pattern': 1, "),
        ("a: [", "poet.md:5: invalid YAML"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path, line, expected):
    text = f"---\nname: poet\nwhenToUse: for poems\n{line}\n---\nYou are the poet of this team.\n"

    assert problems(tmp_path, poet_md=text)[0].startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("You are.", "a.md:1: missing front matter"),
        (
            "---\nname: Ada Lovelace\nwhenToUse: x\n---\nA long enough system prompt.",
            "a.md:2: 'Ada Lovelace' is not a valid name",
        ),
        ("---\nname: a\n---\nA long enough system prompt.", "a.md:1: whenToUse is missing"),
        ("---\nname: a\nwhenToUse: x\n---\n", "a.md:5: systemPrompt is missing"),
        ("---\n- a\n---\nx", "a.md:2: an agent must be a mapping of `key: value`"),
    ],
)
def test_a_file_that_is_no_agent_says_what_is_missing(tmp_path, text, expected):
    assert problems(tmp_path, a_md=text)[0].startswith(expected)


def test_bad_toml_has_its_line(tmp_path):
    assert problems(tmp_path, a_toml='name = "a"\nwhenToUse = \n')[0].startswith("a.toml:2: invalid TOML")


def test_one_name_is_for_one_agent_and_all_mistakes_are_told_at_once(tmp_path):
    found = problems(tmp_path, a_md=POET, b_md=POET, c_md="x")

    assert found == [
        "c.md:1: missing front matter; the file must begin with `---`, YAML, `---`",
        "b.md:2: the agent 'poet' is already defined in a.md",
    ]


def test_every_mistake_of_a_file_is_told_with_its_own_line(tmp_path):
    text = (
        "name: poet\nwhenToUse: x\nsystemPrompt: y\nlimits:\n  maxTokens: many\n  maxCostUsd: 0\nplans: 1\nlimts: 2\n"
    )

    assert [problem.split(": ")[0] for problem in problems(tmp_path, poet_yaml=text)] == [
        "poet.yaml:5",
        "poet.yaml:6",
        "poet.yaml:7",
        "poet.yaml:8",
    ]


def test_a_model_may_be_left_to_the_run(tmp_path):
    text = POET.replace("limits:", "model: null\ntemperature: 1\nlimits:")

    assert load_all_agents(folder(tmp_path, poet_md=text)).agents["poet"]["model"] is None


def test_odd_things_are_warned_of(tmp_path):
    odd = "name: poet\nwhenToUse: x\nsystemPrompt: Short.\n"
    odd += "tools: {allowed: [a], blocked: [a]}\nshell: {allowed: ['*']}\ntransitions: {onFailure: poet}\n"
    warnings = [str(one) for one in load_all_agents(folder(tmp_path, poet_yaml=odd)).warnings]

    assert [one.split(": ")[0] for one in warnings] == ["poet.yaml:3", "poet.yaml:4", "poet.yaml:6", "poet.yaml:5"]


def test_a_folder_that_is_not_there_is_said(tmp_path):
    with pytest.raises(BadAgents, match="folder not found"):
        load_all_agents(tmp_path / "none")
