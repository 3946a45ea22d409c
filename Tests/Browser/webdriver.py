"""Browsers for tests: headless chromium and Firefox, driven by WebDriver (W3C; JSON over HTTP) and some commands of their own."""

import base64
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

LEFT, UP, RIGHT, DOWN = "\ue012", "\ue013", "\ue014", "\ue015"
SHIFT = "\ue008"
ENTER, ESCAPE, TAB, SPACE, HOME, END = "\ue007", "\ue00c", "\ue004", " ", "\ue011", "\ue010"

ARGUMENTS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]


def wait_for(what, condition, seconds=60):
    """Polls until the condition is true, and returns its value. The limit is for a machine that has much else to do."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(0.02)


class Browser:
    command = ["chromedriver", "--port=0"]
    started = r"started successfully on port (\d+)"

    def __init__(self, directory):
        """`directory`: for the browser's files."""
        self.driver = subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env={**os.environ, "TMPDIR": directory, "HOME": directory}, start_new_session=True)
        self.session = None
        try:
            self._begin(directory)
        except BaseException:
            self.close()
            raise

    def _begin(self, directory):
        for line in self.driver.stdout:
            if port := re.search(self.started, line):
                break
        self.address = f"http://127.0.0.1:{port[1]}"
        answer = self._call("POST", "/session", {"capabilities": {"alwaysMatch": self._capabilities(directory)}})
        self.session = f"/session/{answer['sessionId']}"
        self._prepare()

    def _capabilities(self, directory):
        return {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"args": [*ARGUMENTS, f"--user-data-dir={directory}/profile"]},
        }

    def _prepare(self):
        self.devtools("Browser.setDownloadBehavior", behavior="deny")

    def close(self):
        try:
            if self.session:
                self._call("DELETE", self.session)
        except (OSError, AssertionError):
            pass
        finally:
            try:
                os.killpg(self.driver.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.driver.wait()
            self.driver.stdout.close()

    def _call(self, method, path, body=None):
        request = urllib.request.Request(
            self.address + path, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=180) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"].split("\n")[0]) from None

    def devtools(self, command, **parameters):
        return self._call("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def open(self, url):
        # Chromium does not reload a page if only the fragment differs.
        self._call("POST", f"{self.session}/url", {"url": "about:blank"})
        self._call("POST", f"{self.session}/url", {"url": url})

    def window(self):
        return self._call("GET", f"{self.session}/window")

    def open_tab(self, url):
        """Opens an address in a new tab, which becomes the current one."""
        handle = self._call("POST", f"{self.session}/window/new", {"type": "tab"})["handle"]
        self._call("POST", f"{self.session}/window", {"handle": handle})
        self._call("POST", f"{self.session}/url", {"url": url})

    def show_tab(self, handle):
        self._call("POST", f"{self.session}/window", {"handle": handle})

    def close_tab(self, other):
        """Closes the current tab, and returns to another one."""
        self._call("DELETE", f"{self.session}/window")
        self._call("POST", f"{self.session}/window", {"handle": other})

    def reload(self):
        self._call("POST", f"{self.session}/refresh", {})

    def show_as(self, width=1280, height=800, scheme="light"):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def run(self, script, *values):
        """Runs a function with this body, and returns its result."""
        return self._call("POST", f"{self.session}/execute/sync", {"script": script, "args": values})

    def run_async(self, script, *values):
        """Runs a function that calls its last argument with its result."""
        return self._call("POST", f"{self.session}/execute/async", {"script": script, "args": values})

    def tap(self, selector):
        """Taps on the middle of an element with a finger."""
        place = self.run("const { left, top, width, height } = document.querySelector(arguments[0]).getBoundingClientRect();"
                         "return [left + width / 2, top + height / 2].map(Math.round)", selector)
        self._call("POST", f"{self.session}/actions", {"actions": [
            {"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": [
                {"type": "pointerMove", "duration": 0, "x": place[0], "y": place[1]},
                {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]}]})

    def evaluate(self, expression):
        """Returns the value of an expression or a promise, exempt from the page's content security policy."""
        answer = self.devtools("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def text(self, selector):
        """Returns the text of an element; empty if there is none, it is hidden, or the page is being replaced by another one."""
        return self.run("const found = document.querySelector(arguments[0]);"
                        "return found?.checkVisibility() ? found.textContent.trim() : ''", selector) or ""

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((each) => each.textContent)", selector) or []

    def attribute(self, selector, name):
        return self.run("return document.querySelector(arguments[0])?.getAttribute(arguments[1])", selector, name)

    def press(self, *keys, held=""):
        """Presses keys one after the other, optionally while another is held; types texts."""
        actions = [(kind, key) for text in keys for key in text for kind in ("keyDown", "keyUp")]
        if held:
            actions = [("keyDown", held), *actions, ("keyUp", held)]
        self._call("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": [
            {"type": kind, "value": key} for kind, key in actions]}]})

    def wait_for_text(self, selector, words, seconds=60):
        return wait_for(lambda: f"'{words}' in {selector}, which is '{self.text(selector)[:200]}'",
                        lambda: words in self.text(selector), seconds)

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self._call("GET", f"{self.session}/screenshot")))

    def log(self):
        """Returns the browser's log entries since the last call."""
        return self._call("POST", f"{self.session}/se/log", {"type": "browser"})

    def requests(self):
        """Returns the URLs that pages have requested since the last call."""
        entries = self._call("POST", f"{self.session}/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        return [message["params"]["request"]["url"] for message in messages
                if message["method"] == "Network.requestWillBeSent"]


class Firefox(Browser):
    """Firefox by geckodriver, which has no commands for its log: requests are those that the page itself knows of."""
    started = r"Listening on 127\.0\.0\.1:(\d+)"

    def __init__(self, directory, geckodriver):
        # Older versions accept no request at a port that they chose themselves.
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.command = [geckodriver, f"--port={port}"]
        super().__init__(directory)

    def _capabilities(self, directory):
        # As chromium is told to: colours are not compared in the middle of a transition.
        return {"browserName": "firefox", "moz:firefoxOptions": {"args": ["-headless"], "prefs": {"ui.prefersReducedMotion": 1}}}

    def _prepare(self):
        pass

    def show_as(self, width=1280, height=800, scheme="light"):
        frame = self.run("return [outerWidth - innerWidth, outerHeight - innerHeight]")
        self._call("POST", f"{self.session}/window/rect", {"width": width + frame[0], "height": height + frame[1]})

    def evaluate(self, expression):
        script = "const done = arguments[arguments.length - 1]; Promise.resolve(eval(arguments[0])).then(done);"
        return self.run_async(script, expression)

    def log(self):
        return []

    def requests(self):
        return self.run("return [location.href, ...performance.getEntriesByType('resource').map((each) => each.name)]")
