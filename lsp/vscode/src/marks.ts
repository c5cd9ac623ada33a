/** Whether marks are shown at all, in this workspace; and going from one to the next. */

import * as vscode from "vscode";

import type { Client } from "./client";
import { SOURCE, type Status } from "./rows";

const KEY = "gitmem.marks";

export class Marks implements vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly watched: vscode.Disposable;
  /** What git's configuration says, as far as it was asked for. */
  private inGit = true;

  /** Fires when marks go or come. */
  readonly onChange = this.changed.event;

  constructor(
    private readonly client: Client,
    private readonly state: vscode.Memento,
  ) {
    this.override(state.get<boolean>(KEY));
    this.watched = vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(KEY)) {
        void this.set(undefined); // who changes the setting means what it says
      }
    });
  }

  /** Whether marks are shown, as far as is known. */
  get on(): boolean {
    const { globalValue, workspaceValue } = vscode.workspace.getConfiguration("gitmem").inspect<boolean>("marks") ?? {};
    return this.state.get<boolean>(KEY) ?? workspaceValue ?? globalValue ?? this.inGit;
  }

  /** Take the server's word, which also knows git's configuration. */
  learn(status: Status): void {
    if (this.state.get<boolean>(KEY) === undefined && status.marks !== undefined && status.marks !== this.on) {
      this.inGit = status.marks;
      this.changed.fire();
    }
  }

  /** Show all marks or none; kept for this workspace, in no file of it. Git's configuration may have them off: the server knows. */
  async toggle(): Promise<void> {
    if (this.state.get<boolean>(KEY) === undefined) {
      const file = vscode.window.activeTextEditor?.document.uri;
      const here = file && (await this.client.ask<Status>("gitmem.status", this.client.uri(file)));
      const status = here ?? (await this.client.ask<Status>("gitmem.status", null)); // the workspace's, for what is no file of it
      if (status) {
        this.learn(status);
      }
    }
    await this.set(!this.on);
  }

  private async set(on: boolean | undefined): Promise<void> {
    await this.state.update(KEY, on);
    this.override(on);
    await this.client.reconfigure();
    this.changed.fire();
  }

  private override(on: boolean | undefined): void {
    this.client.overrides = on === undefined ? {} : { marks: on };
  }

  /** Go to the next line with a gotcha, or the one before; round the end of the file. */
  go(step: 1 | -1): void {
    const editor = vscode.window.activeTextEditor;
    const lines = editor ? marksOf(editor.document.uri).map((mark) => mark.range.start.line) : [];
    if (!editor || lines.length === 0) {
      void vscode.window.showInformationMessage(this.on ? "git mem: no line of this file has a gotcha." : "git mem: the marks are off; git mem: Toggle Marks shows them again.");
      return;
    }
    lines.sort((a, b) => (a - b) * step);
    const here = editor.selection.active.line;
    const target = lines.find((line) => (line - here) * step > 0) ?? lines[0] ?? here;
    const at = new vscode.Position(target, editor.document.lineAt(target).firstNonWhitespaceCharacterIndex);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  dispose(): void {
    this.watched.dispose();
    this.changed.dispose();
  }
}

/** Return what is marked in a document. */
export function marksOf(uri: vscode.Uri): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(uri).filter((mark) => mark.source === SOURCE);
}
