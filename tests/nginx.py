"""The nginx of the system with `deploy/nginx.conf`, as a process with a folder of its own."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import subprocess
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import httpx2

from tests.eventually import eventually
from tests.promised import nginx_programs
from tests.services import ROOT, end, free_port, spawn

SHIPPED = ROOT / "deploy" / "nginx.conf"
NAME = "redraft.example"
_AROUND = """
daemon off; master_process off; pid nginx.pid;
error_log stderr warn;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path other;
    uwsgi_temp_path other; scgi_temp_path other;
    {server}
}}
"""


def changed(text: str, changes: Mapping[str, str]) -> str:
    """Each text that is changed stands there once, so what is tested is what is shipped."""
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


class Nginx:
    """Before the API at a port of this machine; `changes` replace texts of the shipped file."""

    def __init__(self, folder: Path, api_port: int, changes: Mapping[str, str]) -> None:
        programs = nginx_programs()
        assert programs is not None, "require(Part.NGINX) comes first"
        self._nginx, self._openssl = programs
        self.folder, self.log = folder, folder / "nginx.log"
        self.port, self.plain_port = free_port(), free_port()
        self._changes = {
            "server 127.0.0.1:8430;": f"server 127.0.0.1:{api_port};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{self.port} ssl http2;",
            "listen 80;": f"listen 127.0.0.1:{self.plain_port};",
            "/etc/ssl/redraft/fullchain.pem": str(folder / "cert.pem"),
            "/etc/ssl/redraft/privkey.pem": str(folder / "key.pem"),
            **changes,
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def bodies(self) -> list[Path]:
        """What nginx wrote to its disk of requests."""
        return [path for path in (self.folder / "body").rglob("*") if path.is_file()]

    def trust(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self.folder / "cert.pem")

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.url, verify=self.trust(), timeout=20, trust_env=False
        )

    async def prepare(self) -> None:
        """Certificate and configuration."""
        words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
        words += f" -subj /CN={NAME} -addext subjectAltName=IP:127.0.0.1,DNS:{NAME}"
        words += " -keyout key.pem -out cert.pem"
        made = await asyncio.to_thread(
            subprocess.run,
            [self._openssl, *words.split()],
            cwd=self.folder,
            capture_output=True,
            check=False,
        )
        assert made.returncode == 0, made.stderr
        server = changed(SHIPPED.read_text(encoding="utf-8"), self._changes)
        (self.folder / "nginx.conf").write_text(_AROUND.format(server=server), encoding="utf-8")

    async def start(self) -> None:
        argv = [self._nginx, "-p", str(self.folder), "-c", "nginx.conf", "-e", "stderr"]
        process = self._process = spawn(argv, log=self.log)

        async def listens() -> bool:
            if process.poll() is not None:
                raise RuntimeError(self.log.read_text(errors="replace"))
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
            except OSError:
                return False
            writer.close()
            return True

        await eventually(listens, what="nginx")

    def stop(self) -> None:
        if self._process is not None:
            end(self._process)


@contextlib.asynccontextmanager
async def started(folder: Path, api_port: int, changes: Mapping[str, str]) -> AsyncIterator[Nginx]:
    nginx = Nginx(folder, api_port, changes)
    await nginx.prepare()
    await nginx.start()
    try:
        yield nginx
    finally:
        nginx.stop()
