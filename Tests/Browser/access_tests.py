"""Access control and responses of the server, tested without a browser."""

import io
import json
import os
import pty
import shlex
import signal
import socket
import stat
import subprocess
import tarfile
import time
import unittest

from api_client import Client
from archive_scene import SVG, contents
from page_case import PageCase, SceneCase
from webdriver import ESCAPE, wait_for


def spellings(*addresses):
    """Returns other ways to write addresses."""
    for address in addresses:
        yield from (address, "/" + address, "//" + address, address.replace("/1/", "//1//"), "/." + address, "/x/.." + address,
                    address.replace("/api/", "/api%2f"), address.replace("/api/", "/%61pi/"), address.replace("/1/", "/1/./"))


def wish(snapshot, *paths):
    """Returns the body that plans a restore of paths of one snapshot."""
    return {"paths": [{"path": path, "snapshots": [snapshot]} for path in paths]}


POSTS = {"restore/plan", "restore/apply", "undo", "redo", "label"}


class AccessTests(SceneCase):
    def setUp(self):
        super().setUp()
        self.client = Client(self.url)
        self.before = contents(self.scene.root)

    def tearDown(self):
        self.assert_tree(self.before)
        self.assertEqual(self.client.get("operations", root=self.client.root)["operations"], [])

    def status(self, method, name, headers, body=None):
        status, answer, _ = self.client.request(method, name if name.startswith("/") else self.client.address(name), headers, body)
        self.assertFalse([field for field in answer if field.lower().startswith("access-control")])
        return status

    def test_forged_hosts_and_origins_are_refused(self):
        """Pages of other sites and other ports get no access, even with a session."""
        client, path = self.client, self.client.address("roots")
        for host in ("evil.example", "127.0.0.1", "localhost:1", f"{client.host}.evil.example", ""):
            self.assertIn(self.status("GET", path, {**client.session, "Host": host}), (400, 421), host)
            self.assertIn(self.status("GET", "/", {"Host": host}), (400, 421), host)
        good = {**client.origin, **client.session}
        for name in POSTS:
            for change in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": "http://127.0.0.1:1"},
                           {"Origin": f"https://{client.host}"}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
                self.assertEqual(self.status("POST", name, {**good, **change}, "{}"), 403, (name, change))
            without = {key: value for key, value in good.items() if key != "Origin"}
            self.assertEqual(self.status("POST", name, without, "{}"), 403, name)
            self.assertGreaterEqual(self.status("OPTIONS", name, {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}), 400)

    def test_requests_without_a_session_are_refused(self):
        """Refuses no token, a used or wrong one, and a ticket where a session is required."""
        client = self.client
        ticket = f"ticket={client.details['ticket']}"
        for name in ("roots", f"status?root={client.root}", f"content/{self.scene.latest}?path=chapter.md", f"archive/{self.scene.latest}", "events"):
            self.assertEqual(self.status("GET", name, {}), 401, name)
            self.assertEqual(self.status("GET", name, {"X-Archiver-Session": "0" * 64}), 401, name)
            self.assertEqual(self.status("GET", name, {"X-Archiver-Session": client.details["ticket"]}), 401, name)
        self.assertEqual(self.status("GET", f"roots?{ticket}", {}), 401)
        self.assertEqual(self.status("GET", f"content/{self.scene.latest}?path=chapter.md&{ticket}", {}), 200)
        for name in POSTS:
            self.assertEqual(self.status("POST", name, client.origin, "{}"), 401, name)
            self.assertEqual(self.status("POST", f"{name}?{ticket}", client.origin, "{}"), 401, name)
        for token in (client.token, "", "0" * 64):
            self.assertEqual(client.try_post("session", {"token": token}, session={})[0], 401)

    def test_no_spelling_of_an_address_avoids_the_session(self):
        """A router may ignore empty parts of a path, dots and escapes; the check of the session must not."""
        for path in spellings(f"/api/1/content/{self.scene.latest}?path=chapter.md", "/api/1/roots", "/api/1/events"):
            self.assertIn(self.status("GET", path, {}), (400, 401), path)

    def test_malformed_requests_are_refused(self):
        """Refuses forms that any page can send, GET for changes, huge bodies, and paths outside the root."""
        client = self.client
        plan = json.dumps(wish(self.scene.before_cut, ""))
        good = {**client.origin, **client.session}
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""):
            self.assertEqual(self.status("POST", "restore/plan", {**good, "Content-Type": kind}, plan), 415, kind)
        for name in POSTS:
            self.assertIn(self.status("GET", name, client.session), (404, 405), name)
            self.assertIn(self.status("POST", name, good, "not JSON"), (400,), name)
        self.assertEqual(self.status("POST", "restore/plan", good, '"' + "x" * (1 << 20) + '"'), 413)
        for path in ("../archive", "/etc/passwd", "a/../../b", "a\0b"):
            self.assertIn(client.content(self.scene.latest, path)[0], (400, 404), path)
        for path in ("/../../etc/passwd", "/%2e%2e/etc/passwd", "/nothing.js", "/api/1/nothing", "/api/2/roots"):
            self.assertIn(self.status("GET", path, client.session), (400, 404), path)

    def test_the_command_of_a_plan_does_the_same(self):
        """The command that the page shows works on the command line, for one path, several and all."""
        for paths in (["chapter.md"], ["chapter.md", "notes"], [""]):
            plan = self.client.post("restore/plan", wish(self.scene.before_cut, *paths))
            for command in plan["command"].split("; "):
                program, *words = shlex.split(command)
                self.assertEqual(program, "archiver")
                self.scene.run(*words, "--dry-run", "--root", self.scene.root)

    def test_a_file_written_after_the_plan_is_kept(self):
        """A plan is not applied if a file has changed since it was made."""
        plan = self.client.post("restore/plan", wish(self.scene.before_cut, "chapter.md"))
        self.scene.write("chapter.md", "Written between plan and apply.\n")
        self.before = contents(self.scene.root)
        status, answer = self.client.try_post("restore/apply", {"plan": plan["plan"]})
        self.assertEqual((status, answer.get("plan", {}).get("counts", {}).get("replaced")), (409, 1))

    def test_files_are_sent_completely_and_in_part(self):
        """Checks ranges, validators, and content types that no browser runs."""
        client, snapshot, text = self.client, self.scene.before_cut, self.scene.uncut.encode()
        for wanted, expected in (("bytes=3-9", text[3:10]), ("bytes=0-0", text[:1]), ("bytes=-20", text[-20:]), (f"bytes=5-{1 << 40}", text[5:])):
            status, headers, body = client.content(snapshot, "chapter.md", Range=wanted)
            self.assertEqual((status, body), (206, expected))
            self.assertTrue(headers["Content-Range"].endswith(f"/{len(text)}"))
        self.assertEqual(client.content(snapshot, "chapter.md", Range=f"bytes={len(text)}-")[0], 416)
        status, headers, body = client.content(snapshot, "chapter.md")
        self.assertEqual((status, body), (200, text))
        self.assertEqual(client.content(snapshot, "chapter.md", **{"If-None-Match": headers["ETag"]})[::2], (304, b""))
        status, headers, body = client.content(self.scene.latest, "hostile/evil.svg")
        self.assertEqual((body, headers["X-Content-Type-Options"]), (SVG, "nosniff"))
        self.assertEqual(headers["Content-Type"], "application/octet-stream")
        self.assertIn("sandbox; default-src 'none'", headers["Content-Security-Policy"])

    def test_a_download_is_a_tar_file(self):
        """It unpacks to the same names, bytes and permissions, hostile names included."""
        query = self.client.address(f"archive/{self.scene.latest}", ticket=self.client.details["ticket"])
        status, _, body = self.client.request("GET", query)
        self.assertEqual(status, 200)
        found = {}
        with tarfile.open(fileobj=io.BytesIO(body), errors="surrogateescape") as archive:
            for member in archive:
                name = os.fsencode(os.path.normpath(member.name))
                found[name] = member.mode, archive.extractfile(member).read() if member.isfile() else None
        found.pop(b".", None)
        self.assertEqual(found, {name: (stat.S_IMODE(mode), data) for name, (mode, data) in self.before.items()})


