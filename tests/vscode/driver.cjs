// Drives VS Code in Chromium as a person would, and writes down what is seen: node driver.cjs OPTIONS.json
// Waits for what it expects and never for a time. What a step sees goes into `seen`; a step that fails ends the run and is named.
const fs = require("node:fs");
const path = require("node:path");
const { execFileSync } = require("node:child_process");

const options = JSON.parse(fs.readFileSync(process.argv[2], "utf8"));
const { chromium } = require(options.playwright);
const PATIENCE = 60_000;
const seen = { steps: {} };
const toasts = []; // what notifications said
let page;

const squiggles = () => page.locator(".squiggly-info, .squiggly-warning");
const status = () => page.locator(".statusbar-item", { has: page.locator(".codicon-note") });
const paneOf = (title) => page.locator(".pane", { has: page.locator(".pane-header h3.title", { hasText: new RegExp(`^${title}$`) }) });
const pane = () => paneOf("Memories");
const all = () => paneOf("Repository Memories");
const off = () => page.locator(".statusbar-item", { has: page.locator(".codicon-eye-closed") });
const lenses = () => page.locator(".codelens-decoration", { hasText: "gotcha" });
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
  const box = page.locator(".quick-input-widget input").first();
  const row = page.locator(".quick-input-list .monaco-list-row", { hasText: text }).first();
  await until(`the command ${text}`, async () => {
    await page.keyboard.press("F1"); // an editor that is being opened takes the focus away from the list
    await box.waitFor({ state: "visible", timeout: 3000 });
    await box.fill(`>${text}`);
    await row.waitFor({ state: "visible", timeout: 3000 });
    return row.click({ timeout: 3000 }).then(() => true);
  });
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
  await openFile("pay.py", "cents = sum");
}

/** Open a file of the folder, which has a text. */
async function openFile(name, text) {
  const file = page.locator(".explorer-folders-view .monaco-list-row", { hasText: name });
  await file.waitFor({ timeout: PATIENCE });
  await file.dblclick();
  await line(text).waitFor();
}

/** Open a file by its path, wherever it is. */
async function openPath(file, text) {
  await page.keyboard.press("Control+O");
  const box = page.locator(".quick-input-widget input").first();
  await box.waitFor({ state: "visible" });
  await until(`${file} to be opened`, async () => {
    await box.fill(file);
    await page.keyboard.press("Enter");
    return box.waitFor({ state: "hidden", timeout: 3000 }).then(() => true, () => false);
  });
  await line(text).waitFor();
}

/** Unfold a view, or fold it. */
async function openView(view = pane(), wanted = "true") {
  const header = view.locator(".pane-header").first();
  await header.waitFor();
  if ((await header.getAttribute("aria-expanded")) !== wanted) {
    await header.click();
  }
}

/** The icons in the gutter that are ours. */
const gutter = () =>
  page.evaluate(() => [...document.querySelectorAll(".margin .cgmr, .glyph-margin-widgets .cgmr")].filter((spot) => getComputedStyle(spot).backgroundImage.includes("svg")).length);

/** What is written behind lines. */
const behind = () =>
  page.evaluate(() =>
    [...document.querySelectorAll(".view-line span")]
      .map((span) => getComputedStyle(span, "::after").content)
      .filter((text) => text && !["none", "normal", '""'].includes(text))
      .map((text) => text.replace(/^"|"$/g, "")),
  );

async function oneBehind() {
  let found = [];
  await until("one gotcha behind a line", async () => (found = await behind()).length === 1);
  return found[0];
}

