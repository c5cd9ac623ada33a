/** Puts the parts together when VS Code starts. */

import * as vscode from "vscode";

import { Client } from "./client";
import { Commands, explainInstall } from "./commands";
import { Records } from "./records";
import { StatusBar } from "./status";
import { Tree } from "./tree";

let running: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const client = new Client(
    (command, result) => void commands.answered(command, result),
    () => void explainInstall(context.extensionUri),
  );
  const tree = new Tree(client);
  const bar = new StatusBar(client);
  const records = new Records(client);
  const commands = new Commands(client, tree, records);
  const refresh = (): void => void tree.refresh();
  running = client;
  context.subscriptions.push(
    client,
    tree,
    bar,
    records,
    commands.register(context.extensionUri),
    vscode.window.createTreeView("gitmem.memories", { treeDataProvider: tree }),
    client.onChange(refresh),
    tree.onFill((rows) => bar.show(rows, tree.file)),
    vscode.window.onDidChangeActiveTextEditor(refresh),
    vscode.workspace.onDidSaveTextDocument(refresh),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void client.start()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("gitmem.path")) {
        void client.restart();
      } else if (event.affectsConfiguration("gitmem")) {
        void client.configure();
        refresh();
      }
    }),
  );
  void client.start();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
