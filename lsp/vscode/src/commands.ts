/** The commands that people run: from the palette, the view, the editor's menu. The server's own have other names (`gitmem.resolve`, ...). */

import * as vscode from "vscode";

import type { Client } from "./client";
import type { Marks } from "./marks";
import type { Records } from "./records";
import type { RepositoryTree } from "./repository";
import { EVERYTHING, isOpen, isSnoozed, lineNumber, oneLine, type Row, type Shown, type Status } from "./rows";
import { sentence } from "./status";
import { lookAt } from "./store";
import type { Tree } from "./tree";

const SEVERITIES = [
  { label: "warning", description: "costs time when it is not known" },
  { label: "critical", description: "breaks something or loses data" },
  { label: "info", description: "good to know" },
];

/** What commands work on. */
interface Parts {
  client: Client;
  tree: Tree;
  all: RepositoryTree;
  marks: Marks;
  records: Records;
}

export class Commands {
  private readonly client: Client;
  private readonly tree: Tree;
  private readonly records: Records;

  constructor(private readonly parts: Parts) {
    this.client = parts.client;
    this.tree = parts.tree;
    this.records = parts.records;
  }

  register(extension: vscode.Uri): vscode.Disposable {
    const { all: repository, marks } = this.parts;
    const all: Record<string, (row?: Row) => unknown> = {
      toggleMarks: () => marks.toggle(),
      toggleLine: () => toggleSetting("currentLine"),
      next: () => marks.go(1),
      previous: () => marks.go(-1),
      filter: () => repository.filter(),
      clearFilter: () => repository.narrow(""),
      groupBySeverity: () => repository.regroup(),
      groupByFile: () => repository.regroup(),
      record: () => this.record(),
      draft: () => this.draft(),
      resolve: (row) => this.onOne(row, isOpen, (id) => this.run("gitmem.resolve", id, ...this.fileArgument())),
      reopen: (row) => this.onOne(row, (r) => r.resolved === true, (id) => this.run("gitmem.reopen", id, ...this.fileArgument())),
      snooze: (row) => this.onOne(row, isOpen, (id) => this.run("gitmem.snooze", id)),
      unsnooze: (row) => this.onOne(row, isSnoozed, (id) => this.run("gitmem.unsnooze", id)),
      verify: (row) => this.onOne(row, () => true, (id) => this.run("gitmem.verify", id)),
      pin: (row) => this.onOne(row, (r) => r.status !== "pinned", (id) => this.run("gitmem.pin", id)),
      unpin: (row) => this.onOne(row, (r) => r.status === "pinned", (id) => this.run("gitmem.unpin", id)),
      edit: (row) => this.onOne(row, () => true, (id) => this.run("gitmem.edit", id)),
      supersede: (row) => this.onOne(row, () => true, (id) => this.run("gitmem.supersede", id)),
      reanchor: (row) => this.onOne(row, () => true, (id) => this.reanchor(id)),
      show: (row) => this.onOne(row, () => true, (id) => this.records.show(id)),
      reveal: (row) => this.reveal(row),
      copyId: (row) => row && vscode.env.clipboard.writeText(row.id),
      why: () => this.why(),
      timeline: () => this.timeline(),
      dashboard: () => this.dashboard(),
      status: () => this.status(),
      refresh: () => this.client.look().then(() => Promise.all([this.tree.refresh(), repository.refresh()])),
      restart: () => this.client.restart(),
      output: () => this.client.showOutput(),
      install: () => explainInstall(extension),
    };
    return vscode.Disposable.from(...Object.entries(all).map(([name, run]) => vscode.commands.registerCommand(`gitmem.editor.${name}`, run)));
  }

  /** Show what the server answered to a command that a lens or a code action ran. */
  async answered(command: string, args: readonly unknown[], result: unknown): Promise<void> {
    if (command === "gitmem.show" && result) {
      await this.records.preview(result as Shown);
    } else if (command === "gitmem.snooze" && result) {
      void this.offerUnsnooze(args[0]);
    } else if (command === "gitmem.list" || command === "gitmem.report") {
      await vscode.commands.executeCommand("gitmem.memories.focus");
    }
    await this.tree.refresh();
  }

