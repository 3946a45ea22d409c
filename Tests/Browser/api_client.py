"""A client of the timeline server, for honest and hostile requests."""

import http.client
import json
import socket
from urllib.parse import urlencode, urlsplit


class SocketConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=Client.timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Client:
    """A session like the page's. `url` is the address that `archiver browse` prints."""
    timeout = 60

    def __init__(self, url, socket_path=None):
        parts = urlsplit(url.split(" ")[0])
        self.host = parts.netloc
        self.token = parts.fragment.removeprefix("token=")
        self.socket_path = socket_path
        self.origin = {"Origin": f"http://{self.host}", "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin"}
        self.details = self.post("session", {"token": self.token}, session={})
        self.session = {"X-Archiver-Session": self.details["session"]}
        self.root = self.get("roots")["initial"]

    def connection(self):
        if self.socket_path:
            return SocketConnection(self.socket_path)
        return http.client.HTTPConnection(self.host, timeout=self.timeout)

    def request(self, method, path, headers=None, body=None):
        """Returns the status, headers and bytes of an answer."""
        connection = self.connection()
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def address(self, name, **query):
        return f"/api/1/{name}" + (f"?{urlencode(query)}" if query else "")

    def get(self, name, **query):
        status, _, body = self.request("GET", self.address(name, **query), self.session)
        assert status == 200, (name, status, body[:300])
        return json.loads(body)

    def content(self, snapshot, path, **headers):
        return self.request("GET", self.address(f"content/{snapshot}", path=path), {**self.session, **headers})

    def post(self, name, body, session=None):
        status, answer = self.try_post(name, body, session)
        assert status == 200, (name, status, answer)
        return answer

    def try_post(self, name, body, session=None):
        """Returns the status and answer of a POST that may be refused."""
        headers = {**self.origin, **(self.session if session is None else session)}
        status, _, answer = self.request("POST", self.address(name), headers, json.dumps(body))
        return status, json.loads(answer)
