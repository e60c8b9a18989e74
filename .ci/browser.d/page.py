"""The story that .ci/browser tells: what an operator does with the page, by keyboard alone."""

import json
import os
import subprocess
import sys

from chromium import Chromium, Failed

NASTY = '<b>bold</b> & "quoted" 100%/#1?'
COMMAND_LINE = "programs' folder [--screenshots FOLDER]"


def lines_until(process, prefix):
    for line in process.stdout:
        if line.startswith(prefix):
            return line[len(prefix):].strip()
    raise Failed(f"{process.args[0]} ended without a line {prefix}")


class Story:
    def __init__(self, browser, url, pictures):
        self.browser, self.url, self.pictures = browser, url, pictures

    def picture(self, name):
        if self.pictures is None:
            return
        for scheme in ("light", "dark"):
            self.browser.look(scheme)
            self.browser.screenshot(os.path.join(self.pictures, f"{name}-{scheme}.png"))
        self.browser.look("light")

    def focus_by_tab(self, selector):
        """Reaches an element with the tabulator alone."""
        self.browser.until(f"{selector} is there", f"document.querySelector({json.dumps(selector)}) !== null")
        for _ in range(200):
            if self.browser.value(f"document.activeElement?.matches({json.dumps(selector)}) ?? false"):
                return
            self.browser.press("Tab")
        raise Failed(f"{selector} cannot be reached by keyboard")

    def overview(self, total):
        b = self.browser
        b.call("Page.navigate", url=self.url)
        b.until("the number of instances", f"[...document.querySelectorAll('.tiles a')].some((tile) => tile.innerText.replace(/[,\\s]/g, '') === '{total}All')")
        b.until("two plots with lines", "document.querySelectorAll('svg.plot polyline').length === 4")
        b.until("a second look", "Number(document.getElementById('main').dataset.updates) >= 3")
        b.until("a point in the throughput", "document.querySelector('svg.plot polyline').getAttribute('points') !== ''")
        self.picture("overview")
        self.accessible()
        print("ok: overview with counts and plots")

    def search(self):
        b = self.browser
        b.press("/")
        b.until("the list", "document.activeElement?.id === 'search'")
        b.until("a full page", "document.querySelectorAll('#rows tbody tr').length === 50")
        self.picture("list")
        first = b.value("document.querySelector('#rows a').textContent")
        self.focus_by_tab("#older")
        b.press("Enter")
        b.until("the second page", "document.getElementById('where').textContent === '51 to 100'")
        b.until("other rows", f"document.querySelector('#rows a').textContent !== {json.dumps(first)}")
        b.press("/")
        b.until("the search field", "document.activeElement?.id === 'search'")
        b.type("<b>bold")
        b.until("the one instance", "document.querySelectorAll('#rows tbody tr').length === 1")
        shown = b.value("document.querySelector('#rows a').textContent")
        if shown != NASTY or b.value("document.querySelector('#rows b') !== null"):
            raise Failed(f"the id is shown as {shown}")
        self.focus_by_tab("#rows a")
        b.press("Enter")
        b.until("its page", f"document.querySelector('h1').textContent === {json.dumps(NASTY)}")
        b.until("its wait", "document.querySelector('#timeline .bar.wait.open') !== null")
        self.accessible()
        print("ok: search and pages, ids are text")

    def running(self, trial):
        b = self.browser
        b.value("location.hash = '#/instance/order-packing'")
        bar = "[...document.querySelectorAll('#timeline tbody tr')].find((row) => row.cells[1].innerText === 'Pack')"
        b.until("the activity that packs", f"{bar}?.querySelector('.bar.activity.open') != null")
        b.until("retries", "document.getElementById('timeline').innerText.includes('Charge (attempt 3)')")
        b.until("timer, children and execution", "['timer', 'child', 'execution'].every((kind) => document.querySelector(`#timeline .bar.${kind}`))")
        b.until("children", "document.querySelectorAll('#children tbody tr').length === 2")
        b.until("links to them", "[...document.querySelectorAll('#timeline a')].map((a) => a.hash).sort().join() === [...document.querySelectorAll('#children a')].map((a) => a.hash).sort().join()")
        b.until("key-values", "document.getElementById('key-values').innerText.includes('2 teapots')")
        width = f"Number({bar}.querySelector('rect').getAttribute('width'))"
        took = f"{bar}.cells[4].innerText"
        (first, text) = b.value(f"[{width}, {took}]")
        b.until("the bar grown", f"{width} > {first} && {took} !== {json.dumps(text)}")
        self.picture("running")
        trial.stdin.write("\n")
        trial.stdin.flush()
        b.until("the activity's end", f"{bar}?.querySelector('.bar.activity.completed') != null")
        b.until("the instance's end", "document.getElementById('facts').innerText.includes('Completed')")
        b.until("the timer that nobody needs", "document.querySelector('#timeline .bar.timer.cancelled, #timeline .bar.timer.dropped') !== null")
        self.focus_by_tab("#history button")
        b.press("Enter")
        b.until("what the event carries", "document.querySelector('#history pre')?.textContent.includes('OrchestrationStarted')")
        b.until("the focus kept", "document.activeElement?.matches('#history button[aria-expanded=true]')")
        self.accessible()
        print("ok: bars move while an instance runs, and end with it")

    def failed(self):
        b = self.browser
        b.value("location.hash = '#/instance/order-failed'")
        b.until("the failure", "document.getElementById('facts').innerText.includes('Failed (Application)')")
        b.until("the error as text", "document.getElementById('facts').innerText.includes('nobody sells <img src=x')")
        b.until("three attempts", "document.querySelectorAll('#timeline .bar.activity.failed').length === 3")
        if b.value("document.querySelector('main img') !== null || document.title === 'broken'"):
            raise Failed("an error became markup")
        self.picture("failed")
        print("ok: a failed instance shows its error as text")

    def cancel(self):
        b = self.browser
        b.value("location.hash = '#/instance/order-approval'")
        b.until("the wait", "document.querySelector('#timeline .bar.wait.open') !== null")
        b.until("the page has the focus", "document.activeElement?.id === 'main'")
        self.focus_by_tab("#cancel")
        b.press("Enter")
        b.until("the question", "document.activeElement?.id === 'ask-reason'")
        b.value("document.activeElement.select()")
        b.type("no longer wanted")
        self.accessible()
        self.focus_by_tab("#ask-yes")
        b.press("Enter")
        b.until("the dialog gone", "document.querySelector('dialog') === null")
        b.until("what is said to screen readers", "document.getElementById('said').textContent.includes('asked to stop')")
        b.until("the end", "document.getElementById('facts').innerText.includes('Failed')")
        b.until("the reason", "document.getElementById('facts').innerText.includes('no longer wanted')")
        b.until("nothing more to cancel", "document.getElementById('cancel') === null")
        print("ok: an instance is cancelled by keyboard")

    def accessible(self):
        """Whatever can be used has a name, and the page has its landmarks and one heading of the first level."""
        nodes = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        roles = {}
        for node in nodes:
            if node.get("ignored"):
                continue
            role = node.get("role", {}).get("value")
            name = node.get("name", {}).get("value", "")
            roles.setdefault(role, []).append(name)
            if role in ("link", "button", "searchbox", "textbox", "combobox", "checkbox", "dialog", "image", "table") and not name.strip():
                raise Failed(f"a {role} has no name")
        if "dialog" not in roles:
            for role in ("main", "navigation", "banner"):
                if len(roles.get(role, [])) != 1:
                    raise Failed(f"{len(roles.get(role, []))} landmarks of role {role}")
            if self.browser.value("document.querySelectorAll('h1').length") != 1:
                raise Failed("not one heading of the first level")

    def clean(self):
        elsewhere = [url for url in self.browser.requested if not url.startswith((self.url, "about:", "data:"))]
        if elsewhere or self.browser.problems:
            raise Failed(f"asked elsewhere: {elsewhere}; problems: {self.browser.problems}")
        print("ok: nothing from elsewhere, no errors")