  private async run(command: string, ...args: unknown[]): Promise<void> {
    const result = await this.client.run<unknown>(command, ...args);
    await this.answered(command, args, result);
  }

  /** A snooze that was not meant is taken back at once. */
  private async offerUnsnooze(id: unknown): Promise<void> {
    if (await vscode.window.showInformationMessage("git mem: snoozed, for you and in this clone.", "Undo")) {
      await this.run("gitmem.unsnooze", id);
    }
  }

  private fileArgument(): string[] {
    return this.tree.file ? [this.client.uri(this.tree.file)] : [];
  }

  /** Run something on the row of the view that was clicked, else on a gotcha of the cursor's line, else on one that is chosen. */
  private async onOne(row: Row | undefined, fits: (row: Row) => boolean, work: (id: string) => Promise<void>): Promise<void> {
    if (row?.id) {
      return work(row.id);
    }
    const here = this.here();
    if (!here) {
      return;
    }
    if (!(await this.client.ready())) {
      return;
    }
    const rows = ((await this.client.run<Row[]>("gitmem.list", here.uri, EVERYTHING)) ?? []).filter(fits);
    const line = here.editor.selection.active.line + 1;
    const near = rows.filter((found) => lineNumber(found) === line);
    if (near.length === 1 && near[0]) {
      return work(near[0].id);
    }
    const choice = near.length > 0 ? near : rows;
    if (choice.length === 0) {
      void vscode.window.showInformationMessage("git mem: this file has nothing to choose from.");
      return;
    }
    const items = choice.map((found) => ({ label: oneLine(found.title), description: lineNumber(found) ? `line ${lineNumber(found)}` : "", id: found.id }));
    const picked = await vscode.window.showQuickPick(items, { placeHolder: "Which one?" });
    if (picked) {
      await work(picked.id);
    }
  }

  private here(): { editor: vscode.TextEditor; uri: string } | undefined {
    const editor = vscode.window.activeTextEditor;
    if (!editor || editor.document.uri.scheme !== "file") {
      void vscode.window.showInformationMessage("git mem: open a file of a git repository first.");
      return undefined;
    }
    return { editor, uri: this.client.uri(editor.document.uri) };
  }

  /** Serve the dashboard in a terminal, where it can be seen and ended; it opens a browser. */
  private async dashboard(): Promise<void> {
    const file = vscode.window.activeTextEditor?.document.uri;
    const folder = (file && vscode.workspace.getWorkspaceFolder(file)) ?? vscode.workspace.workspaceFolders?.[0];
    const program = folder && (await this.client.program());
    if (!folder) {
      void vscode.window.showInformationMessage("git mem: open a folder of a git repository first.");
    } else if (program) {
      const { command, args } = program;
      vscode.window.createTerminal({ name: "git mem dashboard", cwd: folder.uri, shellPath: command, shellArgs: [...args, "dashboard"] }).show();
    }
  }

  private async record(): Promise<void> {
    const here = this.here();
    if (!here || !(await this.isOfRepository(here.editor)) || !(await this.client.ready())) {
      return; // before anything is typed
    }
    const range = chosen(here.editor);
    const title = await vscode.window.showInputBox({ title: "Record a gotcha", prompt: `About ${words(range)}: what should the next one know?`, ignoreFocusOut: true });
    if (!title?.trim()) {
      return;
    }
    const severity = await vscode.window.showQuickPick(SEVERITIES, { title: "Record a gotcha", placeHolder: "How bad is it?" });
    if (severity) {
      await this.run("gitmem.record", here.uri, range, title.trim(), { severity: severity.label });
    }
  }

