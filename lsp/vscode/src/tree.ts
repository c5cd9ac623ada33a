/** The view `Memories`: what is recorded about the file in the editor. */

import * as vscode from "vscode";

import type { Client } from "./client";
import { byPlace, recordItem } from "./items";
import { type Code, type CodeRow, EVERYTHING, isCode, oneLine, type Row, type Shown } from "./rows";
import { lookAt } from "./store";

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
      const foreign = await isForeign(document.uri);
      if (turn !== this.turn) {
        return;
      }
      this.uri = foreign ? undefined : document.uri;
    } else if (!vscode.window.visibleTextEditors.some((editor) => editor.document.uri.toString() === this.uri?.toString())) {
      this.uri = undefined; // a panel or a preview may have the focus while the file is still seen
    }
    const found = this.uri && this.client.condition === "running" ? await this.client.ask<Row[]>("gitmem.list", this.client.uri(this.uri), EVERYTHING) : undefined;
    const { condition } = this.client;
    if (turn !== this.turn) {
      return;
    }
    this.rows = [...(found ?? [])].sort(byPlace);
    const file = this.uri && condition === "running" ? this.uri.toString() : "";
    if (file !== this.codeOf) {
      this.code = undefined; // of the same file it stays until there is another answer
      this.codeOf = file;
    }
    await vscode.commands.executeCommand("setContext", "gitmem.state", (condition === "running" || condition === "idle") && !this.uri ? "nofile" : condition);
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
    return recordItem(row);
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

/** Whether a file is of no work tree: outside of any, or one of git's own, as a commit message or a draft of ours. */
async function isForeign(uri: vscode.Uri): Promise<boolean> {
  return uri.path.includes("/.git/") || (await lookAt(uri.fsPath)) === "outside";
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