class TerminalTests(SceneCase):
    def test_enter_in_the_terminal_prints_a_new_address(self):
        """A terminal gets a new address with each Enter; both tokens are valid, once each."""
        terminal, inner = pty.openpty()
        server = subprocess.Popen(
            [self.scene.binary, "browse", self.scene.root, "--no-open"], env=self.scene.environment, stdin=inner, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        os.close(inner)
        self.addCleanup(lambda: (server.kill(), server.wait(), server.stdout.close(), server.stderr.close(), os.close(terminal)))
        first = server.stdout.readline().strip()
        self.assertIn("Enter prints a new address", server.stderr.readline())
        os.write(terminal, b"\n")
        second = server.stdout.readline().strip()
        self.assertNotEqual(first, second)
        self.assertEqual(first.split("#")[0], second.split("#")[0])
        for url in (second, first):
            self.assertTrue(Client(url).root)
            with self.assertRaises(Exception):
                Client(url)


class ReadOnlyTests(PageCase):
    options = ["--read-only"]

    def test_a_read_only_page_changes_nothing(self):
        """The buttons are hidden, the keys explain why, and the server refuses."""
        before = contents(self.scene.root)
        for selector in ("#restore", "#undo", "#redo", "#label"):
            wait_for(f"no {selector}", lambda: not self.browser.text(selector))
        self.browser.wait_for_text("#read-only", "--read-only")
        for key in ("r", "u", "l"):
            self.browser.press(ESCAPE, key)
            self.browser.wait_for_text("#message", "read-only")
            self.assertEqual(self.browser.texts("dialog"), [])
        session = {"X-Archiver-Session": self.browser.run("return JSON.parse(sessionStorage.getItem('archiver-session')).session")}
        client = object.__new__(Client)
        client.host, client.socket_path, client.session = self.address.split("/")[2], None, session
        client.origin = {"Origin": f"http://{client.host}", "Content-Type": "application/json"}
        root = client.get("roots")["initial"]
        for name, body in (("restore/plan", wish(self.scene.before_cut, "")), ("restore/apply", {"plan": "1"}),
                           ("undo", {"root": root}), ("redo", {"root": root}), ("label", {"snapshot": self.scene.latest, "label": "x"})):
            status, answer = client.try_post(name, body)
            self.assertEqual((status, answer["error"]["code"]), (403, "readOnly"), name)
        self.assert_tree(before)


class ConnectionTests(SceneCase):
    def test_few_open_files_and_slow_strangers_do_not_keep_out_the_page(self):
        """With 256 files, beside 400 silent connections, the page is answered; headers and bodies byte by byte end."""
        self.scene.end(self.server)
        limited = self.scene.start_limited("browse", self.scene.root, "--no-open", files=256)
        client = Client(limited.stdout.readline().strip())
        address = tuple(client.host.split(":"))
        silent = [socket.create_connection(address, 10) for _ in range(400)]
        self.addCleanup(lambda: [each.close() for each in silent])
        for _ in range(20):
            client.get("roots")
            self.assertEqual(client.content(self.scene.before_cut, "chapter.md")[2].decode(), self.scene.uncut)
        head = f"POST /api/1/undo HTTP/1.1\r\nHost: {client.host}\r\nOrigin: http://{client.host}\r\n" \
            f"Content-Type: application/json\r\nX-Archiver-Session: {client.details['session']}\r\nContent-Length: 1000\r\n\r\n"
        slow = [socket.create_connection(address, 10) for _ in range(2)]
        slow[1].sendall(head.encode())
        began, ended = time.monotonic(), {}
        while len(ended) < 2 and time.monotonic() - began < 60:
            for index, each in enumerate(slow):
                if index in ended:
                    continue
                try:
                    each.sendall((head if index == 0 else " " * 1000)[int(time.monotonic() - began)].encode())
                    each.settimeout(0.2)
                    if each.recv(1000) == b"":
                        ended[index] = time.monotonic() - began
                except TimeoutError:
                    pass
                except OSError:
                    ended[index] = time.monotonic() - began
        self.assertEqual(set(ended), {0, 1})
        client.get("roots")


class UnwritableTests(PageCase):
    def test_a_page_on_an_archive_that_cannot_be_written_says_so(self):
        """It says so before any plan, and restores nothing."""
        self.scene.end(self.server)
        archive = self.scene.environment["ARCHIVER_ARCHIVE"]
        if os.geteuid() == 0:
            script = 'mount --make-rprivate / && mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
            server = self.scene.start_as(["unshare", "-m", "sh", "-c", script, archive], "browse", self.scene.root, "--no-open")
        else:
            subprocess.run(["chmod", "-R", "a-w", archive], check=True)
            self.addCleanup(lambda: subprocess.run(["chmod", "-R", "u+w", archive], check=True))
            server = self.scene.start("browse", self.scene.root, "--no-open")
        url = server.stdout.readline().strip()
        if not url:
            raise unittest.SkipTest("the archive cannot be made read-only here")
        self.open_page(url)
        self.browser.wait_for_text("#read-only", "cannot be written to")
        self.assertEqual(self.browser.text("#restore"), "")
        self.browser.press("r")
        self.browser.wait_for_text("#message", "read-only")


class NoScriptTests(SceneCase):
    def test_without_javascript_a_sentence_says_so(self):
        """The page begins with one sentence for browsers that run no script."""
        page = Client(self.url).request("GET", "/")[2].decode()
        self.assertRegex(page, r'<body>\s*<noscript><p class="no-script">This page needs JavaScript: [^<]+</p></noscript>')


class SocketTests(SceneCase):
    def setUp(self):
        self.options = []
        super().setUp()
        self.path = os.path.join(self.scene.directory, "page.sock")

    def test_the_page_on_a_socket(self):
        """Only its owner can open the socket, and it is removed when the server ends."""
        server, url = self.scene.browse("--socket", self.path)
        client = Client(url, self.path)
        self.assertEqual(stat.S_IMODE(os.stat(self.path).st_mode) & 0o077, 0)
        self.assertIn(b"<title>archiver</title>", client.request("GET", "/")[2])
        self.assertEqual(client.content(self.scene.before_cut, "chapter.md")[2].decode(), self.scene.uncut)
        self.assertEqual(client.request("GET", "/", {"Host": "evil.example"})[0], 421)
        for path in spellings("/api/1/roots"):
            self.assertIn(client.request("GET", path)[0], (400, 401), path)
        self.assertEqual(self.scene.end(server, signal.SIGINT), 130)
        self.assertFalse(os.path.exists(self.path))
