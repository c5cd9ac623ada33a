// Drives VS Code in Chromium as a person would, and writes down what is seen: node driver.cjs OPTIONS.json
// Waits for what it expects and never for a time. What a step sees goes into `seen`; a step that fails ends the run and is named.
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

const options = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { chromium } = require(options.playwright);
const PATIENCE = 60_000;
const seen = { steps: {} };
let page;

const squiggles = () => page.locator(".squiggly-info, .squiggly-warning");
const status = () => page.locator(".statusbar-item", { has: page.locator(".codicon-note") });
const pane = () => page.locator(".pane", { has: page.locator(".pane-header", { hasText: "Memories" }) });
const uses = () => pane().locator(".monaco-list-row", { hasText: "Used by" });
const rows = () => pane().locator(".monaco-list-row").filter({ hasNotText: "Used by" });
const texts = async (locator) => (await locator.allInnerTexts()).map((text) => text.replace(/\s+/g, " ").trim());
const line = (text) => page.locator(".view-line", { hasText: text }).first();

async function until(what, condition) {
  const end = Date.now() + PATIENCE;
  let last;
  for (;;) {
    try {
      last = await condition();
      if (last) {
        return last;
      }
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain: ${what}; last: ${last}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const count = (locator, n) => until(`${n} of ${locator}`, async () => (await locator.count()) === n);
const shot = async (name, clip) => page.screenshot({ path: path.join(options.pictures, `${name}.png`), ...(clip ? { clip } : {}) });

/** A picture of what has come to rest: two in a row that are the same. */
async function calmShot(name) {
  let before = Buffer.alloc(0);
  await until(`a calm picture ${name}`, async () => {
    const now = await page.screenshot();
    const same = now.equals(before);
    before = now;
    return same;
  }).catch(() => {});
  fs.writeFileSync(path.join(options.pictures, `${name}.png`), before);
}

async function palette(text) {
  await page.keyboard.press("F1");
  const box = page.locator(".quick-input-widget input").first();
  await box.waitFor({ state: "visible" });
  await box.fill(`>${text}`);
  await page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first().click();
}

/** The hover of a word; the mouse is moved until it comes, for an editor under way drops it. */
async function hover(text) {
  const widget = page.locator(".monaco-editor .monaco-hover:visible, .monaco-hover.fade-in:visible").first();
  const box = await line(text).boundingBox();
  let step = 0;
  await until(`the hover of ${text}`, async () => {
    if ((await widget.count()) > 0 && /Gotcha|gitmem/.test(await widget.innerText())) {
      return true;
    }
    step += 1;
    await page.mouse.move(box.x + 90 + (step % 2) * 12, box.y + box.height / 2);
    await widget.waitFor({ state: "visible", timeout: 2000 }).catch(() => {});
    return false;
  });
  return (await widget.innerText()).trim();
}

/** Open the list of code actions of a line. */
async function actions(text) {
  const list = page.locator(".action-widget .monaco-list-row.action");
  await until(`the actions of ${text}`, async () => {
    await page.keyboard.press("Escape");
    await line(text).click();
    await page.keyboard.press("Control+.");
    await list.first().waitFor({ state: "visible", timeout: 3000 }).catch(() => {});
    return (await texts(list)).some((title) => title.includes("gotcha"));
  });
  return list;
}

/** Open a folder and the file in it. */
async function openFolder(folder) {
  await page.goto(`${options.url}/?folder=${encodeURIComponent(folder)}`, { waitUntil: "domcontentloaded", timeout: PATIENCE });
  await page.waitForSelector(".monaco-workbench", { timeout: PATIENCE });
  const file = page.locator(".explorer-folders-view .monaco-list-row", { hasText: "pay.py" });
  await file.waitFor({ timeout: PATIENCE });
  await file.dblclick();
  await line("cents = sum").waitFor();
}

/** Unfold the view. */
async function openView() {
  await pane().locator(".pane-header").first().waitFor();
  if ((await pane().locator(".pane-header").first().getAttribute("aria-expanded")) !== "true") {
    await pane().locator(".pane-header").first().click();
  }
}

/** Wait for a text in the view, and return all of it. */
async function welcome(text) {
  await openView();
  await until(`'${text}' in the view`, async () => (await pane().innerText()).includes(text));
  return (await pane().innerText()).replace(/\s+/g, " ");
}

const starts = () => fs.readFileSync(options.starts, "utf8").split("\n").length - 1;
const gotcha = (repo, title, place) =>
  execFileSync(options.python, ["-m", "gitmem", "add", "-k", "gotcha", title, "--anchor", place], { cwd: repo, env: options.env, stdio: "pipe" });

function set(name, value) {
  const settings = JSON.parse(fs.readFileSync(options.settings, "utf8"));
  fs.writeFileSync(options.settings, JSON.stringify({ ...settings, [name]: value }));
}

const steps = {
  // in a folder that is not trusted
  async doubt() {
    await openFolder(options.repo);
    await welcome("starts when this folder is trusted");
    seen.startsUntrusted = starts();
    await calmShot("0-untrusted");
  },
  async trust() {
    await pane().locator(".monaco-button", { hasText: "Manage Trust" }).click();
    await page.locator(".workspace-trust-editor .monaco-button", { hasText: /^Trust/ }).first().click();
    await count(squiggles(), 2);
  },
  // in a repository without a store
  async empty() {
    seen.startsBefore = starts();
    await openFolder(options.plain);
    seen.empty = await welcome("Nothing is recorded in this repository yet");
    seen.startsEmpty = starts();
  },
  async born() {
    gotcha(options.plain, "The first one", "pay.py:5");
    await count(squiggles(), 1);
    seen.startsBorn = starts();
  },
  async open() {
    await openFolder(options.repo);
  },
  async squiggles() {
    await until("both squiggles", async () => (await page.locator(".squiggly-info").count()) === 1 && (await page.locator(".squiggly-warning").count()) === 1);
    seen.squiggles = { info: await page.locator(".squiggly-info").count(), warning: await page.locator(".squiggly-warning").count() };
  },
  async view() {
    await openView();
    await count(rows(), 2);
    seen.rows = await texts(rows());
    await status().waitFor();
    seen.status = (await texts(status()))[0];
    seen.statusLabel = await status().getAttribute("aria-label");
    await calmShot("1-open");
  },
  async lens() {
    const lens = page.locator(".codelens-decoration", { hasText: "gotcha" });
    await until("the lens", async () => {
      if (await lens.first().waitFor({ timeout: 4000 }).then(() => true, () => false)) {
        return true;
      }
      // VS Code does not always ask for the lenses of a file that was open before the server was there: look at the file anew
      await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "README.md" }).click();
      await page.locator(".tab.active", { hasText: "README.md" }).waitFor();
      await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "pay.py" }).dblclick();
      await line("cents = sum").waitFor();
      return false;
    });
    seen.lens = await texts(lens);
    await count(squiggles(), 2);
    await count(rows(), 2);
  },
  async hover() {
    seen.hover = await hover("cents = sum");
    await calmShot("2-hover");
  },
  async problems() {
    await page.keyboard.press("Control+Shift+M");
    await until("two problems", async () => (await page.locator(".markers-panel .monaco-list-row").count()) >= 3);
    seen.problems = await texts(page.locator(".markers-panel .monaco-list-row"));
    await page.keyboard.press("Control+J");
    await until("no panel", async () => (await page.locator(".markers-panel:visible").count()) === 0);
  },
  async reveal() {
    await rows().nth(1).click();
    await until("the line of the second row", async () => /Ln 10\b/.test((await page.locator(".statusbar").innerText()).replace(/\s+/g, " ")));
  },
  async show() {
    await rows().nth(1).hover();
    await rows().nth(1).locator("[aria-label^='Show the Record'], .codicon-open-preview").first().click();
    const outer = page.frameLocator("iframe.webview.ready").first();
    const body = outer.frameLocator("iframe#active-frame").locator("body");
    await until("the record's preview", async () => (await body.innerText()).includes("Two refunds"));
    seen.record = await body.innerText();
    await calmShot("3-record");
    await page.keyboard.press("Control+W");
    await until("the preview closed", async () => (await page.locator("iframe.webview").count()) === 0);
  },
  async resolve() {
    const list = await actions("cents = sum");
    seen.actions = await texts(list);
    await calmShot("4-actions");
    await list.filter({ hasText: "Resolve" }).first().click();
    await count(squiggles(), 1);
    seen.squigglesAfter = await squiggles().count();
    await until("the status bar to count it", async () => (await texts(status()))[0] === "1");
    await calmShot("5-resolved");
  },
  async elsewhere() {
    gotcha(options.repo, "Imports decimal on purpose", "pay.py:1");
    await count(squiggles(), 2);
  },
  async record() {
    await line("return order.total").click();
    await palette("git mem: Record a Gotcha Here");
    const box = page.locator(".quick-input-widget input").first();
    await until("the question for the title", async () => (await page.locator(".quick-input-widget").innerText()).includes("what should the next one know"));
    await box.fill("Refunds are negative");
    await shot("6-record");
    await page.keyboard.press("Enter");
    await page.locator(".quick-input-list .monaco-list-row", { hasText: "critical" }).first().click();
    await count(squiggles(), 3);
    await until("the status bar to count it", async () => (await texts(status()))[0] === "3");
    await rows().filter({ hasText: "Refunds are negative" }).waitFor();
    seen.rowsAtEnd = await texts(rows());
  },
  async snooze() {
    await line("return order.total").click();
    await palette("git mem: Snooze Gotcha");
    await count(squiggles(), 2);
    await page.locator(".notification-toast", { hasText: "snoozed" }).locator(".monaco-button", { hasText: "Undo" }).click();
    await count(squiggles(), 3);
    // later it is lifted in the view, where it is still listed
    await line("return order.total").click();
    await palette("git mem: Snooze Gotcha");
    await count(squiggles(), 2);
    const snoozed = rows().filter({ hasText: "snoozed until" });
    await snoozed.waitFor();
    seen.snoozedRow = (await texts(snoozed))[0];
    await snoozed.hover();
    await snoozed.locator(".actions .action-label[aria-label^='Show Snoozed Gotcha Again']").click();
    await count(squiggles(), 3);
    await count(snoozed, 0);
    await palette("Notifications: Clear All Notifications");
  },
  // who uses the file, below what is recorded
  async uses() {
    await uses().waitFor();
    seen.uses = (await texts(uses()))[0];
    await uses().click();
    const user = pane().locator(".monaco-list-row", { hasText: "shop.py" });
    await user.waitFor();
    await uses().hover();
    seen.usesActions = await uses().locator(".actions .action-item").count();
    await calmShot("8-uses");
    await user.click();
    await line("print(total").waitFor();
    await page.locator(".explorer-folders-view .monaco-list-row", { hasText: "pay.py" }).dblclick();
    await line("cents = sum").waitFor();
    await count(squiggles(), 3);
  },
  // in a terminal, where it can be ended
  async dashboard() {
    set("terminal.integrated.gpuAcceleration", "off"); // so that the terminal's text is in the page
    await palette("git mem: Open the Dashboard");
    const screen = page.locator(".terminal .xterm-rows").first();
    await until("the address of the dashboard", async () => /127\.0\.0\.1:\d+/.test(await screen.innerText()));
    const port = /127\.0\.0\.1:(\d+)/.exec(await screen.innerText())[1];
    seen.dashboard = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    await palette("Terminal: Kill All Terminals");
    await until("the end of the server", async () => fetch(`http://127.0.0.1:${port}/`).then(() => false, () => true));
    await line("cents = sum").click();
  },
  async settings() {
    await page.locator(".codelens-decoration", { hasText: "gotcha" }).first().waitFor();
    set("gitmem.codeLens", false);
    await until("no lens", async () => (await page.locator(".codelens-decoration", { hasText: "gotcha" }).count()) === 0);
    set("gitmem.severity", { critical: "hint" }); // the others stay as git's configuration has them
    execFileSync("git", ["config", "gitmem.editorWarning", "error"], { cwd: options.repo, env: options.env });
    await count(page.locator(".squiggly-error"), 1);
    await count(squiggles(), 0);
    set("gitmem.severity", { critical: "warning", warning: "warning" });
    await count(squiggles(), 3);
  },
  async missing() {
    set("gitmem.path", "/no/such/server");
    const toast = page.locator(".notification-toast", { hasText: "git mem" }).first();
    await toast.waitFor({ timeout: PATIENCE });
    seen.missing = (await toast.innerText()).replace(/\s+/g, " ");
    await calmShot("7-missing");
    await toast.locator(".monaco-button", { hasText: "How to Install" }).click();
    const body = page.frameLocator("iframe.webview.ready").first().frameLocator("iframe#active-frame").locator("body");
    await until("how to install it", async () => (await body.innerText()).includes("pipx install"));
    await page.keyboard.press("Control+W");
    await page.locator(".tab", { hasText: "pay.py" }).click();
    await line("cents = sum").waitFor();
    await count(squiggles(), 0);
  },
  async refused() {
    const toasts = page.locator(".notification-toast", { hasText: "/no/such/server" });
    await palette("git mem: Record a Gotcha Here");
    await toasts.first().waitFor();
    seen.askedForTitle = (await page.locator(".quick-input-widget").innerText()).includes("what should the next one know");
  },
  async found() {
    const before = starts();
    set("gitmem.path", "");
    await count(squiggles(), 3);
    seen.startsFound = starts() - before;
  },
};

(async () => {
  const browser = await chromium.launch({ executablePath: options.chromium, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
  page = await browser.newPage({ viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1 });
  page.setDefaultTimeout(PATIENCE);
  let now;
  try {
    for (const name of options.steps) {
      now = name;
      const start = Date.now();
      await steps[name]();
      seen.steps[name] = (Date.now() - start) / 1000;
    }
  } catch (error) {
    seen.failed = `${now}: ${error.message}`;
    seen.screen = (await texts(page.locator(".monaco-workbench")).catch(() => [])).join(" ").slice(0, 3000);
    await shot("failed").catch(() => {});
  }
  fs.writeFileSync(options.out, JSON.stringify(seen, null, 1));
  await browser.close();
})();
