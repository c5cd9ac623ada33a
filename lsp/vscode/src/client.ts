/** The language client: starts and stops the server, and asks it. */

import * as vscode from "vscode";
import {
  type Executable,
  LanguageClient,
  type LanguageClientOptions,
  type Middleware,
  RevealOutputChannelOn,
  State,
  TransportKind,
} from "vscode-languageclient/node";

import { findServer } from "./find";

/** What the view and the status bar say when there is nothing to list. */
export type Condition = "starting" | "running" | "missing" | "untrusted" | "failed";

export class Client implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private busy: Promise<void> = Promise.resolve();
  private told = false;
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly output = vscode.window.createOutputChannel("git mem", { log: true });
  condition: Condition = "starting";

  /** Fires when the server says that gotchas changed, and when it starts, stops or cannot be found. */
  readonly onChange = this.changed.event;

  /**
   * @param answered is told what the server answered to a command that was run from a lens or a code action
   * @param explain is shown by the button of the message that no server was found
   */
  constructor(
    private readonly answered: (command: string, result: unknown) => void,
    private readonly explain: () => void,
  ) {}

  /** Start the server, after what is under way has ended. */
  start(): Promise<void> {
    this.busy = this.busy.then(() => this.startNow());
    return this.busy;
  }

  /** Stop the server and start it again, with the settings of now. */
  restart(): Promise<void> {
    this.busy = this.busy.then(async () => {
      await this.stop();
      this.told = false;
      await this.startNow();
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
    const setting = vscode.workspace.getConfiguration("gitmem").get<string>("path", "").trim();
    const server = await findServer(setting);
    if (!server) {
      this.become("missing");
      this.complain(setting);
      return;
    }
    const run: Executable = { ...server, transport: TransportKind.stdio };
    const client = new LanguageClient("gitmem", "git mem", run, this.options());
    client.onNotification("gitmem/changed", () => this.changed.fire());
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
      this.client = undefined;
      this.output.error(String(error));
      this.become("failed");
    }
  }

  private options(): LanguageClientOptions {
    return {
      documentSelector: [{ scheme: "file" }],
      outputChannel: this.output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      initializationOptions: { notifyChanges: true },
      markdown: { isTrusted: false, supportHtml: false },
      middleware: this.middleware(),
    };
  }

  private middleware(): Middleware {
    return {
      // a lens or a code action names a command of the server; what it answers is for us to show
      executeCommand: async (command, args, next) => {
        const result: unknown = command === "gitmem.report" ? null : await next(command, args); // the view is our report
        this.answered(command, result);
        return result;
      },
      workspace: {
        // only what somebody set: the server takes the rest from git's configuration
        configuration: (params) =>
          params.items.map((item) => (item.section === "gitmem" ? explicit(item.scopeUri) : null)),
      },
    };
  }

  /** Run a command of the server; undefined when it does not run or has nothing to say. It tells its troubles itself. */
  async execute<T>(command: string, ...args: unknown[]): Promise<T | undefined> {
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    try {
      const result = await this.client.sendRequest<T | null>("workspace/executeCommand", { command, arguments: args });
      return result ?? undefined;
    } catch (error) {
      this.output.warn(`${command}: ${String(error)}`);
      return undefined;
    }
  }

  /** The uri of a document as the server is told it. */
  uri(uri: vscode.Uri): string {
    return this.client ? this.client.code2ProtocolConverter.asUri(uri) : uri.toString();
  }

  /** Tell the server to ask for the settings again. */
  async configure(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  showOutput(): void {
    this.output.show(true);
  }

  private become(condition: Condition): void {
    this.condition = condition;
    this.changed.fire();
  }

  private complain(setting: string): void {
    if (this.told) {
      return;
    }
    this.told = true;
    const text = setting ? `git mem: 'gitmem.path' is '${setting}', which is no program.` : "git mem: git-mem-lsp was not found on this machine.";
    const [install, settings] = ["How to Install", "Open Settings"];
    void vscode.window.showWarningMessage(text, install, settings).then((choice) => {
      if (choice === install) {
        this.explain();
      } else if (choice === settings) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "gitmem.path");
      }
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
    void this.stop();
    this.changed.dispose();
    this.output.dispose();
  }
}

/** Return the settings that a user or a folder has set, without the defaults. */
function explicit(scope: string | undefined): Record<string, unknown> {
  const config = vscode.workspace.getConfiguration("gitmem", scope ? vscode.Uri.parse(scope) : null);
  const out: Record<string, unknown> = {};
  for (const name of ["severity", "codeLens", "symbolLens", "inlayHints", "outline", "completion", "unconfirmed", "maxPerFile", "snoozeDays"]) {
    const found = config.inspect(name);
    if (found && (found.globalValue ?? found.workspaceValue ?? found.workspaceFolderValue) !== undefined) {
      out[name] = config.get(name);
    }
  }
  return out;
}
