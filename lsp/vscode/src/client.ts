/** The language client: starts and stops the server, and asks it. */

import * as vscode from "vscode";
import type { Executable, LanguageClient, LanguageClientOptions, Middleware } from "vscode-languageclient/node";

import { commandLine, findServer, quickly, type Server } from "./find";
import { lookAt } from "./store";

/** What the view and the status bar say when there is nothing to list. `idle`: no store was seen, so no server was needed. */
export type Condition = "idle" | "running" | "missing" | "untrusted" | "failed";

/** Is told what the server answered to a command that was run from a lens or a code action. */
export type Answered = (command: string, args: readonly unknown[], result: unknown) => void;

const SETTINGS = ["marks", "codeLens", "whyHover", "unconfirmed"];

const SAID = 5000; // milliseconds that the status bar says what was done

export class Client implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private busy: Promise<void> = Promise.resolve();
  private told = false;
  /** The file that somebody has saved last. */
  private saved = "";
  private readonly saving = vscode.workspace.onWillSaveTextDocument(({ document, reason }) => {
    this.saved = reason === vscode.TextDocumentSaveReason.Manual ? document.uri.fsPath : this.saved === document.uri.fsPath ? "" : this.saved;
  });
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly output = vscode.window.createOutputChannel("git mem", { log: true });
  condition: Condition = "idle";
  /** What is set in this window and in no settings; it lies over them. */
  overrides: Record<string, unknown> = {};

  /** Fires when the server says that gotchas changed, and when it starts, stops or cannot be found. */
  readonly onChange = this.changed.event;

  /** @param explain is run by the button of the message that no server was found */
  constructor(
    private readonly answered: Answered,
    private readonly explain: () => void,
  ) {}

  /** Start the server if a folder or a file that is open may have something to show; look again for one that was missing. */
  look(): Promise<void> {
    return this.next(async () => {
      if (this.client || this.condition === "failed") {
        return; // what failed is tried again when somebody asks for it
      }
      if (this.condition === "missing" && !(await quickly(this.setting()))) {
        return;
      }
      for (const uri of open()) {
        if ((await lookAt(uri.fsPath)) === "possible") {
          return this.startNow();
        }
      }
    });
  }

  /** Start the server whatever is to be seen, and tell why when it cannot: somebody wants something of it. */
  async ready(): Promise<boolean> {
    if (this.condition !== "running") {
      this.told = true; // what follows tells it
      await this.next(() => this.startNow());
    }
    if (this.condition === "running") {
      return true;
    }
    if (this.condition === "missing") {
      this.tellMissing();
    } else if (this.condition === "untrusted") {
      void offer("git mem: the server starts when this folder is trusted.", { "Manage Trust": () => vscode.commands.executeCommand("workbench.trust.manage") });
    } else {
      void offer("git mem: the server does not run.", { "Show Output": () => this.showOutput(), Restart: () => this.restart() });
    }
    return false;
  }

  /** Stop the server and start it again, with the settings of now. */
  restart(): Promise<void> {
    return this.next(async () => {
      await this.stop();
      this.told = false;
      await this.startNow();
    });
  }

  /** Do something after what is under way has ended; what fails does not stop what comes later. */
  private next(work: () => Promise<void>): Promise<void> {
    this.busy = this.busy.then(work).catch((error: unknown) => {
      this.output.error(String(error));
      this.become("failed");
    });
    return this.busy;
  }

  private async startNow(): Promise<void> {
    if (this.client) {
      return;
    }
    if (!vscode.workspace.isTrusted) {
      this.become("untrusted");
      return;
    }
    const server = await findServer(this.setting());
    if (!server) {
      this.become("missing");
      if (!this.told) {
        this.tellMissing();
      }
      return;
    }
    const { LanguageClient, RevealOutputChannelOn, State, TransportKind } = await import("vscode-languageclient/node"); // only where it is used
    const run: Executable = { ...server, transport: TransportKind.stdio };
    const client = new LanguageClient("gitmem", "git mem", run, { ...this.options(), revealOutputChannelOn: RevealOutputChannelOn.Never });
    client.onNotification("gitmem/changed", () => this.changed.fire());
    client.onNotification("gitmem/saved", (draft: { uri: string }) => this.drafted(client.protocol2CodeConverter.asUri(draft.uri)));
    client.onDidChangeState((event) => {
      if (this.client === client && event.newState === State.Stopped) {
        this.become("failed");
      } else if (this.client === client && event.newState === State.Running) {
        this.become("running");
      }
    });
    this.client = client;
    try {
      await client.start();
      this.become("running");
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Return the program of the command line; undefined, and said, where it may not be run or is not there. */
  async program(): Promise<Server | undefined> {
    if (!(await this.ready())) {
      return undefined;
    }
    const server = await findServer(this.setting());
    const program = server && (await commandLine(server));
    if (!program) {
      this.tellMissing();
    }
    return program;
  }

  /** The full path that the user has set; what is no text counts as none. */
  private setting(): string {
    const given = vscode.workspace.getConfiguration("gitmem").get<unknown>("path");
    return typeof given === "string" ? given.trim() : "";
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file" }],
      outputChannel: this.output,
      initializationOptions: {
        notifyChanges: true,
        diagnosticsInHover: true,
        answerErrors: true,
      },
      markdown: { isTrusted: false, supportHtml: false },
      middleware: this.middleware(),
    };
  }

  private middleware(): Middleware {
    return {
      // a lens or a code action names a command of the server; what it answers is for us to show
      executeCommand: async (command, args: unknown[], next) => {
        const answer: unknown = command === "gitmem.report" ? null : await next(command, args); // the view is our report
        const problem = problemOf(answer);
        if (problem !== undefined) {
          this.tell(command, problem);
          return null;
        }
        this.answered(command, args, answer);
        return answer;
      },
      workspace: {
        // only what somebody set: the server takes the rest from git's configuration
        configuration: (params) => params.items.map((item) => (item.section === "gitmem" ? { ...explicit(), ...this.overrides } : null)),
      },
    };
  }

  /** Ask the server in passing; undefined when it does not run or has nothing to say. */
  async ask<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    try {
      return await this.send<T>(command, args);
    } catch (error) {
      this.output.warn(`${command}: ${String(error)}`);
      return undefined;
    }
  }

  /** Run a command that somebody gave: trouble is told. Undefined when it was not done; most reasons the server tells itself. */
  async run<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    if (!(await this.ready())) {
      return undefined;
    }
    try {
      return await this.send<T>(command, args);
    } catch (error) {
      this.tell(command, error instanceof Error ? error.message : String(error));
      return undefined;
    }
  }

  /** Tell somebody who gave a command why it was not done. */
  private tell(command: string, problem: string): void {
    this.output.error(`${command}: ${problem}`);
    void offer(`git mem: ${problem}`, { "Show Output": () => this.showOutput() });
  }

  /** Have the server ask for the settings again. */
  async reconfigure(): Promise<void> {
    if (this.client?.isRunning()) {
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  private async send<T>(command: string, args: unknown[]): Promise<T | undefined> {
    if (!this.client?.isRunning()) {
      return undefined;
    }
    const answer = (await this.client.sendRequest<T | null>("workspace/executeCommand", { command, arguments: args })) ?? undefined;
    const problem = problemOf(answer);
    if (problem !== undefined) {
      throw new Error(problem);
    }
    return answer;
  }

  /** The uri of a document as the server is told it. */
  uri(uri: vscode.Uri): string {
    return this.client ? this.client.code2ProtocolConverter.asUri(uri) : uri.toString();
  }

  showOutput(): void {
    this.output.show(true);
  }

  /** Close a draft that was recorded; not one that VS Code saved by itself, for somebody is writing in it. */
  private drafted(uri: vscode.Uri): void {
    if (this.saved === uri.fsPath) {
      vscode.window.setStatusBarMessage("$(check) git mem: saved", SAID);
      void closeTab(uri);
    }
  }

  private become(condition: Condition): void {
    this.condition = condition;
    this.changed.fire();
  }

  private tellMissing(): void {
    this.told = true;
    const setting = this.setting();
    void offer(setting ? `git mem: 'gitmem.path' is '${setting}', which is no program.` : "git mem: git-mem-lsp was not found on this machine.", {
      "How to Install": this.explain,
      "Open Settings": () => vscode.commands.executeCommand("workbench.action.openSettings", "gitmem.path"),
    });
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    try {
      await client?.dispose();
    } catch (error) {
      this.output.warn(String(error));
    }
  }

  dispose(): void {
    this.saving.dispose();
    void this.stop().finally(() => {
      this.changed.dispose();
      this.output.dispose();
    });
  }
}

/** The folders of the workspace, and the files in editors. */
function open(): vscode.Uri[] {
  const files = vscode.window.visibleTextEditors.map((editor) => editor.document.uri);
  const folders = (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri);
  return [...folders, ...files].filter((uri) => uri.scheme === "file");
}

/** Return why a command was not carried out; undefined for one that was. */
function problemOf(answer: unknown): string | undefined {
  return isObject(answer) && typeof answer["error"] === "string" ? answer["error"] : undefined;
}

/** Close the tabs of a document that has done its work, unless something was typed since. */
async function closeTab(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const done = tabs.filter((tab) => tab.input instanceof vscode.TabInputText && tab.input.uri.fsPath === uri.fsPath && !tab.isDirty);
  await vscode.window.tabGroups.close(done);
}

/** Show a warning with buttons. */
async function offer(message: string, buttons: Record<string, () => unknown>): Promise<void> {
  const choice = await vscode.window.showWarningMessage(message, ...Object.keys(buttons));
  if (choice) {
    await buttons[choice]?.();
  }
}

/** Return the settings that a user or a workspace has set, without the defaults. */
function explicit(): Record<string, unknown> {
  const config = vscode.workspace.getConfiguration("gitmem", null);
  const out: Record<string, unknown> = {};
  for (const name of SETTINGS) {
    const found = config.inspect<unknown>(name);
    const value = found?.workspaceValue ?? found?.globalValue;
    if (value !== undefined) {
      out[name] = value;
    }
  }
  return out;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
