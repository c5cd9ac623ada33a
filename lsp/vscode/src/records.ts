/** Records as Markdown documents that cannot be written, shown in the preview. */

import * as vscode from "vscode";

import type { Client } from "./client";
import { oneLine, type Shown } from "./rows";

const SCHEME = "gitmem-record";

export class Records implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  private readonly registered: vscode.Disposable;
  private readonly texts = new Map<string, string>();

  readonly onDidChange = this.changed.event;

  constructor(private readonly client: Client) {
    this.registered = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.onDidCloseTextDocument((document) => this.texts.delete(document.uri.toString())),
      client.onChange(() => this.refresh()),
    );
  }

  /** VS Code closes the document of a preview that stays open, and opens it again when its tab is looked at, even after a restart. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const kept = this.texts.get(uri.toString());
    return kept ?? (await this.client.ask<Shown>("gitmem.show", uri.query))?.markdown ?? "";
  }

  /** Have the records that are open read again. */
  private refresh(): void {
    const open = vscode.workspace.textDocuments.filter((document) => document.uri.scheme === SCHEME);
    if (this.client.condition === "running") {
      this.texts.clear();
      open.forEach((document) => this.changed.fire(document.uri));
    }
  }

  /** Show a record in the Markdown preview. */
  async show(id: string): Promise<void> {
    const shown = await this.client.run<Shown>("gitmem.show", id);
    if (shown) {
      await this.preview(shown);
    }
  }

  /** Show what the server answered in the Markdown preview; its tab has the title. */
  async preview(shown: Shown): Promise<void> {
    const name = oneLine(shown.title).replace(/[\\/:*?"<>|]+/g, " ").slice(0, 40).trim() || shown.id;
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}.md`, query: shown.id });
    this.texts.set(uri.toString(), shown.markdown);
    this.changed.fire(uri);
    try {
      await vscode.commands.executeCommand("markdown.showPreviewToSide", uri);
    } catch {
      await vscode.window.showTextDocument(uri, { preview: true, viewColumn: vscode.ViewColumn.Beside }); // the built-in preview is switched off
    }
  }

  dispose(): void {
    this.registered.dispose();
    this.changed.dispose();
  }
}
