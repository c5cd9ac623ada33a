/** A record as an entry of a view. */

import * as vscode from "vscode";

import { isOpen, isSnoozed, lineNumber, oneLine, type Row } from "./rows";

const ICONS: Record<string, [string, string]> = {
  critical: ["warning", "list.warningForeground"],
  warning: ["info", "notificationsInfoIcon.foreground"],
  info: ["lightbulb", "descriptionForeground"],
};

/** Return the entry of a record. A click goes to its line. */
export function recordItem(row: Row): vscode.TreeItem {
  const item = new vscode.TreeItem(oneLine(row.title));
  item.id = row.id;
  item.description = describe(row);
  item.contextValue = [context(row), row.status === "pinned" ? "pinned" : "loose"].join(".");
  item.iconPath = icon(row);
  item.command = { command: "gitmem.editor.reveal", title: "Go to the Line", arguments: [row] };
  item.accessibilityInformation = { label: `${row.kind} ${oneLine(row.title)}, ${item.description}` };
  return item;
}

/** What the menus know a row by. */
function context(row: Row): string {
  if (row.kind !== "gotcha") {
    return "memory";
  }
  return row.resolved ? "gotcha.resolved" : isSnoozed(row) ? "gotcha.snoozed" : "gotcha.open";
}

/** Open gotchas, memories, and then what is snoozed or resolved. */
function group(row: Row): number {
  return isOpen(row) ? 0 : row.kind !== "gotcha" ? 1 : 2;
}

export function byPlace(a: Row, b: Row): number {
  return group(a) - group(b) || (a.line ?? 0) - (b.line ?? 0) || a.id.localeCompare(b.id);
}

function icon(row: Row): vscode.ThemeIcon {
  if (row.resolved) {
    return new vscode.ThemeIcon("check", new vscode.ThemeColor("testing.iconPassed"));
  }
  if (isSnoozed(row)) {
    return new vscode.ThemeIcon("bell-slash");
  }
  const [name, color] = (row.kind === "gotcha" && ICONS[row.severity ?? ""]) || ["note", "foreground"];
  return new vscode.ThemeIcon(name, new vscode.ThemeColor(color));
}

function describe(row: Row): string {
  const parts: string[] = [];
  const line = lineNumber(row);
  if (line !== undefined) {
    parts.push(`line ${line}`);
  }
  if (row.kind !== "gotcha" && row.type) {
    parts.push(row.type);
  }
  if (row.snoozed_until) {
    parts.push(`snoozed until ${row.snoozed_until.slice(0, 10)}`);
  }
  if (row.unconfirmed) {
    parts.push("unconfirmed");
  }
  if (row.resolved) {
    parts.push("resolved");
  }
  if (row.state && !["same", "file", "glob", "moved"].includes(row.state)) {
    parts.push(row.state === "adrift" ? "code not found" : "code changed since");
  }
  return parts.join(", ");
}
