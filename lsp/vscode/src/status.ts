/** The item in the status bar: how many gotchas the file has; a warning when the server is missing. */

import * as path from "node:path";

import * as vscode from "vscode";

import type { Client } from "./client";
import type { Marks } from "./marks";
import { isOpen, oneLine, type Row, type Status } from "./rows";

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("gitmem.status", vscode.StatusBarAlignment.Right, 90);

  constructor(
    private readonly client: Client,
    private readonly marks: Marks,
  ) {
    this.item.name = "git mem";
  }

  /** Show the rows of the file in the editor. */
  show(rows: readonly Row[], file: vscode.Uri | undefined): void {
    const wanted = vscode.workspace.getConfiguration("gitmem").get("statusBar", true);
    const { condition } = this.client;
    const open = rows.filter(isOpen);
    this.item.backgroundColor = undefined;
    if (!wanted || condition === "idle" || condition === "untrusted") {
      this.item.hide();
    } else if (condition === "missing" || condition === "failed") {
      this.item.text = "$(warning) git mem";
      this.item.tooltip = condition === "missing" ? "git-mem-lsp was not found: how to install it" : "The server of git mem does not run: its output";
      this.item.command = condition === "missing" ? "gitmem.editor.install" : "gitmem.editor.output";
      this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      this.item.show();
    } else if (!this.marks.on) {
      const tooltip = "The marks of git mem are off in this workspace. Click to show them.";
      this.item.text = "$(eye-closed) git mem";
      this.item.tooltip = tooltip;
      this.item.accessibilityInformation = { label: "git mem: the marks are off" };
      this.item.command = "gitmem.editor.toggleMarks";
      this.item.show();
      if (file) {
        void this.explain(tooltip, file);
      }
    } else if (file && open.length > 0) {
      const what = open.length === 1 ? "1 gotcha" : `${open.length} gotchas`;
      this.item.text = `$(note) ${open.length}`;
      this.item.tooltip = `${what} in ${path.basename(file.fsPath)}`;
      this.item.accessibilityInformation = { label: `git mem: ${this.item.tooltip}` };
      this.item.command = "gitmem.memories.focus";
      this.item.show();
      void this.explain(`${what} in ${path.basename(file.fsPath)}`, file);
    } else {
      this.item.hide();
    }
  }

  private async explain(tooltip: string, file: vscode.Uri): Promise<void> {
    const status = await this.client.ask<Status>("gitmem.status", this.client.uri(file));
    if (status) {
      this.marks.learn(status);
    }
    if (status && this.item.tooltip === tooltip) {
      this.item.tooltip = `${tooltip}\n${sentence(status)}`;
    }
  }

  dispose(): void {
    this.item.dispose();
  }
}

/** Return what is known of a repository in one line. */
export function sentence(status: Status): string {
  const counts = (["unresolved", "unconfirmed", "adrift", "snoozed"] as const).filter((name) => status[name]).map((name) => `${status[name]} ${name}`);
  return `${oneLine(path.basename(status.root))}: ${counts.length > 0 ? counts.join(", ") : "no open gotchas"}`;
}