  private async isOfRepository(editor: vscode.TextEditor): Promise<boolean> {
    const inside = (await lookAt(editor.document.uri.fsPath)) !== "outside";
    if (!inside) {
      void vscode.window.showInformationMessage("git mem: this file is in no git repository.");
    }
    return inside;
  }

  private async draft(): Promise<void> {
    const here = this.here();
    if (here) {
      await this.run("gitmem.record", here.uri, chosen(here.editor));
    }
  }

  private async reanchor(id: string): Promise<void> {
    const here = this.here();
    if (here) {
      await this.run("gitmem.reanchor", id, here.uri, chosen(here.editor));
    }
  }

  private async reveal(row: Row | undefined): Promise<void> {
    if (row?.path !== undefined) {
      return this.revealElsewhere(row);
    }
    if (typeof row?.line === "number" && this.tree.file) {
      await goTo(this.tree.file, row.line);
    } else if (row?.id) {
      await this.records.show(row.id);
    }
  }

  /** Open the file of a row of the repository's list, which has the line of the time when it was recorded: the server knows where it is now. */
  private async revealElsewhere(row: Row): Promise<void> {
    const file = this.parts.all.fileOf(row);
    const isThere = file && (await vscode.workspace.fs.stat(file).then(() => true, () => false));
    if (!file || !isThere) {
      return this.records.show(row.id);
    }
    const rows = await this.client.ask<Row[]>("gitmem.list", this.client.uri(file), EVERYTHING);
    const now = rows?.find((other) => other.id === row.id);
    await goTo(file, now?.line ?? row.line ?? 0);
  }

  private async why(): Promise<void> {
    const here = this.here();
    if (here) {
      await this.run("gitmem.why", here.uri, chosen(here.editor));
    }
  }

  private async timeline(): Promise<void> {
    const here = this.here();
    if (here) {
      const { line, character } = here.editor.selection.active;
      await this.run("gitmem.timeline", here.uri, { line, character });
    }
  }

  private async status(): Promise<void> {
    if (await this.client.ready()) {
      const status = await this.client.run<Status>("gitmem.status", ...this.fileArgument());
      void vscode.window.showInformationMessage(status ? `git mem: ${sentence(status)}.` : "git mem: open a file of a git repository first.");
    }
  }
}

/** Open a file at a line, from 0. */
async function goTo(file: vscode.Uri, line: number): Promise<void> {
  const at = new vscode.Position(line, 0);
  const editor = await vscode.window.showTextDocument(file, { selection: new vscode.Range(at, at) });
  editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

/** Turn a switch of the settings round, where it is set; in the user's settings when it is nowhere. */
async function toggleSetting(name: string): Promise<void> {
  const config = vscode.workspace.getConfiguration("gitmem");
  const nearer = config.inspect(name)?.workspaceValue !== undefined;
  await config.update(name, !config.get<boolean>(name), nearer ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global);
}

/** Show the part of our README that says how to install the server. A packaged extension has its name in small letters. */
export async function explainInstall(extension: vscode.Uri): Promise<void> {
  const packaged = vscode.Uri.joinPath(extension, "readme.md");
  const found = await vscode.workspace.fs.stat(packaged).then(
    () => packaged,
    () => vscode.Uri.joinPath(extension, "README.md"),
  );
  await vscode.commands.executeCommand("markdown.showPreview", found.with({ fragment: "install" }));
}

/** Return the lines of the selection as a range of the protocol; a selection that ends at the start of a line does not mean that line. */
function chosen(editor: vscode.TextEditor): { start: { line: number; character: number }; end: { line: number; character: number } } {
  const { start, end } = editor.selection;
  const last = end.line > start.line && end.character === 0 ? end.line - 1 : end.line;
  return { start: { line: start.line, character: 0 }, end: { line: last, character: Math.max(editor.document.lineAt(last).text.length, 1) } };
}

function words(range: ReturnType<typeof chosen>): string {
  const [first, last] = [range.start.line + 1, range.end.line + 1];
  return first === last ? `line ${first}` : `lines ${first} to ${last}`;
}
