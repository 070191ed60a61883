"""The help of commands in the language of the terminal: `--lang`, else LC_ALL, LC_MESSAGES, LANG.

English stands in the parsers; Chinese in `deploy.help_zh`. A test holds that nothing is missing.
"""

from __future__ import annotations

import argparse
import functools
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

_HELP = "show this help message and exit"
_USAGE, _PLACES, _OPTIONS = "用法：", "参数", "选项"
_FAULTS = (
    (r"the following arguments are required: (.*)", r"缺少参数：\1"),
    (r"unrecognized arguments: (.*)", r"不认识的参数：\1"),
    (
        r"argument (.*?): invalid choice: (.*?) \(choose from (.*)\)",
        r"参数 \1：没有 \2（可选：\3）",
    ),
    (r"argument (.*?): expected one argument", r"参数 \1：需要一个值"),
    (r"argument (.*?): expected at least one argument", r"参数 \1：至少需要一个值"),
    (r"argument (.*?): invalid int value: (.*)", r"参数 \1：\2 不是整数"),
    (
        r"argument (.*?): (.*) is no whole number from (\d+) to (\d+)",
        r"参数 \1：\2 不是 \3 至 \4 的整数",
    ),
    (r"argument (.*?): not allowed with argument (.*)", r"参数 \1：不能与 \2 同用"),
    (r"ambiguous option: (.*?) could match (.*)", r"选项 \1 不明确，可能是 \2"),
)
"""What argparse says of a command line that does not fit, and its Chinese."""


def wants_chinese(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Looked for before anything is parsed: help ends the parsing."""
    asked = next(
        (environ[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environ.get(name)), ""
    )
    for at, word in enumerate(words):
        if word == "--":
            break
        if word.startswith("--lang="):
            asked = word.partition("=")[2]
        elif word == "--lang" and at + 1 < len(words):
            asked = words[at + 1]
    return asked.lower().startswith("zh")


_spoken = {"chinese": False}


def speak(words: Sequence[str], environ: Mapping[str, str]) -> bool:
    """Once a command, before it says anything: whether its language is Chinese."""
    _spoken["chinese"] = wants_chinese(words, environ)
    return _spoken["chinese"]


def told(text: str) -> str:
    """A sentence of a command in its language; one that nobody translated stays as it is."""
    bare = text.strip()
    if not _spoken["chinese"] or not bare:
        return text
    for pattern, chinese in _sentences():
        if found := pattern.fullmatch(bare):
            return text.replace(bare, chinese.format(*found.groups()))
    return text


@functools.cache
def _sentences() -> tuple[tuple[re.Pattern[str], str], ...]:
    from deploy.said_zh import SAID

    made = []
    for english, chinese in SAID:
        pieces = map(re.escape, re.split(r"\{\d\}", english))
        made.append((re.compile("(.+?)".join(pieces), re.DOTALL), chinese))
    return tuple(made)


def say(text: str = "") -> None:
    """A line on standard output, in the language of the command."""
    sys.stdout.write(f"{told(text)}\n")
    sys.stdout.flush()


class _Chinese(argparse.HelpFormatter):
    def add_usage(
        self,
        usage: str | None,
        actions: object,
        groups: object,
        prefix: str | None = None,
    ) -> None:
        super().add_usage(usage, actions, groups, prefix or _USAGE)  # type: ignore[arg-type]


class RawChinese(_Chinese, argparse.RawDescriptionHelpFormatter):
    """Lines of description and epilog stay as they are."""


class Parser(argparse.ArgumentParser):
    """Says also what is wrong with a command line in Chinese, once that is its language."""

    is_chinese = False

    def error(self, message: str) -> NoReturn:
        if self.is_chinese:
            self.print_usage(sys.stderr)
            self.exit(2, f"{self.prog}：{fault_in_chinese(message)}\n")
        super().error(message)


def fault_in_chinese(message: str) -> str:
    """A sentence that nobody translated stays as it is."""
    for pattern, chinese in _FAULTS:
        if found := re.fullmatch(pattern, message, re.DOTALL):
            return found.expand(chinese)
    return message


def parsers_of(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """It and those of its commands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from parsers_of(one)


def listed(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """All that has help, also commands where they are listed."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action._choices_actions
        elif action.help and action.help != argparse.SUPPRESS:
            yield action


def say_in_chinese(
    parser: argparse.ArgumentParser, formatter: type[argparse.HelpFormatter] = _Chinese
) -> None:
    """Help of the parser and its commands; a text that nobody translated stays as it is."""
    from deploy.help_zh import HELP

    done = set[int]()
    for one in parsers_of(parser):
        one.formatter_class = formatter
        if isinstance(one, Parser):
            one.is_chinese = True
        one._positionals.title, one._optionals.title = _PLACES, _OPTIONS
        one.description = HELP.get(one.description or "", one.description)
        one.epilog = HELP.get(one.epilog or "", one.epilog)
        for action in listed(one):
            if id(action) not in done:  # parsers share the options of all
                done.add(id(action))
                action.help = HELP.get(action.help or "", action.help)
