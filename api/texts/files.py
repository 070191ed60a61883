"""Sentences about files: why one cannot be read, what of it was set right, what was left out.

As in `codes`, whose families they are.
"""

from __future__ import annotations

from collections.abc import Mapping

Wordings = Mapping[str, tuple[str, ...]]


def N_(msgid: str) -> str:
    """Marks a string for extraction."""
    return msgid


UNREADABLE: Wordings = {
    "empty": (N_("This file is empty; look whether it is the right one."),),
    "nothing_said": (N_("There is no text in this file; look whether it is the right one."),),
    "encoding_unknown": (
        N_("The encoding of this file cannot be told. Save it as UTF-8 and choose it again."),
    ),
    "encoding_mixed": (
        N_(
            "This file mixes two encodings, at line {line}, or is damaged. Open it in an editor "
            "and save it as UTF-8."
        ),
        N_("This file mixes two encodings, or is damaged. Save it as UTF-8."),
    ),
    "encoding_wrong": (N_("This file is not in the encoding that was named for it."),),
    "zip_bomb": (
        N_(
            "This file would unpack to far more than is read. Save the text without pictures, or "
            "as plain text."
        ),
    ),
    "docx_broken": (
        N_(
            "This Word file is damaged or not whole. Copy it anew from where it came, or open it "
            "in Word and save it again, or as plain text."
        ),
    ),
    "docx_locked": (N_("This file is protected by a password; save it without one."),),
    "xml_entities": (
        N_(
            "This file holds declarations that no word processor writes, and was not opened. Open "
            "it in Word and save it again."
        ),
    ),
    "html_broken": (N_("This HTML cannot be read; save it as plain text."),),
    "json_broken": (N_("This JSON cannot be read: {detail}"),),
    "one_draft": (N_("A draft is pasted and one is a file, or there are two; keep one."),),
    "unsupported": (
        N_(
            "What is in this file is {found}, which is not read here. Text, Markdown, DOCX, HTML, "
            "VTT, SRT and JSON are; recordings have a field of their own."
        ),
        N_(
            "A file of this kind is not read. Text, Markdown, DOCX, HTML, VTT, SRT and JSON are; "
            "recordings have a field of their own."
        ),
    ),
    "not_audio": (
        N_("This is no recording of a known format (wav, mp3, m4a, ogg, flac, mp4, webm)."),
    ),
    "no_sound": (N_("This video has no sound."),),
    "broken": (N_("The recording is broken: its sound cannot be decoded."),),
    "too_short": (N_("The recording is too short to hold a word."),),
    "too_long": (N_("The recording is longer than 4 hours."),),
    "silent": (N_("Nothing is to be heard in this recording."),),
    "slow": (N_("The recording could not be read in time; try again."),),
}

FOUND: Wordings = {
    "pdf": (N_("a PDF"),),
    "old_word": (N_("an old Word file or one with a password"),),
    "rtf": (N_("an RTF file"),),
    "zip": (N_("a ZIP or another Office file"),),
    "empty_zip": (N_("an empty ZIP"),),
    "picture": (N_("a picture"),),
    "recording": (N_("a recording"),),
    "compressed": (N_("a compressed file"),),
    "database": (N_("a database"),),
}
"""What a file that is not read is."""

FORMAT: Wordings = {
    "text": (N_("Plain text"),),
    "markdown": ("Markdown",),
    "vtt": ("WebVTT",),
    "srt": ("SRT",),
    "json": (N_("JSON transcript"),),
    "data": (N_("JSON data"),),
    "docx": (N_("Word document"),),
    "html": ("HTML",),
}

VENDOR: Wordings = {
    "zoom": ("Zoom",),
    "teams": ("Teams",),
    "feishu": (N_("Feishu"),),
    "tencent": (N_("Tencent Meeting"),),
    "turns": (N_("Speakers and times"),),
}

REPAIR: Wordings = {
    "out_of_order": (N_("lines whose time runs backwards; they stay where they stand"),),
    "ends_before_it_begins": (N_("lines that end before they begin; the end was dropped"),),
    "blank_line_in_cue": (N_("blank lines inside a caption, closed up"),),
    "empty_cue": (N_("captions without words"),),
    "empty_turn": (N_("turns without words"),),
    "unsafe_attribute": (N_("attributes that could run or load something, removed"),),
    "other_format_than_named": (N_("the content is of another format than the name says"),),
}

LEFT_OUT: Wordings = {
    "identifier": (N_("Number of a caption"),),
    "header": (N_("Head of the file"),),
    "footer": (N_("Foot of the page"),),
    "comments": (N_("Comments"),),
    "image": (N_("Picture"),),
    "field": (N_("Field"),),
    "note": (N_("Note"),),
    "style": (N_("Styles"),),
    "region": (N_("Region"),),
    "script": (N_("Script"),),
    "iframe": (N_("Embedded page"),),
    "not_understood": (N_("Not understood"),),
}

WORDINGS: Mapping[str, Wordings] = {
    "found": FOUND,
    "format": FORMAT,
    "vendor": VENDOR,
    "repair": REPAIR,
    "left_out": LEFT_OUT,
}

MISSING: Wordings = {
    "nothing_heard": (N_("No word was heard: bring the transcript as its new version, resume."),),
    "template_missing": (
        N_("Its template is no more: put the file back, restart API and worker, then resume."),
    ),
    "kind_missing": (
        N_(
            "Its kind is not installed here: start API and worker with REDRAFT_KINDS_DIR set to the"
            " folder that has it, then resume."
        ),
    ),
    "recording_missing": (
        N_("The file of its recording is not in the folder: put it back, then resume."),
    ),
}
"""What a run needs from a person before it can go on."""
