"""A key is told from the names of models, variables and profiles."""

from __future__ import annotations

import pytest

from api.files.secret_texts import looks_secret


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-" + "ABCDEFghij0123456789abcdefXYZ",
        "my sk-proj-" + "abcdefghijklmnop",
        "sk-svcacct-" + "a_b-c1d2e3f4",
        "sk-" + "abcDEF0123456789ghiJKL0123456789abcDEF0123456789",
        "sk-" + "0a1b2c3d4e5f60718293a4b5c6d7e8f9",
        "sk-" + "Ab3-dEfG9hIjKlMnOpQrS1",
        "sk-" + "ant-api03-AbC_dEf-gHiJ",
        "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
        "sk-" + "550e8400-e29b-41d4-a716-446655440000",
        "gsk_" + "abcdEFGH12345678ijkl",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "AIza" + "SyA-1234567890abcdefghij_kl",
        "eyJhbGciOiJIUzI1NiJ9." + "eyJzdWIiOiIxMjM0In0.abc",
        "Bearer " + "abc123def456ghi789",
        "ABCD0123456789ABCD0123456789ABCD",
        "0123456789abcdef0123456789abcdef",
    ],
)
def test_a_key_is_told(text: str) -> None:
    assert looks_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        "default",
        "sk-model-2-instruct",
        "sk-llama3-70b-chat-20250514",
        "sk-Mixtral-8x7b-Instruct-v3",
        "sk-DeepSeek-R1-distill-70b",
        "sk-1234",
        "pk_summarizer_small_2026",
        "Careful lane 2",
        "ft:gpt-4o-mini-2024-07-18:my-org:custom-suffix:AbC123xy",
        "anthropic/claude-3-5-sonnet-20241022",
        "/models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf",
        "hf:NousResearch/Hermes-3-Llama-3.1-8B",
        "llama3@sha256:" + "365c0bd3c000a25d28ddbf732fe1c6add414de7275464c4e4d1c3b5fcb5d8ad1",
        "0d3a1c2e-1234-4bcd-9876-0123456789ab",
        "OPENAI_API_KEY",
        "MY_API_KEY_PRODUCTION_EU1",
        "HF_TOKEN_FOR_MODEL_TESTS_2026",
        "AZURE_OPENAI_KEY_EASTUS2",
    ],
)
def test_a_name_is_no_key(text: str) -> None:
    assert not looks_secret(text)
