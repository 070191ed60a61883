"""Wrong owners and terms, and decisions that nobody took, in minutes of real meetings."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from tests.evaluate.corruptions import STRANGERS, Wrong
from tests.evaluate.truths import Truths

STRANGERS_ZH = ("钱卫东", "孟晓燕", "崔建国", "江一鸣", "程雪梅")
TASKS = ("write the report", "send the figures to everybody", "book the room", "call the supplier")
TASKS_ZH = ("撰写报告", "把数据发给大家", "预订会议室", "联系供应商")
_TERM = re.compile(r"\b(?:EIP-?\d{3,4}|[A-Z]{3,6})\b")


def action_list(truths: Truths) -> str:
    """Actions that people of the meeting own: nothing in them is wrong."""
    people = _people(truths)
    chinese = truths.material.language == "zh"
    tasks = TASKS_ZH if chinese else TASKS
    colon, head = ("：", "## 行动项") if chinese else (":", "## Actions")
    items = [
        f"- **{person}**{colon}{'' if chinese else ' '}{task}"
        for person, task in zip(people, tasks, strict=False)
    ]
    return "\n".join([head, "", *items]) if items else ""


def strange_owners(truths: Truths, seed: int = 1) -> Iterator[Wrong]:
    """The same list, once with a stranger in bold and once in a table's column."""
    dice = random.Random(f"{seed}{truths.name}owner")
    body, people = action_list(truths), _people(truths)
    if not body:
        return
    chinese = truths.material.language == "zh"
    for person in people[:2]:
        what = dice.choice(STRANGERS_ZH if chinese else STRANGERS)
        yield _wrong(truths, "owner", body.replace(f"**{person}**", f"**{what}**"), what, person)
    what = dice.choice(STRANGERS_ZH if chinese else STRANGERS).split()[0]
    head = "| 任务 | 负责人 |" if chinese else "| Task | Owner |"
    title = body.splitlines()[0]
    table = f"{title}\n\n{head}\n|---|---|\n| {(TASKS_ZH if chinese else TASKS)[0]} | {what} |\n"
    yield _wrong(truths, "owner", table, what, people[0])


def strange_terms(truths: Truths, seed: int = 1) -> Iterator[Wrong]:
    """Acronyms and identifiers with two letters or digits in another order."""
    if not truths.cased:
        return
    source = "".join(one.text for one in truths.material.sources).replace("_", "")
    for statement in truths.statements:
        dice = random.Random(f"{seed}{statement}term")
        for found in _TERM.finditer(statement):
            letters = list(found.group())
            start = next((at for at, one in enumerate(letters) if one.isdigit()), 0)
            tail = letters[start:]
            dice.shuffle(tail)
            what = "".join([*letters[:start], *tail])
            if what != found.group() and what.lower() not in source.lower():
                body = statement[: found.start()] + what + statement[found.end() :]
                yield _wrong(truths, "term", body, what, found.group())


def foreign_decisions(all_: tuple[Truths, ...], truths: Truths) -> Iterator[Wrong]:
    """What another meeting of the same language said, as a decision of this one."""
    for other in all_:
        same = other.material.language == truths.material.language
        if other.name == truths.name or not same or not (other.cased and other.tuned):
            continue
        for statement in other.statements[::5]:
            if len(statement) > 60:
                yield _wrong(truths, "decision", f"## Decisions\n\n- {statement}\n", statement, "")


def _people(truths: Truths) -> list[str]:
    if truths.material.language == "zh":
        names = re.findall(r"[赵钱孙李周吴郑王刘陈][\u4e00-\u9fff](?:老师|校长|总)", _text(truths))
        return list(dict.fromkeys(names))[:4]
    speakers = re.findall(r"^([A-Z][A-Za-z. ]{2,30}):", _text(truths), re.MULTILINE)
    return list(dict.fromkeys(speakers))[:4]


def _text(truths: Truths) -> str:
    return "\n".join(source.text for source in truths.material.sources)


def _wrong(truths: Truths, fact: str, body: str, what: str, right: str) -> Wrong:
    return Wrong(
        fact=fact,
        name=truths.name,
        material=truths.material,
        body=body,
        what=what,
        right=right,
        tuned=truths.tuned,
    )
