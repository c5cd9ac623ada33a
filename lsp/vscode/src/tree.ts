/** The view `Memories`: what is recorded about the file in the editor. */

import * as vscode from "vscode";

import type { Client } from "./client";
import { type Code, type CodeRow, EVERYTHING, isCode, isOpen, isSnoozed, lineNumber, oneLine, type Row, type Shown } from "./rows";
import { lookAt } from "./store";

const ICONS: Record<string, [string, string]> = {
  critical: ["warning", "list.warningForeground"],
  warning: ["info", "notificationsInfoIcon.foreground"],
  info: ["lightbulb", "descriptionForeground"],
};

export class Tree implements vscode.TreeDataProvider<Row | CodeRow>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly filled = new vscode.EventEmitter<Row[]>();
  private uri: vscode.Uri | undefined;
  private rows: Row[] = [];
  private code: Code | undefined;
  private codeOf = "";
  private turn = 0;

  readonly onDidChangeTreeData = this.changed.event;
  /** Fires with the rows of the file in the editor. */
  readonly onFill = this.filled.event;

  constructor(private readonly client: Client) {}

  /** The file that the rows are about. */
  get file(): vscode.Uri | undefined {
    return this.uri;
  }

  /** Ask the server about the file in the editor; an answer that comes after a later question is dropped. */
  async refresh(): Promise<void> {
    const turn = ++this.turn;
    const document = vscode.window.activeTextEditor?.document;
    if (document && document.uri.scheme === "file") {
      this.uri = document.uri;
    } else if (!vscode.window.visibleTextEditors.some((editor) => editor.document.uri.toString() === this.uri?.toString())) {
      this.uri = undefined; // a panel or a preview may have the focus while the file is still seen
    }
    const found = this.uri && this.client.condition === "running" ? await this.client.ask<Row[]>("gitmem.list", this.client.uri(this.uri), EVERYTHING) : undefined;
    const { condition } = this.client;
    const outside = !this.uri || (condition === "idle" && (await lookAt(this.uri.fsPath)) === "outside");
    if (turn !== this.turn) {
      return;
    }
    this.rows = [...(found ?? [])].sort(byPlace);
    const file = this.uri && condition === "running" ? this.uri.toString() : "";
    if (file !== this.codeOf) {
      this.code = undefined; // of the same file it stays until there is another answer
      this.codeOf = file;
    }
    await vscode.commands.executeCommand("setContext", "gitmem.state", (condition === "running" || condition === "idle") && outside ? "nofile" : condition);
    this.changed.fire();
    this.filled.fire(this.rows);
    // after what is recorded: the first time the code of a project is read takes seconds
    const code = this.uri && condition === "running" ? await this.client.ask<Code>("gitmem.code", this.client.uri(this.uri)) : undefined;
    if (turn === this.turn && (code || this.code)) {
      this.code = code;
      this.changed.fire();
    }
  }

  getChildren(row?: Row | CodeRow): (Row | CodeRow)[] {
    if (row) {
      return isCode(row) && row.user === undefined ? row.code.usedBy.map((user) => ({ code: row.code, user })) : [];
    }
    return this.code ? [...this.rows, { code: this.code }] : this.rows;
  }

  getTreeItem(row: Row | CodeRow): vscode.TreeItem {
    if (isCode(row)) {
      return row.user === undefined ? codeItem(row.code) : this.userItem(row.user);
    }
    const item = new vscode.TreeItem(oneLine(row.title));
    item.id = row.id;
    item.description = describe(row);
    item.contextValue = [context(row), row.status === "pinned" ? "pinned" : "loose"].join(".");
    item.iconPath = icon(row);
    item.command = { command: "gitmem.editor.reveal", title: "Go to the Line", arguments: [row] };
    item.accessibilityInformation = { label: `${row.kind} ${oneLine(row.title)}, ${item.description}` };
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, row: Row | CodeRow): Promise<vscode.TreeItem> {
    if (isCode(row)) {
      return item;
    }
    const shown = await this.client.ask<Shown>("gitmem.show", row.id);
    if (shown) {
      item.tooltip = new vscode.MarkdownString(shown.markdown); // not trusted: no commands, no HTML
    }
    return item;
  }

  private userItem(user: string): vscode.TreeItem {
    const item = new vscode.TreeItem(oneLine(user));
    const folder = this.uri && vscode.workspace.getWorkspaceFolder(this.uri);
    const file = this.uri && this.code && rootOf(this.uri, this.code.path, folder?.uri);
    if (file) {
      item.resourceUri = vscode.Uri.joinPath(file, user);
      item.command = { command: "vscode.open", title: "Open", arguments: [item.resourceUri] };
    }
    item.iconPath = vscode.ThemeIcon.File;
    return item;
  }

  dispose(): void {
    this.changed.dispose();
    this.filled.dispose();
  }
}

/** The folder that paths are told from: the file's own, without its path. */
function rootOf(file: vscode.Uri, path: string, otherwise: vscode.Uri | undefined): vscode.Uri | undefined {
  return file.path.endsWith(`/${path}`) ? file.with({ path: file.path.slice(0, -path.length - 1) }) : otherwise;
}

function codeItem(code: Code): vscode.TreeItem {
  const users = code.users === 1 ? "1 file" : `${code.users} files`;
  const item = new vscode.TreeItem(`Used by ${users}`, code.users ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None);
  item.id = "code";
  item.description = `rank ${code.place} of ${code.of}`;
  item.iconPath = new vscode.ThemeIcon("type-hierarchy-sub");
  item.contextValue = "code"; // no record: its commands are not offered
  item.tooltip = `What hangs on ${oneLine(code.path)}, by the imports of the commit that is checked out`;
  item.accessibilityInformation = { label: `used by ${users}, ${item.description}` };
  return item;
}

/** What the menus know a row by. */
function context(row: Row): string {
  if (row.kind !== "gotcha") {
    return "memory";
  }
  return row.resolved ? "gotcha.resolved" : isSnoozed(row) ? "gotcha.snoozed" : "gotcha.open";
}

/** Open gotchas, memories, and then what is snoozed or resolved. */
function group(row: Row): number {
  return isOpen(row) ? 0 : row.kind !== "gotcha" ? 1 : 2;
}

function byPlace(a: Row, b: Row): number {
  return group(a) - group(b) || (a.line ?? 0) - (b.line ?? 0) || a.id.localeCompare(b.id);
}

function icon(row: Row): vscode.ThemeIcon {
  if (row.resolved) {
    return new vscode.ThemeIcon("check", new vscode.ThemeColor("testing.iconPassed"));
  }
  if (isSnoozed(row)) {
    return new vscode.ThemeIcon("bell-slash");
  }
  const [name, color] = (row.kind === "gotcha" && ICONS[row.severity ?? ""]) || ["note", "foreground"];
  return new vscode.ThemeIcon(name, new vscode.ThemeColor(color));
}

function describe(row: Row): string {
  const parts: string[] = [];
  const line = lineNumber(row);
  if (line !== undefined) {
    parts.push(`line ${line}`);
  }
  if (row.kind !== "gotcha" && row.type) {
    parts.push(row.type);
  }
  if (row.snoozed_until) {
    parts.push(`snoozed until ${row.snoozed_until.slice(0, 10)}`);
  }
  if (row.unconfirmed) {
    parts.push("unconfirmed");
  }
  if (row.resolved) {
    parts.push("resolved");
  }
  if (row.state && !["same", "file", "glob", "moved"].includes(row.state)) {
    parts.push(row.state === "adrift" ? "code not found" : "code changed since");
  }
  return parts.join(", ");
}
