/** What the server's commands answer. Everything in it was written by people and agents elsewhere: it is shown as text, never run. */

export interface Row {
  id: string;
  short: string;
  kind: string;
  type?: string | null;
  title: string;
  severity?: string | null;
  category?: string | null;
  status?: string | null;
  resolved?: boolean;
  unconfirmed?: boolean;
  /** From 0; null for the whole file. */
  line?: number | null;
  path?: string | null;
  state?: string | null;
  workaround?: string | null;
  agent?: string | null;
  updated?: string | null;
  /** When a snooze ends; null for what is shown. */
  snoozed_until?: string | null;
}

/** What is asked of the server about a file: with what has no diagnostic. */
export const EVERYTHING = { memories: true, snoozed: true };

/** What hangs on a file: its place among the ranks of all, who uses it. */
export interface Code {
  path: string;
  place: number;
  of: number;
  users: number;
  usedBy: string[];
  uses: string[];
}

/** A line of the view that is no record: what hangs on the file, or one of the files that use it. */
export interface CodeRow {
  code: Code;
  user?: string;
}

export function isCode(row: Row | CodeRow): row is CodeRow {
  return "code" in row;
}

export interface Shown {
  id: string;
  title: string;
  markdown: string;
}

export interface Status {
  root: string;
  gotchas?: number;
  unresolved?: number;
  unconfirmed?: number;
  adrift?: number;
  snoozed?: number;
  /** Whether anything is shown in the code. */
  marks?: boolean;
}

/** What the server marks in the code, as a diagnostic has it. */
export const SOURCE = "gitmem";

/** The line as people count; undefined for the whole file. */
export function lineNumber(row: Row): number | undefined {
  return typeof row.line === "number" ? row.line + 1 : undefined;
}

export function isOpen(row: Row): boolean {
  return row.kind === "gotcha" && !row.resolved && !isSnoozed(row);
}

export function isSnoozed(row: Row): boolean {
  return Boolean(row.snoozed_until);
}

/** A text on one line, without control and direction characters. */
export function oneLine(text: string | null | undefined): string {
  return (text ?? "").replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g, " ").trim();
}
