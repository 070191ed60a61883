"""Texts of templates are the same, looked up when a template is compiled or at each look."""

from __future__ import annotations

import jinja2
import pytest

from api.pages import render
from api.pages.folding import fold_texts
from api.texts import text

WORDS = {
    "All": "全部",
    "at 5%%": "按 5%%",
    "quick & <b>": "快 & <b>",
    "a\nb": "甲\n乙",
    "%(x)s of <b>": "<b>：%(x)s、%(x)s，5%%",
}
TEMPLATES = (
    '{{ _("All") }}',
    "<a title=\"{{ _('All') }}\">{{ x }}{{ _(\"All\") }} · {{ _('quick & <b>') }}</a>",
    '{{ _("at 5%%") }} {{ _("unknown to it") }}',
    '{{ _("All") if x else "<none>" }} {{ ("<" ~ _("All")) }} {{ _("All") | upper | length }}',
    '{% set all = _("All") %}{{ all }}{{ {"_": _("All")}["_"] }}',
    "{{ _('All').upper() }}{{ _('a\\nb') }}",
    '{{ _("All %(x)s", x=x) }}{{ _(x) }}{{ _("All", x=x) }}{{ [_, _] | length }}',
    '{{ _("%(x)s of <b>", x=x) }}{{ _("%(x)s of <b>", x=_("All")) }}{{ _("at 5%%", x=1) }}',
    '{{ _("%(x)s of <b>", x=_("%(x)s of <b>", x=[x, 1] | join(", "))) }}',
    '{{ ("<" ~ _("%(x)s of <b>", x=x)) }}{{ _("%(x)s of <b>", x=x).upper() | length }}',
    '{% trans %}All{% endtrans %}{% macro m(a=_("All")) %}{{ a }}{% endmacro %}{{ m() }}',
    "_('All') {# _('All') #}",
)


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    made.install_gettext_callables(  # type: ignore[attr-defined]
        _wording, lambda one, many, _: one, newstyle=True
    )
    return made


def _wording(msgid: str) -> str:
    return WORDS.get(msgid, msgid)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_text_is_what_it_was_before_it_was_folded(template: str) -> None:
    plain, folded = _environment(), _environment()
    fold_texts(folded, _wording)
    shown = [made.from_string(template).render(x="<&") for made in (plain, folded)]
    assert shown[0] == shown[1]


def test_a_folded_text_is_looked_up_once() -> None:
    asked: list[str] = []
    made = _environment()

    def wording(msgid: str) -> str:
        asked.append(msgid)
        return WORDS[msgid]

    fold_texts(made, wording)
    template = made.from_string(
        '{% for n in range(3) %}{{ _("All") }}{{ _("a\\nb", n=n) }}{% endfor %}'
    )
    assert template.render() == template.render() == "全部甲\n乙" * 3
    assert asked == ["All", "a\nb"]


@pytest.mark.parametrize("locale", text.available())
def test_the_pages_fold_their_texts_in_their_own_language(locale: str) -> None:
    shown = render.environment(locale).from_string('{{ _("Needs you") }}').render()
    assert shown == text.catalogue(locale).text("Needs you")
    assert (shown == "Needs you") == (locale == text.DEFAULT)
