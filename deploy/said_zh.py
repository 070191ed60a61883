"""What the commands of the stack and the doctor say, in Chinese, by its English.

`{0}` is a place; the first sentence that fits is taken, so those with fewer words stand last.
"""

from __future__ import annotations

SAID: tuple[tuple[str, str], ...] = (
    # up
    ("Redraft is ready.", "Redraft 已就绪。"),
    ("Pages         not started (--no-api)", "页面          未启动（--no-api）"),
    ("Pages         {0}", "页面          {0}"),
    ("Sample        {0}", "示例          {0}"),
    ("Temporal Web  not ours", "Temporal Web  不由本服务提供"),
    (
        "Model         the offline model (rules, no language model)",
        "模型          离线模型（只有规则，不是语言模型）",
    ),
    ("Model         {0}", "模型          {0}"),
    (
        "Temporal      {0} (gRPC, for TEMPORAL_ADDRESS); other ports: web {1}, HTTP {2}",
        "Temporal      {0}（gRPC，供 TEMPORAL_ADDRESS）；其他端口：页面 {1}，HTTP {2}",
    ),
    ("Speech        {0}", "语音          {0}"),
    ("Postgres      runs as {0} (never as root)", "Postgres      以 {0} 运行（从不用 root）"),
    ("Data          {0} (logs in logs/)", "数据          {0}（日志在 logs/）"),
    ("Data          {0}", "数据          {0}"),
    (
        "Join it       set -a; . {0}; set +a   (then ./redraft submit, runs, status …)",
        "加入          set -a; . {0}; set +a   （然后 ./redraft submit、runs、status …）",
    ),
    (
        "Stop with Ctrl-C, or with ./redraft down --data-dir {0} in another terminal.",
        "按 Ctrl-C 停止，或在另一个终端执行 ./redraft down --data-dir {0}。",
    ),
    (
        "Stop with Ctrl-C, or with ./redraft down in another terminal.",
        "按 Ctrl-C 停止，或在另一个终端执行 ./redraft down。",
    ),
    (
        "For a real model set OPENAI_API_KEY (and OPENAI_BASE_URL, REDRAFT_MODEL).",
        "要用真实模型，请设置 OPENAI_API_KEY（以及 OPENAI_BASE_URL、REDRAFT_MODEL）。",
    ),
    (
        "Pages and API ask for a key: any name, and as password REDRAFT_API_KEY of {0}. Put a "
        "proxy that speaks TLS before other networks.",
        "页面和 API 需要密钥：用户名任意，密码为 {0} 中的 REDRAFT_API_KEY。"
        "面向其他网络时，请在前面放置支持 TLS 的代理。",
    ),
    ("Stopping … (Ctrl-C again to hurry)", "正在停止 …（再按一次 Ctrl-C 立即停止）"),
    (
        "Stopped. The data stays; ./redraft up goes on where it was.",
        "已停止。数据保留；下次 ./redraft up 从原处继续。",
    ),
    ("{0}\n\nThe stack was stopped.", "{0}\n\n整套服务已停止。"),
    ("Making the database …", "正在建立数据库 …"),
    ("{0} is still starting (logs in {1}) …", "{0} 仍在启动（日志在 {1}）…"),
    ("The sample could not be loaded ({0}).", "示例未能载入（{0}）。"),
    (
        "Temporal's file is of another version and was moved to {0}; runs go on from their rows.",
        "Temporal 的文件属于另一版本，已移至 {0}；运行按数据库中的记录继续。",
    ),
    (
        "{0} after {1} s; starting it again ({2} of {3} in a minute)",
        "{0}（运行了 {1} 秒）；正在重新启动（一分钟内第 {2} 次，最多 {3} 次）",
    ),
    ("--workers {0}: give 0 to 64", "--workers {0}：请给 0 至 64"),
    ("--port {0}: give 1 to 65535", "--port {0}：请给 1 至 65535"),
    (
        "--database-url: must begin with postgresql://",
        "--database-url：须以 postgresql:// 开头",
    ),
    ("--temporal-address {0}: give HOST:PORT", "--temporal-address {0}：请给 HOST:PORT"),
    (
        "Port {0} on {1} is taken. Give another one with --port, or leave it out: then the next "
        "free one is used.",
        "{1} 的端口 {0} 已被占用。请用 --port 另给一个；不给则用下一个空闲端口。",
    ),
    # status, down, reset
    ("Stopped.", "已停止。"),
    (
        "No stack is up over {0} (./redraft {1} works on it).",
        "{0} 上没有服务在运行（./redraft {1} 正在使用它）。",
    ),
    ("No stack is up over {0}.", "{0} 上没有服务在运行。"),
    (
        "REDRAFT_URL is {0}: to see the stack behind it, name its folder with --data-dir DIR, the "
        "one that its ./redraft up was started with.",
        "REDRAFT_URL 为 {0}：要查看它背后的服务，请用 --data-dir 给出启动该服务时所用的文件夹。",
    ),
    ("answers", "有应答"),
    ("no answer", "无应答"),
    (
        "{0}port {1}, pid {2}, started again {3} times",
        "{0}端口 {1}，进程 {2}，已重新启动 {3} 次",
    ),
    ("{0}port {1}, pid {2}", "{0}端口 {1}，进程 {2}"),
    (
        "{0} is held by ./redraft {1}, process {2}, which cannot be stopped from here.",
        "{0} 正被 ./redraft {1}（进程 {2}）占用，无法从这里停止。",
    ),
    ("Process {0} still runs after {1} s.", "{1} 秒后进程 {0} 仍在运行。"),
    ("{0} does not exist; nothing to delete.", "{0} 不存在；没有可删除的内容。"),
    ("reset deletes everything in {0}: say so with --yes", "reset 会删除 {0} 中的一切：请加 --yes"),
    (
        "Delete all documents, runs and logs in {0}? Type yes:",
        "要删除 {0} 中的全部文档、运行和日志吗？请输入 yes：",
    ),
    ("Nothing was deleted in {0}.", "{0} 中什么也没有删除。"),
    ("The data in {0} is deleted.", "{0} 中的数据已删除。"),
    # backup, restore
    ("1 file", "1 个文件"),
    ("{0} files", "{0} 个文件"),
    (
        "Backup written to {0} ({1} MB, {2} of documents).",
        "备份已写入 {0}（{1} MB，含文档的{2}）。",
    ),
    (
        "{0} that documents name are not in {1}, so not in the backup. Are they elsewhere? Set "
        "REDRAFT_BLOB_URL to that folder, as for the stack.",
        "文档所引用的{0}不在 {1} 中，因此不在备份里。它们在别处吗？"
        "请像启动服务时一样，把 REDRAFT_BLOB_URL 设为该文件夹。",
    ),
    (
        "{0} that documents name are not in the backup; texts are.",
        "文档所引用的{0}不在备份里；文本都在。",
    ),
    (
        "The files of documents are in {0}: move them, or unset REDRAFT_BLOB_URL.",
        "文档的文件在 {0} 中：请移动它们，或取消 REDRAFT_BLOB_URL。",
    ),
    ("Restored {0} (made {1}) into {2}.", "已把 {0}（建于 {1}）恢复到 {2}。"),
    (
        "{0} holds no data of Redraft; nothing to back up.",
        "{0} 中没有 Redraft 的数据；没有可备份的内容。",
    ),
    (
        "{0} is a folder; name a file in it, for example {1}.",
        "{0} 是文件夹；请给出其中的文件名，例如 {1}。",
    ),
    (
        "{0} exists. Name another file, or give --force to replace it.",
        "{0} 已存在。请另给文件名，或用 --force 替换它。",
    ),
    (
        "There is no folder {0}; make it, or name a file elsewhere.",
        "没有文件夹 {0}；请建立它，或把文件放在别处。",
    ),
    (
        "Nothing can be written in {0}; name a file elsewhere.",
        "{0} 中无法写入；请把文件放在别处。",
    ),
    (
        "{0} is in use, and its database is not embedded or not up yet. Give --database-url, or "
        "try again when it is up.",
        "{0} 正在使用，且其数据库不是内置的或尚未启动。请给出 --database-url，或等启动后再试。",
    ),
    (
        "{0} is damaged: {1} of documents are not what was stored ({2}).",
        "{0} 已损坏：文档的{1}与存入时不同（{2}）。",
    ),
    (
        "{0} is damaged: its database is not what was written.",
        "{0} 已损坏：其中的数据库与写入时不同。",
    ),
    (
        "{0} was made by a newer Redraft (format {1}, Postgres {2}; this one reads up to format "
        "{3}, Postgres {4}). Use that version.",
        "{0} 由更新的 Redraft 建立（格式 {1}，Postgres {2}；本版本最多读格式 {3}，Postgres {4}）。"
        "请使用那个版本。",
    ),
    (
        "{0} cannot be written: {1}. Name a file elsewhere.",
        "{0} 无法写入：{1}。请把文件放在别处。",
    ),
    (
        "{0} holds data already. Name an empty folder with --data-dir, or give --force: then the "
        "backup takes its place.",
        "{0} 中已有数据。请用 --data-dir 给出空文件夹，或加 --force：备份将取代原有数据。",
    ),
    ("{0} is no whole backup of Redraft ({1}).", "{0} 不是完整的 Redraft 备份（{1}）。"),
    (
        "{0} is no backup of Redraft (it holds {1}).",
        "{0} 不是 Redraft 的备份（其中含有 {1}）。",
    ),
    ("{0} is no backup of Redraft.", "{0} 不是 Redraft 的备份。"),
    ("{0} cannot be read; restore a backup.", "{0} 无法读取；请恢复备份。"),
    (
        "{0} cannot be read; start as the account that owns it.",
        "{0} 无法读取；请用其所有者的账户启动。",
    ),
    ("{0} cannot be read: {1}.", "{0} 无法读取：{1}。"),
    (
        "{0} is not a data folder of Redraft; name the right one with --data-dir.",
        "{0} 不是 Redraft 的数据文件夹；请用 --data-dir 给出正确的文件夹。",
    ),
    (
        "{0} is not empty and holds no data of Redraft ({1}…). Name an empty folder with "
        "--data-dir.",
        "{0} 不是空文件夹，也没有 Redraft 的数据（{1}…）。请用 --data-dir 给出空文件夹。",
    ),
    (
        "{0} cannot be used: {1}. Name another with --data-dir.",
        "{0} 无法使用：{1}。请用 --data-dir 另给一个。",
    ),
    # doctor
    ("{0} failed, {1} warnings", "失败 {0} 项，警告 {1} 项"),
    ("all variables can be used", "所有变量均可使用"),
    ("up over {0}", "在 {0} 上运行"),
    (
        "no stack is up over the default data folder {0}",
        "默认数据文件夹 {0} 上没有服务在运行",
    ),
    ("no stack is up over {0}", "{0} 上没有服务在运行"),
    (
        "start it with ./redraft up, name the folder of one that is up with --data-dir DIR, or set "
        "REDRAFT_DATABASE_URL; REDRAFT_URL ({0}) does not say which folder that is",
        "用 ./redraft up 启动，或用 --data-dir 给出正在运行的服务的文件夹，或设置 "
        "REDRAFT_DATABASE_URL；REDRAFT_URL（{0}）并不说明是哪个文件夹",
    ),
    (
        "start it with ./redraft up, name the folder of one that is up with --data-dir DIR, or set "
        "REDRAFT_DATABASE_URL",
        "用 ./redraft up 启动，或用 --data-dir 给出正在运行的服务的文件夹，或设置 "
        "REDRAFT_DATABASE_URL",
    ),
    ("{0} GiB free for {1}", "{1} 可用空间 {0} GiB"),
    ("make room, or name another folder with --data-dir", "请腾出空间，或用 --data-dir 换文件夹"),
    ("a busy database needs more; make room soon", "繁忙的数据库需要更多空间；请尽快腾出"),
    ("{0} processors with {1}", "{0} 个处理器，支持 {1}"),
    (
        "install Python 3.11, 3.12 or 3.13 and delete .venv",
        "请安装 Python 3.11 至 3.13，并删除 .venv",
    ),
    (
        "a local model server will not run here; the offline model and remote ones do",
        "本机无法运行本地模型服务器；离线模型和远程模型可以",
    ),
    ("{0} s from here to the database", "本机与数据库的时钟相差 {0} 秒"),
    ("the database takes writes", "数据库可以写入"),
    ("at {0}, as this code needs", "结构为 {0}，与本程序一致"),
    ("at {0}, this code needs {1}", "结构为 {0}，本程序需要 {1}"),
    ("the database has no schema yet", "数据库还没有结构"),
    (
        "at {0}, newer than this code ({1})",
        "结构为 {0}，比本程序（{1}）新",
    ),
    ("start the newer code", "请启动较新的程序"),
    ("{0} may work and nothing more", "{0} 只有工作所需的权限"),
    (
        "no pooler in between: a worker's death can be proved",
        "中间没有连接池：可以证实工作进程已死亡",
    ),
    (
        "no transaction keeps rows of runs from the others",
        "没有事务长时间占住运行的数据行",
    ),
    (
        "held in an open transaction for over {0} s, so these rows can neither be moved nor "
        "stored: session {1}",
        "未结束的事务占住数据行已超过 {0} 秒，这些行既不能改变也不能保存：会话 {1}",
    ),
    (
        "end that program's transaction, or in Postgres: {0}",
        "请结束那个程序的事务，或在 Postgres 中执行：{0}",
    ),
    ("Temporal pushes cancels to workers", "Temporal 会把取消推送给工作进程"),
    ("closed workflows are kept {0} days", "已结束的工作流保留 {0} 天"),
    ("all search attributes are there", "搜索属性齐全"),
    ("start a worker: it makes them when it may", "请启动工作进程：有权限时它会建立这些属性"),
    ("no model is named", "没有指定模型"),
    ("set REDRAFT_MODEL, then start Redraft once", "请设置 REDRAFT_MODEL，然后启动一次 Redraft"),
    ("{0}: no key", "{0}：没有密钥"),
    ("set {0} for the worker and here", "请为工作进程和此处设置 {0}"),
    ("{0} is silent for {1} s", "{0} 已有 {1} 秒没有应答"),
    ("see whether it runs", "请查看它是否在运行"),
    ("start it, or correct the base URL", "请启动它，或更正地址"),
    (
        "start it (./redraft up brings one), or set TEMPORAL_ADDRESS (host:port); runs wait",
        "请启动它（./redraft up 自带一个），或设置 TEMPORAL_ADDRESS（host:port）；其间运行会等待",
    ),
    ("{0} refuses the key in {1}", "{0} 拒绝 {1} 中的密钥"),
    ("set {0} anew", "请重新设置 {0}"),
    ("{0}: no such model there", "{0}：那里没有这个模型"),
    ("correct REDRAFT_MODEL or base URL", "请更正 REDRAFT_MODEL 或地址"),
    ("{0} limits us now (429)", "{0} 正在限流（429）"),
    ("look at the quota; runs will wait", "请查看额度；其间运行会等待"),
    ("look at the provider's log", "请查看提供方的日志"),
    ("{0} does not answer ({1})", "{0} 没有应答（{1}）"),
    ("{0} does not answer", "{0} 没有应答"),
    ("{0}, namespace {1}", "{0}，命名空间 {1}"),
    ("{0} answers, as {1}", "{0} 有应答，自称 {1}"),
    ("{0} answers", "{0} 有应答"),
)
