"""Context and threads of local models: from the environment, a program, or the model itself."""

import pytest

from antiphon.providers import LocalSettings
from antiphon.providers.errors import ProviderError
from antiphon.providers.local.gguf import read_gguf
from antiphon.providers.local.memory import available_memory, estimate_memory
from antiphon.providers.local.settings import local_settings
from tests.providers.local.gguf_files import write_gguf


def test_the_environment_sets_both_and_nothing_means_the_defaults():
    settings = local_settings({"ANTIPHON_LOCAL_CONTEXT": "2048", "ANTIPHON_LOCAL_THREADS": "1"})

    assert settings == LocalSettings(2048, 1)
    assert local_settings({"ANTIPHON_LOCAL_CONTEXT": ""}) == LocalSettings()
    assert LocalSettings().context_for(32_768) == 8192
    assert LocalSettings().context_for(2048) == 2048
    assert 1 <= LocalSettings().thread_count <= 4


def test_nearer_settings_precede_others():
    assert LocalSettings(threads=1).over(LocalSettings(2048, 8)) == LocalSettings(2048, 1)


@pytest.mark.parametrize("value", ["many", "-1", "0", "1e3", "99999999999", "٣"])
def test_a_setting_that_is_no_number_is_refused_by_name(value):
    with pytest.raises(ProviderError, match=r"(?i:threads)") as caught:
        local_settings({"ANTIPHON_LOCAL_THREADS": value})

    assert caught.value.code == "9001"


@pytest.mark.parametrize("settings", [{"context": 10}, {"context": True}, {"threads": 0}, {"threads": 1.5}])
def test_a_program_gets_the_same_refusal(settings):
    with pytest.raises(ProviderError, match="of a local model is"):
        LocalSettings(**settings)


def test_memory_is_weights_context_and_the_rest(tmp_path):
    model = read_gguf(write_gguf(tmp_path / "tiny.gguf"))

    memory = estimate_memory(model, 1000)
    assert (memory.weights, memory.context) == (model.bytes, 32_000)
    assert memory.total == memory.weights + memory.context + memory.rest


def test_available_memory_is_the_less_of_the_system_and_the_container(tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:    2000 kB\n")
    for name, content in {"memory.max": "1000000", "memory.current": "300000", "memory.stat": "file 100000\n"}.items():
        (tmp_path / name).write_text(content)

    assert available_memory(tmp_path / "meminfo", tmp_path) == 800_000
    (tmp_path / "memory.max").write_text("max")
    assert available_memory(tmp_path / "meminfo", tmp_path) == 2_048_000
