"""A server of S3 for tests, on the loopback interface; it checks signatures and goes wrong on demand.

usage: s3_server.py PLAN [CERTIFICATE KEY]     prints its port

PLAN is a file. Each request takes its first line off, which says how the request goes wrong:
  500, 503, 507    the store answers with this error, and does nothing
  409              the store says that another request is in the way
  412              the store says that the object exists
  drop             the connection is closed before the request is carried out
  lost             the connection is closed after the request was carried out
  cut              half of the answer's body is sent
  html             the answer is a page of another server
  invalid          the store says that the request is invalid, for another reason than a missing Content-MD5
  denied, unknown, expired, skewed, moved, gone
                   the store refuses: no right, no such key, an expired token, a wrong clock, another region, no bucket
  fine             nothing
A line "always" and one of these words stays: every request goes wrong like this.
Buckets: "bucket" is as AWS's; "ignoring" ignores conditions and answers 200 for a part, as rclone does; "refusing" answers
501 to conditions, as Swift does; "readonly", "full", "elsewhere" (another region) say so; "locked" demands Content-MD5; all
others do not exist. A list has 3 names a page.
The requests are in PLAN.log, those with Content-MD5 are marked.
"""

import base64, datetime, hashlib, hmac, http.server, re, ssl, sys, threading, urllib.parse

KEYS = {"key": ("secret", None), "temporary": ("secret", "token")}
plan, lock, buckets = sys.argv[1], threading.Lock(), {}

REFUSALS = {
    "denied": (403, "AccessDenied"), "unknown": (403, "InvalidAccessKeyId"), "expired": (400, "ExpiredToken"),
    "invalid": (400, "InvalidRequest"),
    "skewed": (403, "RequestTimeTooSkewed"), "moved": (301, "PermanentRedirect"), "gone": (404, "NoSuchBucket"),
}


class Refused(Exception):
    pass


