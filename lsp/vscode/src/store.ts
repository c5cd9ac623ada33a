/** Whether a repository can have something to show, by a look at its files: one that has no store costs no server. */

import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";

/** `outside` of any repository, in one that is `empty`, or in one that may have a store. */
export type Place = "outside" | "empty" | "possible";

/** Return what is known of the place of a file or folder. Reads a few files of git's and starts no program. */
export async function lookAt(file: string): Promise<Place> {
  const root = await repository(file);
  if (root === undefined) {
    return "outside";
  }
  const data = process.env["XDG_DATA_HOME"] || path.join(homedir(), ".local", "share");
  if (await exists(path.join(data, "gitmem", "user.git"))) {
    return "possible"; // the user's own store is for all repositories
  }
  const folder = await commonDir(root);
  // what is in a reftable only git can read
  const found =
    (await exists(path.join(folder, "refs", "gitmem"))) ||
    (await exists(path.join(folder, "reftable"))) ||
    ((await text(path.join(folder, "packed-refs"))) ?? "").includes(" refs/gitmem/");
  return found ? "possible" : "empty";
}

/** Return the folder with `.git` above a file, or the folder itself. */
async function repository(file: string): Promise<string | undefined> {
  for (let folder = file; ; folder = path.dirname(folder)) {
    if (await exists(path.join(folder, ".git"))) {
      return folder;
    }
    if (path.dirname(folder) === folder) {
      return undefined;
    }
  }
}

/** Return the folder that holds the refs: `.git`, or what a linked worktree or a submodule names. */
async function commonDir(root: string): Promise<string> {
  let folder = path.join(root, ".git");
  const named = /^gitdir: *(.+?)\r?\n?$/.exec((await text(folder)) ?? "")?.[1];
  if (named) {
    folder = path.resolve(root, named);
  }
  const common = ((await text(path.join(folder, "commondir"))) ?? "").trim();
  return common ? path.resolve(folder, common) : folder;
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

async function text(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch(() => undefined);
}
