/** The view `Repository Memories`: what is recorded about all files of a repository, by file or by severity. */

import * as path from "node:path";

import * as vscode from "vscode";

import type { Client } from "./client";
import { byPlace, recordItem } from "./items";
import { EVERYTHING, oneLine, type Row, type Shown, type Status } from "./rows";

const BY_SEVERITY = "gitmem.bySeverity";
const SEVERITIES = ["critical", "warning", "info"];
const NOT_ABOUT_A_FILE = "(the repository as a whole)";

/** Rows under one heading. */
interface Group {
  name: string;
  rows: Row[];
}

export class RepositoryTree implements vscode.TreeDataProvider<Group | Row>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Group | Row>;
  private readonly watched: vscode.Disposable;
  private rows: Row[] = [];
  private root = "";
  private words: string[] = [];
  private turn = 0;
  private seen = "";

  readonly onDidChangeTreeData = this.changed.event;

  constructor(
    private readonly client: Client,
    private readonly state: vscode.Memento,
    private readonly file: () => vscode.Uri | undefined,
  ) {
    this.view = vscode.window.createTreeView("gitmem.repository", { treeDataProvider: this, showCollapseAll: true });
    this.watched = vscode.Disposable.from(
      this.view,
      this.view.onDidChangeVisibility(() => this.refresh()),
    );
    void vscode.commands.executeCommand("setContext", BY_SEVERITY, this.bySeverity);
  }

  private get bySeverity(): boolean {
    return this.state.get(BY_SEVERITY, false);
  }

  /** Ask the server; nothing while nobody looks. */
  async refresh(): Promise<void> {
    if (!this.view.visible || this.client.condition !== "running") {
      return;
    }
    const turn = ++this.turn;
    const file = this.file() ?? vscode.workspace.workspaceFolders?.[0]?.uri;
    const place = file ? this.client.uri(file) : null;
    const [rows, status] = await Promise.all([
      this.client.ask<Row[]>("gitmem.list", place, { ...EVERYTHING, all: true }),
      this.client.ask<Status>("gitmem.status", place),
    ]);
    const now = JSON.stringify([status?.root, rows]);
    if (turn === this.turn && now !== this.seen) {
      this.seen = now;
      this.rows = rows ?? [];
      this.root = status?.root ?? "";
      this.show();
    }
  }

  /** Ask for the words that rows must have. */
  async filter(): Promise<void> {
    const given = await vscode.window.showInputBox({
      title: "Filter the memories of the repository",
      prompt: "Words of a title, a path, a severity or a category; none shows all",
      value: this.words.join(" "),
    });
    if (given !== undefined) {
      this.narrow(given);
    }
  }

  narrow(words: string): void {
    this.words = words.toLowerCase().split(/\s+/).filter(Boolean);
    void vscode.commands.executeCommand("setContext", "gitmem.filtered", this.words.length > 0);
    this.show();
  }

  /** Group by severity instead of by file, or the other way round. */
  async regroup(): Promise<void> {
    await this.state.update(BY_SEVERITY, !this.bySeverity);
    void vscode.commands.executeCommand("setContext", BY_SEVERITY, this.bySeverity);
    this.changed.fire();
  }

  private show(): void {
    const shown = this.shown();
    this.view.description = this.words.length > 0 ? `${shown.length} of ${this.rows.length}: ${this.words.join(" ")}` : this.rows.length > 0 ? String(this.rows.length) : "";
    this.view.message = this.words.length > 0 && shown.length === 0 ? "Nothing has these words." : "";
    this.changed.fire();
  }

  private shown(): Row[] {
    const text = (row: Row): string => [row.title, row.path, row.severity, row.category, row.type, row.kind].join(" ").toLowerCase();
    return this.rows.filter((row) => this.words.every((word) => text(row).includes(word)));
  }

  /** Return the file that a row is about; undefined for one about the repository. */
  fileOf(row: Row): vscode.Uri | undefined {
    return row.path && this.root ? vscode.Uri.file(path.join(this.root, row.path)) : undefined;
  }

  getChildren(item?: Group | Row): (Group | Row)[] {
    if (item) {
      return "rows" in item ? item.rows : [];
    }
    const groups = new Map<string, Row[]>();
    for (const row of this.shown()) {
      const name = this.bySeverity ? (row.severity || "other memories") : row.path || NOT_ABOUT_A_FILE;
      groups.set(name, [...(groups.get(name) ?? []), row]);
    }
    const order = this.bySeverity ? bySeverity : (a: string, b: string): number => a.localeCompare(b);
    return [...groups].sort(([a], [b]) => order(a, b)).map(([name, rows]) => ({ name, rows: rows.sort(worstFirst) }));
  }

  getTreeItem(item: Group | Row): vscode.TreeItem {
    return "rows" in item ? this.groupItem(item) : this.rowItem(item);
  }

  private rowItem(row: Row): vscode.TreeItem {
    const item = recordItem(row);
    item.id = `repository:${row.id}`;
    if (this.bySeverity && row.path) {
      item.description = [oneLine(row.path), item.description].filter(Boolean).join(", ");
    }
    return item;
  }

  private groupItem({ name, rows }: Group): vscode.TreeItem {
    const first = rows[0];
    const file = this.bySeverity || !first ? undefined : this.fileOf(first);
    const item = new vscode.TreeItem(oneLine(file ? path.basename(name) : name), vscode.TreeItemCollapsibleState.Expanded);
    item.id = `group:${name}`;
    item.contextValue = "group";
    item.description = [file && path.dirname(name) !== "." ? oneLine(path.dirname(name)) : "", String(rows.length)].filter(Boolean).join(" · ");
    if (file) {
      item.resourceUri = file;
      item.iconPath = vscode.ThemeIcon.File;
    }
    return item;
  }

  async resolveTreeItem(item: vscode.TreeItem, row: Group | Row): Promise<vscode.TreeItem> {
    const shown = "rows" in row ? undefined : await this.client.ask<Shown>("gitmem.show", row.id);
    if (shown) {
      item.tooltip = new vscode.MarkdownString(shown.markdown); // not trusted: no commands, no HTML
    }
    return item;
  }

  dispose(): void {
    this.watched.dispose();
    this.changed.dispose();
  }
}

function rank(severity: string | null | undefined): number {
  const found = SEVERITIES.indexOf(severity ?? "");
  return found < 0 ? SEVERITIES.length : found;
}

function bySeverity(a: string, b: string): number {
  return rank(a) - rank(b);
}

function worstFirst(a: Row, b: Row): number {
  return rank(a.severity) - rank(b.severity) || byPlace(a, b);
}
