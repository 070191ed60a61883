"""The help of all commands in Chinese, by its English."""

from __future__ import annotations

from collections.abc import Mapping

HELP: Mapping[str, str] = {
    "show this help message and exit": "显示此帮助并退出",
    "0 to 100 (default 90)": "0 至 100（默认 90）",
    "1 to 20 (default 5)": "1 至 20（默认 5）",
    "1 to 20, counted from the start": "1 至 20，从开头算起",
    "1 to 20 more at most after those done (default 2); the first that passes is the last": (
        "在已完成的轮次之后最多再加 1 至 20 轮（默认 2）；哪一轮通过就停在哪一轮"
    ),
    "1 to 200 (default 50)": "1 至 200（默认 50）",
    "Commands that talk to a running Redraft.": "与运行中的 Redraft 通信的命令。",
    "Markdown, text, DOCX, HTML; - is stdin. None: the run begins with a draft": (
        "Markdown、纯文本、DOCX、HTML；- 表示标准输入。不给文件：运行从起草开始"
    ),
    "The key is read from REDRAFT_API_KEY. An ID may be its beginning, "
    "for example as ./redraft runs prints it.": (
        "密钥取自 REDRAFT_API_KEY。ID 可以只写开头，例如 ./redraft runs 所显示的。"
    ),
    "Watching ends with 0 when the run waits for a person, also when a limit or somebody stopped "
    "it (the last lines say what comes next, --json has its status), with 4 when it failed.": (
        "运行等待人处理时，跟随以 0 结束，被限额或人停止时也一样"
        "（最后几行说明下一步，--json 给出状态）；运行失败时以 4 结束。"
    ),
    "a field of the kind, for example days=5 or cuisine=Thai,Greek; may be repeated; "
    "./redraft kinds show itinerary lists them": (
        "该类型的字段，例如 days=5 或 cuisine=Thai,Greek；可重复；"
        "./redraft kinds show itinerary 会列出全部字段"
    ),
    "a new document from a revision of a run": "用运行的某个修订建立新文档",
    "a passage that must stay": "必须保持不变的段落",
    "a run: status, limits, revisions, steps, issues; or a document's runs": (
        "一个运行的状态、限额、修订、步骤、问题；或一个文档的全部运行"
    ),
    "address of the API (REDRAFT_URL)": "API 的地址（REDRAFT_URL）",
    "an issue to be answered; repeatable": "须得到答复的问题；可重复",
    "another than the offered one": "确认的不是所提供的修订",
    "as ./redraft show prints it, for example I3": "如 ./redraft show 所显示，例如 I3",
    "before a deploy: nothing starts or resumes, what runs goes on": (
        "部署之前使用：不再开始或继续任何运行，进行中的照常"
    ),
    "check FOLDER: is it a usable kind? show NAME: its fields": (
        "check FOLDER：检查文件夹是否可用作类型；show NAME：列出其字段"
    ),
    "confirm this text instead": "改为确认这份文本",
    "default: standard output": "默认：标准输出",
    "default: the first heading, else the file's name": "默认：第一个标题，否则为文件名",
    "default: the offered one": "默认：所提供的修订",
    "default: the offered or best": "默认：所提供的或最佳的修订",
    "delete a document with everything that belongs to it": "删除文档及属于它的一切",
    "do not ask": "不询问",
    "do not ask before cancelling": "取消之前不询问",
    "en or zh (default: as LC_ALL or LANG says)": "en 或 zh（默认：按 LC_ALL 或 LANG）",
    "end a run for good": "永久结束一个运行",
    "every run that the action can move": "此操作适用的全部运行",
    "every running run": "所有进行中的运行",
    "follow a run until it waits or ends": "跟随一个运行，直到它等待或结束",
    "follow until it waits or ends": "跟随，直到等待或结束",
    "for all later rounds, no issue": "用于以后各轮，不作为问题",
    "go on with an interrupted or failed run": "继续已中断或失败的运行",
    "go on with another profile": "改用另一配置继续",
    "go on with this edited text": "用这份修改过的文本继续",
    "interrupt, resume or cancel many runs, by ids or by a filter": (
        "按 ID 或筛选条件中断、继续或取消多个运行"
    ),
    "its id, or the end of it": "其 ID，或 ID 的末尾",
    "kept with each run": "随每个运行保存",
    "kept with the event": "随事件保存",
    "kind of document (default: minutes)": "文档类型（默认：minutes）",
    "language of the document, for example en or zh": "文档的语言，例如 en 或 zh",
    "list runs, newest first": "列出运行，最新的在前",
    "make documents from files, or from a request, and run them": ("用文件或需求建立文档并运行"),
    "may be repeated": "可重复",
    "md, docx, html, json or ics (default: by the file)": (
        "md、docx、html、json 或 ics（默认：按文件）"
    ),
    "model calls of a run, or without ID the newest of all runs": (
        "一个运行的模型调用；不给 ID 则为所有运行的最新调用"
    ),
    "model profile (default: default)": "模型配置（默认：default）",
    "model profiles: list them, show one, check or add one": ("模型配置：列出、查看、检查或添加"),
    "of a document, or of one of its runs": "文档的 ID，或其某个运行的 ID",
    "of a draft: general, project-meeting, decision-log, one of the service's own, or a "
    "Markdown file with the headings": (
        "起草所用：general、project-meeting、decision-log、服务自有的模板，或含标题的 Markdown 文件"
    ),
    "of a run or a document": "运行或文档的 ID",
    "of calls, tokens, cost or seconds, for example cost=1.50; none removes it; may be repeated": (
        "调用、token、费用或秒数的限额，例如 cost=1.50；none 表示取消限额；可重复"
    ),
    "of the files, when it is not found out (big5, …)": "文件的编码，无法自动识别时给出（big5 等）",
    "only this kind": "只看此类型",
    "only with this tag": "只看带此标签的",
    "passages that no round may change; --remove frees one": (
        "任何一轮都不得改动的段落；--remove 解除其中一处"
    ),
    "past this guardrail stop, once": "仅此一次越过护栏",
    "print JSON": "输出 JSON",
    "recording that is heard first (wav, mp3, m4a, ogg, flac, the sound of mp4 or webm)": (
        "先行转写的录音（wav、mp3、m4a、ogg、flac，或 mp4、webm 的声音）"
    ),
    "refuse the result": "拒绝结果",
    "send the offered text back for more rounds": "把所提供的文本退回，再做几轮",
    "show: a profile; check, add: a JSON file as /docs has it, - is standard input": (
        "show：配置名；check、add：/docs 所述的 JSON 文件，- 表示标准输入"
    ),
    "shown to everybody who is refused, for example “back at nine”": (
        "显示给每个被拒绝的人，例如“九点恢复”"
    ),
    "shown to whoever resumes it": "显示给继续此运行的人",
    "start a run of the new document": "立即运行新文档",
    "stop a running run; it can be resumed": "停止进行中的运行；以后可以继续",
    "take an issue of a run out, with a reason; --undo opens it again": (
        "豁免运行的一个问题并写明理由；--undo 使其重新打开"
    ),
    "take the offered revision as the result": "把所提供的修订作为结果",
    "the issue stands again": "问题重新成立",
    "the revision it is an edit of": "所修改的是哪个修订",
    "the text of a run or document": "导出运行或文档的文本",
    "transcript or notes (also VTT, SRT), or reference data (JSON), to check against; "
    "may be repeated": "据以核对的转写稿或记录（也可为 VTT、SRT），或参考数据（JSON）；可重复",
    "what is to be written, in your own words: a trip from this; - is stdin": (
        "用自己的话说明要写什么，例如据此安排行程；- 表示标准输入"
    ),
    "whole ids, or their beginnings": "完整的 ID，或其开头",
    "why it is none; kept with the issue": "为何不成问题；随问题保存",
    "without ID: 1 to 200 (default 50)": "不给 ID 时：1 至 200（默认 50）",
    "what a day or more cost, by day, kind, model and profile": (
        "一天或多天的费用，按天、类型、模型和配置"
    ),
    "YYYY-MM-DD, today or yesterday (default: today)": (
        "YYYY-MM-DD、today 或 yesterday（默认：今天）"
    ),
    "from this day on": "从这一天起",
    "with --since: the last day (default: today)": "与 --since 同用：最后一天（默认：今天）",
    "only this model profile": "只看此模型配置",
    "words in title or text": "标题或正文中的词",
    # The parts.
    "Serves the API and the pages until SIGTERM or SIGINT.\n"
    "It joins a stack by its variables; `./redraft up` writes them into the file `env`.": (
        "提供 API 和页面，直到 SIGTERM 或 SIGINT。\n"
        "通过变量加入一套服务；`./redraft up` 把这些变量写入文件 `env`。"
    ),
    "Runs one worker until SIGTERM or SIGINT: it takes steps of runs and asks the models.\n"
    "It joins a stack by its variables; `./redraft up` writes them into the file `env`.": (
        "运行一个工作进程，直到 SIGTERM 或 SIGINT：它执行运行的步骤并调用模型。\n"
        "通过变量加入一套服务；`./redraft up` 把这些变量写入文件 `env`。"
    ),
    "Brings the database to this version's schema and grants the application role.\n"
    "Nothing half-done is kept; it can be run again, and two at once are safe.": (
        "把数据库升级到本版本的结构，并授权应用角色。\n"
        "不会留下做到一半的改动；可重复执行，两个同时执行也安全。"
    ),
    "needed": "必需",
    "Postgres, application role": "Postgres，应用角色",
    "Postgres, owner, for migrate (default: the same)": (
        "Postgres，所有者，供 migrate 使用（默认：同上）"
    ),
    "Temporal frontend": "Temporal 前端",
    "Temporal namespace": "Temporal 命名空间",
    "Temporal Web, for links": "Temporal Web，用于链接",
    "model server of the first profile": "第一个配置的模型服务器",
    "model of the first profile `default`": "第一个配置 `default` 的模型",
    "rounds a worker runs at once": "一个工作进程同时进行的轮次",
    "port of the worker's /healthz, 0 = off": "工作进程 /healthz 的端口，0 = 关闭",
    "folder with further kinds": "存放其他类型的文件夹",
    "folder with own templates of minutes, NAME.md": "存放自有纪要模板（NAME.md）的文件夹",
    "DEBUG, INFO, WARNING, ERROR": "日志级别：DEBUG、INFO、WARNING、ERROR",
    "address the API binds": "API 监听的地址",
    "port of the API": "API 的端口",
    "key that client commands send": "客户端命令发送的密钥",
    "further Host names the API answers to, by comma": "API 接受的其他主机名，用逗号分隔",
    # The stack.
    "of the stack to look at": "所检查的服务的数据文件夹",
    "print the findings as JSON": "以 JSON 输出检查结果",
    "`./redraft doctor`: looks at everything Redraft needs and says what to do.\n\n"
    "It reads and asks; it changes nothing. Exit code 0 when nothing failed, else 1.\n": (
        "查看 Redraft 所需的一切并说明该怎么办。"
        "只读取和询问，不作改动。全部正常时退出码为 0，否则为 1。"
    ),
    "where everything is kept (default: REDRAFT_DATA_DIR, else ~/.local/share/redraft or "
    "$XDG_DATA_HOME/redraft; root: /var/lib/redraft)": (
        "存放全部数据的文件夹（默认：REDRAFT_DATA_DIR，否则为 ~/.local/share/redraft 或 "
        "$XDG_DATA_HOME/redraft；root：/var/lib/redraft）"
    ),
    "start the stack": "启动整套服务",
    "Without a key the offline model answers. REDRAFT_OFFLINE_TOKENS_PER_SECOND sets its pace; "
    "OFFLINE_STOP_AFTER_ITEMS=2 lets it end each answer to a draft after two days or sections, so "
    "that the continuation can be seen.": (
        "没有密钥时由离线模型应答。REDRAFT_OFFLINE_TOKENS_PER_SECOND 设定其速度；"
        "OFFLINE_STOP_AFTER_ITEMS=2 使它每次起草两天或两个章节就停下，以便观察续写。"
    ),
    "address the pages bind": "页面监听的地址",
    "port of the pages (8430, or next free)": "页面的端口（8430，或其后第一个空闲端口）",
    "worker processes (1)": "工作进程数（1）",
    "start none": "不启动工作进程",
    "start neither API nor pages": "不启动 API 和页面",
    "load no sample meeting": "不载入示例会议",
    "a Postgres that exists": "已有的 Postgres",
    "a Temporal that exists": "已有的 Temporal",
    "recognise speech here (English; installs more)": "在本机识别语音（英语；需另行安装）",
    "stop the stack": "停止整套服务",
    "what runs, and whether it answers": "什么在运行，是否有应答",
    "for programs": "供程序使用",
    "delete all data": "删除全部数据",
    "write all data to one file": "把全部数据写入一个文件",
    "replace a file that is there": "替换已有的文件",
    "a Postgres that is not embedded": "非内置的 Postgres",
    "read it back": "从备份恢复",
    "replace the data that is there": "替换已有的数据",
}