const position = async () => /Ln (\d+)/.exec((await page.locator(".statusbar").innerText()).replace(/\s+/g, " "))?.[1];

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
  async gutter() {
    await until("two icons", async () => (await gutter()) === 2);
    set("gitmem.gutter", false);
    await until("no icon", async () => (await gutter()) === 0);
    set("gitmem.gutter", true);
    await until("two icons", async () => (await gutter()) === 2);
  },
  async currentLine() {
    await line("cents = sum").click();
    seen.unasked = await behind();
    await palette("git mem: Toggle the Gotcha Behind the Current Line");
    seen.behind = [await oneBehind()];
    await calmShot("1-line");
    await page.keyboard.press("ArrowDown");
    await until("nothing behind the next line", async () => (await behind()).length === 0);
    await line("order.lock").click();
    seen.behind.push(await oneBehind());
    // typed above it: it moves along at once, and its old line has nothing
    await line("import decimal").click();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await line("order.lock").click();
    seen.behind.push(await oneBehind(), await position());
    await page.keyboard.press("Control+Z");
    await line("cents = sum").click();
    seen.behind.push(await oneBehind());
  },
  async steps() {
    await line("import decimal").click();
    await until("the first line", async () => (await position()) === "1"); // the status bar follows late
    seen.goes = [];
    for (const word of ["Next", "Next", "Next", "Previous"]) {
      const before = await position();
      await palette(`git mem: Go to the ${word} Gotcha`);
      await until("another line", async () => (await position()) !== before);
      seen.goes.push(await position());
    }
  },
  async marks() {
    await line("cents = sum").click();
    await palette("git mem: Toggle Marks");
    await count(squiggles(), 0);
    await count(lenses(), 0);
    await until("no icon, no text", async () => (await gutter()) === 0 && (await behind()).length === 0);
    await off().waitFor();
    seen.off = await off().getAttribute("aria-label");
    await calmShot("1-off");
    // the state is the workspace's: it is there after a reload
    await page.reload({ waitUntil: "domcontentloaded" });
    await line("cents = sum").waitFor();
    await off().waitFor();
    seen.offSquiggles = await squiggles().count();
    await off().click();
    await count(squiggles(), 2);
    await until("everything again", async () => (await gutter()) === 2);
    await count(off(), 0);
    await palette("git mem: Toggle the Gotcha Behind the Current Line");
    await until("nothing behind lines", async () => (await behind()).length === 0);
  },
  // all files of the repository, while one of them is open
  async panel() {
    await openView(pane(), "false");
    await openView(paneOf("shop"), "false"); // room for all rows: those that are not seen are not in the page
    await openView(all());
    const entries = all().locator(".monaco-list-row");
    await until("the files", async () => (await entries.count()) >= 9);
    seen.panel = await texts(entries);
    await calmShot("9-panel");
    await all().locator(".pane-header").hover();
    await all().locator(".pane-header [aria-label^='Group by Severity']").click();
    await entries.filter({ hasText: /^critical/ }).waitFor();
    seen.panelBySeverity = await texts(entries);
    await calmShot("9-severity");
    await palette("git mem: Filter the Memories");
    const box = page.locator(".quick-input-widget input").first();
    await box.fill("go ship");
    await page.keyboard.press("Enter");
    await until("one row", async () => (await entries.count()) === 2);
    await entries.filter({ hasText: "Ships on Mondays" }).click();
    await line("func Ship").waitFor();
    await until("its line", async () => (await position()) === "4");
    await all().locator(".pane-header").hover();
    await all().locator(".pane-header [aria-label^='Clear the Filter']").click();
    await until("all rows", async () => (await entries.count()) >= 8);
    await all().locator(".pane-header [aria-label^='Group by File']").click();
    await openView(all(), "false");
    await openView(paneOf("shop"));
    await openView();
    await page.locator(".tab", { hasText: "pay.py" }).click();
    await count(rows(), 2);
  },
  async languages() {
    seen.languages = {};
    for (const [name, text] of [["ship.go", "func Ship"], ["parse.rs", "fn parse"], ["data.json", '"rate"'], ["pay.py", "cents = sum"]]) {
      await openFile(name, text);
      await until(`the mark of ${name}`, async () => (await gutter()) > 0);
      seen.languages[name] = await page.locator(".squiggly-hint, .squiggly-info, .squiggly-warning").count();
    }
    await count(squiggles(), 2);
  },
  // documents that are of no work tree: a background question about them is nobody's error
  async foreign() {
    const before = toasts.length;
    await openPath(options.library, "library");
    await openPath(path.join(options.repo, ".git", "COMMIT_EDITMSG"), "pay");
    await openPath(path.join(path.dirname(options.library), "note.ipynb"), "sum_of_cells");
    await page.keyboard.press("Control+W");
    await page.locator(".tab", { hasText: "pay.py" }).click();
    await line("cents = sum").waitFor();
    await palette("File: Compare Active File with Saved");
    await page.locator(".monaco-diff-editor .view-line", { hasText: "cents = sum" }).first().waitFor();
    await calmShot("9-diff");
    await page.keyboard.press("Control+W");
    await page.locator(".tab", { hasText: "COMMIT_EDITMSG" }).click();
    await palette("Preferences: Open User Settings (JSON)");
    await line("workbench.startupEditor").waitFor();
    await until("the settings closed", async () => {
      await page.keyboard.press("Escape"); // they open above the other editors
      return (await line("workbench.startupEditor").count()) === 0;
    });
    await palette("Output: Focus on Output View");
    await page.locator(".output-view").first().waitFor();
    seen.foreignView = await welcome("Open a file of a git repository");
    await calmShot("9-foreign");
    await page.keyboard.press("Control+J");
    await page.locator(".tab", { hasText: "pay.py" }).click();
    await line("cents = sum").waitFor();
    await count(rows(), 2);
    seen.foreignToasts = toasts.slice(before);
  },
  async draft() {
    await line("return decimal").click();
    await palette("git mem: Write a Gotcha About This");
    const draft = page.locator(".tab", { hasText: /\.md/ });
    await draft.waitFor();
    await line("pay.py:6").waitFor();
    await page.locator(".view-line", { hasText: /^#\s*$/ }).first().click();
    await page.keyboard.press("End");
    await page.keyboard.type("Rounds down");
    // VS Code saves it by itself: it is recorded, and stays open for what is still to be typed
    await until("what was done", async () => toasts.some((text) => text.includes("Recorded got-")));
    seen.draftStays = await draft.count();
    await page.keyboard.type(" to cents");
    await calmShot("9-draft");
    await page.keyboard.press("Control+S");
    await count(draft, 0);
    await page.locator(".statusbar", { hasText: "git mem: saved" }).waitFor();
    await line("cents = sum").waitFor();
    await count(squiggles(), 3);
    await palette("Notifications: Clear All Notifications");
    await rows().filter({ hasText: "Rounds down to cents" }).waitFor();
    await count(rows(), 3);
    const id = /got-\w+/.exec(toasts.find((text) => text.includes("Recorded got-")))[0];
    execFileSync(options.python, ["-m", "gitmem", "forget", id], { cwd: options.repo, env: options.env, stdio: "pipe" });
    await count(squiggles(), 2);
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
    execFileSync("git", ["config", "gitmem.editorCodeLens", "false"], { cwd: options.repo, env: options.env });
    set("gitmem.codeLens", true); // the editor's own setting wins
    await page.locator(".codelens-decoration", { hasText: "gotcha" }).first().waitFor();
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
  await page.exposeFunction("noteToast", (text) => toasts.includes(text) || toasts.push(text));
  await page.addInitScript(() => {
    const note = () => document.querySelectorAll(".notifications-toasts .notification-list-item-message").forEach((item) => item.textContent && window.noteToast(item.textContent));
    new MutationObserver(note).observe(document, { childList: true, subtree: true });
  });
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
