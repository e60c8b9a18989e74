"""A headless Chromium, driven over the pipe of its DevTools protocol: nothing but Python is needed."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

DEADLINE_S = 60


class Failed(Exception):
    """Something did not come about."""


class Chromium:
    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="page-test-")
        command_read, self.command_write = os.pipe()
        self.answer_read, answer_write = os.pipe()
        options = [
            "--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
            "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
            "--disable-extensions", "--no-proxy-server", "--window-size=1280,900",
            f"--user-data-dir={self.profile}",
        ]
        if os.geteuid() == 0:
            # Its sandbox refuses to serve the superuser, as whom containers run.
            options.append("--no-sandbox")
        # The protocol's pipes are descriptors 3 and 4.
        script = f'exec chromium "$@" 3<&{command_read} 4>&{answer_write}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", *options, "about:blank"],
            pass_fds=(command_read, answer_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(command_read)
        os.close(answer_write)
        self.buffer = b""
        self.last = 0
        self.session = None
        self.problems = []
        self.requested = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.command_write, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + DEADLINE_S
        while True:
            answer = self.receive(until)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failed(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.notice(answer)

    def receive(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answer_read], [], [], max(0, until - time.monotonic()))
            data = os.read(self.answer_read, 1 << 20) if ready else b""
            if not data:
                raise Failed("Chromium does not answer")
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def notice(self, event):
        """Errors and warnings of the page, and what it asks for."""
        method, about = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(about["exceptionDetails"].get("exception", {}).get("description", "exception"))
        elif method == "Log.entryAdded" and about["entry"]["level"] in ("error", "warning"):
            self.problems.append(f"{about['entry']['text']} {about['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requested.append(about["request"]["url"])

    def value(self, expression):
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise Failed(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def until(self, what, expression):
        """Waits until an expression is true, and returns its value."""
        deadline = time.monotonic() + DEADLINE_S
        while True:
            value = self.value(expression)
            if value:
                return value
            if time.monotonic() > deadline:
                text = self.value("document.body.innerText")
                raise Failed(f"not seen: {what}\n{text}\n{self.problems}")
            time.sleep(0.05)

    def key(self, key, code=None, number=0, text=None, shift=False):
        about = {"key": key, "code": code or key, "windowsVirtualKeyCode": number, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", **about, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **about)

    def press(self, name):
        keys = {
            "Enter": ("Enter", "Enter", 13, "\r"), "Tab": ("Tab", "Tab", 9, None),
            "/": ("/", "Slash", 191, "/"), "Space": (" ", "Space", 32, " "),
        }
        self.key(*keys[name])

    def type(self, text):
        self.call("Input.insertText", text=text)

    def look(self, scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.call("Emulation.setEmulatedMedia", features=features)

    def screenshot(self, file):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 1600), "scale": 1}
        picture = self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))