def sign(secret, day, region, text):
    key = ("AWS4" + secret).encode()
    for part in (day, region, "s3", "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body=b"", headers={}):
        if self.fault == "lost":
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            if self.fault == "cut":
                body = body[: len(body) // 2]
                self.close_connection = True
            self.wfile.write(body)

    def error(self, status, code, message="words of the store", more="", headers={}):
        body = f"<?xml version='1.0'?>\n<Error><Code>{code}</Code><Message>{message}</Message>{more}</Error>"
        self.answer(status, body.encode(), headers)

    def check(self, body):
        """Checks the signature; returns the region that was signed."""
        pattern = r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, SignedHeaders=([^,]+), Signature=(\w+)"
        found = re.fullmatch(pattern, self.headers.get("Authorization", ""))
        if not found:
            raise Refused(403, "AccessDenied")
        key, day, region, names, signature = found.groups()
        if key not in KEYS:
            raise Refused(403, "InvalidAccessKeyId")
        secret, token = KEYS[key]
        if token != self.headers.get("x-amz-security-token"):
            raise Refused(400, "ExpiredToken")
        date = self.headers["x-amz-date"]
        then = datetime.datetime.strptime(date, "%Y%m%dT%H%M%SZ").replace(tzinfo=datetime.timezone.utc)
        if abs((datetime.datetime.now(datetime.timezone.utc) - then).total_seconds()) > 900:
            raise Refused(403, "RequestTimeTooSkewed")
        for name in self.headers:
            if name.lower().startswith("x-amz-") and name.lower() not in names.split(";"):
                raise Refused(403, "SignatureDoesNotMatch")
        url = urllib.parse.urlsplit(self.path)
        payload = self.headers["x-amz-content-sha256"]
        query = "&".join(sorted(url.query.split("&"))) if url.query else ""
        lines = "".join(f"{name}:{self.headers[name].strip()}\n" for name in names.split(";"))
        request = "\n".join([self.command, url.path, query, lines, names, payload])
        text = f"AWS4-HMAC-SHA256\n{date}\n{day}/{region}/s3/aws4_request\n{hashlib.sha256(request.encode()).hexdigest()}"
        if signature != sign(secret, day, region, text):
            raise Refused(403, "SignatureDoesNotMatch")
        if payload != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch")
        return region

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with lock:
            with open(plan) as file:
                lines = file.read().splitlines()
            self.fault = lines[0].removeprefix("always ") if lines else "fine"
            if lines and not lines[0].startswith("always "):
                with open(plan, "w") as file:
                    file.write("".join(f"{line}\n" for line in lines[1:]))
            with open(plan + ".log", "a") as file:
                mark = " Content-MD5" if "Content-MD5" in self.headers else ""
                file.write(f"{self.command} {self.path}{mark}\n")
            if self.fault == "drop":
                self.close_connection = True
                return
            if self.fault == "html":
                return self.answer(200, b"<html>Welcome</html>")
            if self.fault in REFUSALS:
                return self.error(*REFUSALS[self.fault])
            if self.fault.isdigit():
                code = {"500": "InternalError", "503": "SlowDown", "507": "QuotaExceeded", "409": "OperationAborted",
                        "412": "PreconditionFailed"}
                return self.error(int(self.fault), code[self.fault])
            try:
                region = self.check(body)
            except Refused as refused:
                return self.error(*refused.args)
            url = urllib.parse.urlsplit(self.path)
            _, bucket, key = (urllib.parse.unquote(url.path) + "/").split("/", 2)
            self.serve(bucket, key[:-1], urllib.parse.parse_qs(url.query), body, region)

    do_GET = do_HEAD = do_PUT = do_DELETE = handle_request

    def serve(self, bucket, key, query, body, region):
        if bucket == "elsewhere" and region != "eu-west-9":
            more, headers = "<Region>eu-west-9</Region>", {"x-amz-bucket-region": "eu-west-9"}
            return self.error(301, "PermanentRedirect", "use another endpoint", more, headers)
        if bucket not in ("bucket", "ignoring", "refusing", "readonly", "full", "elsewhere", "locked"):
            return self.error(404, "NoSuchBucket")
        objects = buckets.setdefault(bucket, {})
        if self.command in ("PUT", "DELETE") and bucket == "readonly":
            return self.error(403, "AccessDenied", "a line\nand <b>another</b>\x1b[31m &amp; more")
        if self.command == "PUT" and bucket == "full":
            return self.error(403, "QuotaExceeded")
        if self.command == "PUT":
            md5 = self.headers.get("Content-MD5")
            if bucket == "locked" and not md5:
                return self.error(400, "InvalidRequest", "Content-MD5 OR x-amz-checksum- HTTP header is required for "
                                  "Put Object requests with Object Lock parameters")
            if md5 and base64.b64decode(md5) != hashlib.md5(body).digest():
                return self.error(400, "BadDigest", "The Content-MD5 you specified did not match what we received.")
            condition = self.headers.get("If-None-Match")
            if condition and bucket == "refusing":
                return self.error(501, "NotImplemented", "a header that is not implemented")
            if condition == "*" and bucket != "ignoring" and key in objects:
                return self.error(412, "PreconditionFailed")
            objects[key] = body
            return self.answer(200)
        if self.command == "DELETE":
            objects.pop(key, None)
            return self.answer(204)
        if not key:
            return self.list(objects, query)
        if key not in objects:
            return self.error(404, "NoSuchKey")
        data = objects[key]
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        if wanted and self.command == "GET":
            start, end = int(wanted[1]), min(int(wanted[2]) + 1, len(data))
            if start >= len(data):
                return self.error(416, "InvalidRange", headers={"Content-Range": f"bytes */{len(data)}"})
            place = {"Content-Range": f"bytes {start}-{end - 1}/{len(data)}"}
            return self.answer(200 if bucket == "ignoring" else 206, data[start:end], place)
        self.answer(200, data, {"Content-Length": str(len(data))})

    def list(self, objects, query):
        prefix, token = query.get("prefix", [""])[0], query.get("continuation-token", [""])[0]
        names = [name for name in sorted(objects) if name.startswith(prefix) and name > token]
        page, more = names[:3], len(names) > 3
        body = f"<ListBucketResult><Name>x</Name><IsTruncated>{'true' if more else 'false'}</IsTruncated>"
        if more:
            body += f"<NextContinuationToken>{page[-1]}</NextContinuationToken>"
        for name in page:
            key = name.replace("&", "&amp;").replace("<", "&lt;")
            body += f"<Contents><Key>{key}</Key><Size>{len(objects[name])}</Size></Contents>"
        self.answer(200, (body + "</ListBucketResult>").encode())


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
