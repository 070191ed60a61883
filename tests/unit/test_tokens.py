"""Tokens are counted by a real tokenizer that needs nothing but its wheel."""

import subprocess
import sys

from activities.model.tokens import count, count_prompt
from workflows.kinds.kind import Prompt

PROMPT = Prompt(
    system="You review.", user="会议纪要 " * 900, schema_name="x", schema={}, max_output_tokens=1
)


def test_counts_are_those_of_the_vocabulary() -> None:
    assert count("") == 0
    assert count("hello world") == 2
    assert count("会议") == 1
    assert count("The quick brown fox jumps over the lazy dog.") == 10
    assert count("a" * 100_000) == 12_500


def test_a_long_text_costs_the_sum_of_its_pieces_every_time() -> None:
    text = "one two three\n" * 2_000
    assert count(text) == count(text) == 2_000 * count("one two three\n")


def test_what_no_encoder_can_hold_is_counted_too() -> None:
    assert count("a\ud800b") == count("a\ufffdb")
    assert count("<|endoftext|>") > 1


def test_a_prompt_counts_its_messages_and_a_little_for_each() -> None:
    assert count(PROMPT.user) < count_prompt(PROMPT) < count(PROMPT.user) + 20


def test_it_works_without_network_and_without_a_slow_import() -> None:
    script = (
        "import socket, sys\n"
        "def refuse(*_args, **_named): raise AssertionError('network')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from activities.model.tokens import count\n"
        "assert 'bpe_openai._bindings' not in sys.modules\n"
        "assert count('hello world') == 2\n"
        "assert 'bpe_openai' not in sys.modules\n"
        "import bpe_openai\n"
        "assert len(bpe_openai.get_encoding('o200k_base').encode('hello world')) == 2\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
