// Bundles the extension into one file, and writes down the licences of what is in it.
import { readFile, readdir, writeFile } from "node:fs/promises";
import * as path from "node:path";

import { build } from "esbuild";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20", // of VS Code 1.91
  external: ["vscode"],
  outfile: "dist/extension.js",
  minify: true,
  metafile: true,
  logLevel: "warning",
});

const folders = new Set(Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
const parts = await Promise.all([...folders].sort().map(notice));
await writeFile("dist/THIRD-PARTY-NOTICES.txt", `dist/extension.js has these packages in it.\n\n${parts.join("\n")}`);

async function notice(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const files = (await readdir(folder)).filter((file) => /^licen[cs]e/i.test(file)).sort();
  if (files.length === 0) {
    throw new Error(`${name} has no file with its licence`);
  }
  const text = await readFile(path.join(folder, files[0]), "utf8");
  return `${"=".repeat(78)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}