def main():
    if len(sys.argv) not in (2, 4) or (len(sys.argv) == 4 and sys.argv[2] != "--screenshots"):
        sys.exit(f"page.py: {COMMAND_LINE}")
    programs, pictures = sys.argv[1], sys.argv[3] if len(sys.argv) == 4 else None
    instances = 10_000 if pictures else 300
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    started = []
    browser = None
    try:
        trial = subprocess.Popen(
            [f"{programs}/examples/page_trial", "--instances", str(instances)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(trial)
        database = lines_until(trial, "DATABASE_URL=")
        environment = {**os.environ, "DATABASE_URL": database}
        for name in ("DUROXIDE_SQL_SCHEMA", "DUROXIDE_SQL_PAGE_TOKEN"):
            environment.pop(name, None)
        page = subprocess.Popen(
            [f"{programs}/duroxide-sql", "serve", "--listen", "127.0.0.1:0", "--allow-changes", "--json"],
            stdout=subprocess.PIPE, text=True, env=environment)
        started.append(page)
        url = json.loads(page.stdout.readline())["url"]
        browser = Chromium()
        story = Story(browser, url, pictures)
        # Four orders of the trial and two parcels.
        story.overview(f"{instances + 6}")
        story.search()
        story.running(trial)
        story.failed()
        story.cancel()
        story.clean()
    except Failed as failure:
        sys.exit(f"not ok: {failure}")
    finally:
        if browser:
            browser.close()
        for process in started:
            process.kill()
            process.wait()


main()
