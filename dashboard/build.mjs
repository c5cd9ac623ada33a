// Bundles the page into two files beside the server, with the licences of what is in them.
import { readFile, readdir, writeFile } from "node:fs/promises";
import * as path from "node:path";

import { build } from "esbuild";

const out = process.argv[2] ?? "../gitmem/dashboard/static";
const { metafile } = await build({
  entryPoints: { app: "src/main.tsx" },
  bundle: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  metafile: true,
  outdir: out,
  logLevel: "warning",
});

const folders = new Set(Object.keys(metafile.inputs).flatMap((file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file) ?? []));
const parts = await Promise.all([...folders].sort().map(notice));
await writeFile(path.join(out, "THIRD-PARTY-NOTICES.txt"), `app.js and app.css have these packages in them.\n\n${parts.join("\n")}`);

async function notice(folder) {
  const { name, version, license } = JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"));
  const files = (await readdir(folder)).filter((file) => /^licen[cs]e/i.test(file)).sort();
  if (files.length === 0) {
    throw new Error(`${name} has no file with its licence`);
  }
  const text = await readFile(path.join(folder, files[0]), "utf8");
  return `${"=".repeat(78)}\n${name} ${version} (${license})\n\n${text.trim()}\n`;
}
