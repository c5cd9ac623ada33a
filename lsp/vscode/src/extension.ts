/** Puts the parts together when VS Code starts. */

import * as vscode from "vscode";

import { Client } from "./client";
import { Commands, explainInstall } from "./commands";
import { Decorations } from "./decorations";
import { Marks } from "./marks";
import { Records } from "./records";
import { RepositoryTree } from "./repository";
import { StatusBar } from "./status";
import { Tree } from "./tree";

let running: Client | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const client = new Client(
    (command, args, result) => void commands.answered(command, args, result),
    () => void explainInstall(context.extensionUri),
  );
  const marks = new Marks(client, context.workspaceState);
  const tree = new Tree(client);
  const all = new RepositoryTree(client, context.workspaceState, () => tree.file);
  const bar = new StatusBar(client, marks);
  const records = new Records(client);
  const commands = new Commands({ client, tree, all, marks, records });
  const refresh = (): void => void tree.refresh();
  const look = (): void => void client.look();
  // a store that another program makes while the window is open; in a linked worktree the other occasions have to do
  const born = vscode.workspace.createFileSystemWatcher("**/.git/refs/gitmem/**");
  running = client;
  context.subscriptions.push(
    client,
    tree,
    all,
    bar,
    marks,
    new Decorations(),
    records,
    commands.register(context.extensionUri),
    vscode.window.createTreeView("gitmem.memories", { treeDataProvider: tree }),
    client.onChange(refresh),
    marks.onChange(refresh),
    tree.onFill((rows) => bar.show(rows, tree.file)),
    tree.onFill(() => all.refresh()),
    born,
    born.onDidCreate(look),
    vscode.window.onDidChangeActiveTextEditor(refresh),
    vscode.window.onDidChangeActiveTextEditor(look),
    vscode.window.onDidChangeWindowState((state) => state.focused && look()),
    vscode.workspace.onDidSaveTextDocument(refresh),
    vscode.workspace.onDidSaveTextDocument(look),
    vscode.workspace.onDidChangeWorkspaceFolders(look),
    vscode.workspace.onDidGrantWorkspaceTrust(look),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("gitmem.path")) {
        void (client.condition === "idle" ? client.look() : client.restart());
      } else if (event.affectsConfiguration("gitmem.statusBar")) {
        refresh();
      }
    }),
  );
  look();
  refresh();
}

export async function deactivate(): Promise<void> {
  await running?.stop();
}
