/** Finds the server on this machine. Never in the folder that is open: what a repository brings along is not run. */

import { execFile } from "node:child_process";
import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";

export interface Server {
  command: string;
  args: string[];
}

const WINDOWS = process.platform === "win32";
const PATIENCE = 10_000;

/** Return the setting's program, `git-mem-lsp` on the PATH or where pip and pipx put it, or the module of `python3`; undefined when there is none. */
export async function findServer(setting: string): Promise<Server | undefined> {
  if (setting) {
    const given = setting.replace(/^~(?=[/\\])/, homedir());
    return path.isAbsolute(given) && (await isProgram(given)) ? { command: given, args: ["--stdio"] } : undefined;
  }
  const found = await installed();
  if (found) {
    return { command: found, args: ["--stdio"] };
  }
  const python = (await onPath("python3")) ?? (await onPath("python"));
  // -P: a folder of the project that is called like the module is not the module
  if (python && (await succeeds(python, ["-P", "-m", "gitmem_lsp", "--version"]))) {
    return { command: python, args: ["-P", "-m", "gitmem_lsp", "--stdio"] };
  }
  return undefined;
}

/** Return the program of the command line that was installed with a server. */
export async function commandLine(server: Server): Promise<Server | undefined> {
  if (server.args.includes("gitmem_lsp")) {
    return { command: server.command, args: ["-P", "-m", "gitmem"] };
  }
  const beside = await inFolder(path.dirname(server.command), "git-mem");
  const found = beside ?? (await onPath("git-mem"));
  return found ? { command: found, args: [] } : undefined;
}

/** Say whether a server is there by now, as far as that can be told without starting Python. */
export async function quickly(setting: string): Promise<boolean> {
  return (setting ? await findServer(setting) : await installed()) !== undefined;
}

async function installed(): Promise<string | undefined> {
  return (await onPath("git-mem-lsp")) ?? (await inFolder(path.join(homedir(), ".local", "bin"), "git-mem-lsp"));
}

async function onPath(name: string): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const found = path.isAbsolute(folder) ? await inFolder(folder, name) : undefined;
    if (found) {
      return found;
    }
  }
  return undefined;
}

async function inFolder(folder: string, name: string): Promise<string | undefined> {
  const file = path.join(folder, WINDOWS ? `${name}.exe` : name);
  return (await isProgram(file)) ? file : undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, WINDOWS ? constants.F_OK : constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

function succeeds(command: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { cwd: homedir(), timeout: PATIENCE }, (error) => resolve(error === null));
  });
}
