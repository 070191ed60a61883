"""The switches of language and theme, without script."""

from __future__ import annotations

from tests.api.harness import Api
from tests.pages.forms import Browser


async def test_the_switches_of_language_and_theme_are_remembered(api: Api) -> None:
    browser = Browser(api.client)
    api.client.cookies.clear()
    form = await browser.form("/runs?q=a", "/preferences")
    answer = await browser.send(form, language="zh_Hans")
    assert (answer.status_code, answer.headers["location"]) == (303, "/runs?q=a")
    await browser.send(form, theme="dark")
    shown = (await browser.open("/runs")).text
    assert '<html lang="zh-Hans"' in shown
    assert 'data-theme="dark"' in shown
    assert "还没有运行。" in shown
    await browser.send(form, language="tlh", theme="neon", back="//elsewhere.example")
    assert '<html lang="zh-Hans"' in (await browser.open("/runs")).text
    assert '<html lang="en"' in (await browser.open("/runs?lang=en")).text
    assert '<html lang="en"' in (await browser.open("/runs")).text  # the address is remembered
    api.client.cookies.clear()
    assert "没有等待您处理的事项。" in (await browser.open("/queue?lang=zh-TW")).text
    api.client.cookies.clear()
