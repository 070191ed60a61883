"""Which encodings are read, and what is refused rather than guessed."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from api.reading.encodings import decode
from api.reading.parsed import Unreadable, Why

CHINESE = "张三：我们周五上线新版本，价格是二十五元。\n李四：好的，没有问题。\n"
COLLEGI = "El col·legi té 90 m² a 5°C, 1½ hores, el 2º pis: «sí», ¿no? As ações põem 3±1.\n"
WESTERN = "Müller: Größe geprüft, Café à côté, señor Ruiz stimmt zu.\n"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (CHINESE.encode(), "utf-8", CHINESE),
        (CHINESE.encode("utf-8-sig"), "utf-8", CHINESE),
        (b"\xff\xfe" + CHINESE.encode("utf-16-le"), "utf-16-le", CHINESE),
        (b"\xfe\xff" + CHINESE.encode("utf-16-be"), "utf-16-be", CHINESE),
        (CHINESE.encode("gb18030"), "gb18030", CHINESE),
        (WESTERN.encode("latin-1"), "latin-1", WESTERN),
        (COLLEGI.encode("latin-1"), "latin-1", COLLEGI),
        ("Le cœur a coûté 5 €".encode("cp1252"), "windows-1252", "Le cœur a coûté 5 €"),
        ("It’s “done” – she said".encode("cp1252"), "windows-1252", "It’s “done” – she said"),
    ],
)
def test_an_encoding_is_found(data: bytes, encoding: str, text: str) -> None:
    found = decode(data)
    assert (found.encoding, found.text) == (encoding, text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("張三：我們週五上線新版本，價格是二十五元。".encode("big5"), Why.ENCODING_UNKNOWN),
        ("金曜日に新しいバージョンを公開します。".encode("shift_jis"), Why.ENCODING_UNKNOWN),
        ("金曜日に新しいバージョンを公開します。".encode("euc_jp"), Why.ENCODING_UNKNOWN),
        ("금요일에 새 버전을 출시합니다. 가격은".encode("euc_kr"), Why.ENCODING_UNKNOWN),
        ("Мы выпускаем новую версию в пятницу.".encode("koi8_r"), Why.ENCODING_UNKNOWN),
        ("Мы выпускаем новую версию в пятницу.".encode("cp1251"), Why.ENCODING_UNKNOWN),
        ("Pan Wałęsa potwierdził, że spotkanie odbyło się".encode("latin2"), Why.ENCODING_UNKNOWN),
        ("Meeting notes of Monday, sent to Łukasz Kot".encode("latin2"), Why.ENCODING_UNKNOWN),
        ("Jednání proběhlo v pátek, příště žádná změna".encode("latin2"), Why.ENCODING_UNKNOWN),
        ("Az értekezlet jövő pénteken lesz".encode("latin2"), Why.ENCODING_UNKNOWN),
        ("Toplantı cuma günü yapıldı, görüş bildirildi".encode("latin5"), Why.ENCODING_UNKNOWN),
        ("Die Sitzung in Köln war schön und kurz".encode("mac_roman"), Why.ENCODING_UNKNOWN),
        ("Das Mädchen wird älter".encode("mac_roman"), Why.ENCODING_UNKNOWN),
        (CHINESE.encode("utf-16-le"), Why.ENCODING_UNKNOWN),
        ("一切都好".encode("utf-16-le"), Why.ENCODING_UNKNOWN),
        ("一二三四五六七\r\n第一条".encode("utf-16-be"), Why.ENCODING_UNKNOWN),
        ("Ana: we ship on Friday".encode("utf-16-be"), Why.ENCODING_UNKNOWN),
        (WESTERN.encode("utf-16-le"), Why.ENCODING_UNKNOWN),
        (b"Ana: he\0llo!", Why.NUL),
        (bytes(range(256)) * 4, Why.NUL),
        (WESTERN.encode("latin-1") + "Müller".encode(), Why.ENCODING_UNKNOWN),
        (CHINESE.encode() + CHINESE.encode("gb18030")[:30], Why.ENCODING_MIXED),
        (b"\xff\xfe" + CHINESE.encode("utf-16-le")[:-1], Why.ENCODING_MIXED),
        (CHINESE.encode("utf-32"), Why.ENCODING_UNKNOWN),
        (b"Ana: he\0llo", Why.NUL),
        (b"", Why.EMPTY),
        (b"\xef\xbb\xbf \n\t\n", Why.EMPTY),
    ],
)
def test_what_could_be_misread_is_refused_with_the_next_act(data: bytes, why: Why) -> None:
    with pytest.raises(Unreadable) as refused:
        decode(data)
    assert refused.value.why is why
    if why in (Why.ENCODING_UNKNOWN, Why.ENCODING_MIXED):
        assert "UTF-8" in refused.value.detail


def test_utf_16_without_its_mark_is_refused_by_name_and_read_when_named() -> None:
    for order in ("utf-16-le", "utf-16-be"):
        data = "Ana: we ship on Friday".encode(order)
        with pytest.raises(Unreadable) as refused:
            decode(data)
        assert refused.value.params["encodings"][0] == order
        assert f"--encoding {order}" in refused.value.detail
        assert decode(data, order).text == "Ana: we ship on Friday"


def test_why_utf_16_without_its_mark_is_not_guessed() -> None:
    """Zero bytes on one side only, every sign a letter: and it would have been the wrong order."""
    data = "第一季度一起一定".encode("utf-16-le")
    assert (data[0::2].count(0), data[1::2].count(0)) == (3, 0)
    assert all(sign.isalnum() for sign in data.decode("utf-16-be"))


def test_the_place_where_two_encodings_meet_is_named() -> None:
    with pytest.raises(Unreadable) as refused:
        decode(CHINESE.encode() + "价格".encode("gb18030"))
    assert refused.value.params["line"] == 3
    assert refused.value.params["position"] == len(CHINESE.encode())


def test_a_named_encoding_is_taken_or_refused_but_never_replaced() -> None:
    big5 = "張三：我們週五上線".encode("big5")
    assert decode(big5, "big5").text == "張三：我們週五上線"
    for name in ("ascii", "no-such", "hex", "utf-8", "punycode", "unicode_escape", "idna", "a\0b"):
        with pytest.raises(Unreadable) as refused:
            decode(big5, name)
        assert refused.value.why is Why.ENCODING_WRONG


@settings(max_examples=30, deadline=None)
@given(text=st.text(min_size=1).filter(lambda t: t.replace("\ufeff", "").strip() and "\0" not in t))
def test_utf_8_comes_back_as_it_was(text: str) -> None:
    assert decode(b"\xef\xbb\xbf" + text.encode()).text == text
    assert decode(b"\xff\xfe" + text.encode("utf-16-le")).text == text


@settings(max_examples=30, deadline=None)
@example(data=b"\x1c")  # blank, though no line break and no space
@given(data=st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(Unreadable):
        assert decode(data).text.strip()
