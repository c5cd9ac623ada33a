/** What stands beside the code and is no squiggle: an icon in the gutter, and the gotcha of the cursor's line behind it. */

import * as vscode from "vscode";

import { marksOf } from "./marks";
import { oneLine } from "./rows";

const LONGEST = 160;

/** How a severity looks: the colours of its icon on dark and on light, and of its text. */
const LOOKS: Record<vscode.DiagnosticSeverity, [dark: string, light: string, text: string]> = {
  [vscode.DiagnosticSeverity.Error]: ["#f14c4c", "#e51400", "editorError.foreground"],
  [vscode.DiagnosticSeverity.Warning]: ["#cca700", "#bf8803", "editorWarning.foreground"],
  [vscode.DiagnosticSeverity.Information]: ["#3794ff", "#1a85ff", "editorInfo.foreground"],
  [vscode.DiagnosticSeverity.Hint]: ["#a0a0a0", "#7a7a7a", "editorCodeLens.foreground"],
};

/** Where a mark is, moved along with what is typed until the server says it anew. */
interface Spot {
  at: vscode.Position;
  text: string;
  severity: vscode.DiagnosticSeverity;
}

export class Decorations implements vscode.Disposable {
  private readonly icons = Object.entries(LOOKS).map(([severity, [dark, light]]) => ({
    severity: Number(severity),
    type: vscode.window.createTextEditorDecorationType({
      dark: { gutterIconPath: icon(dark) },
      light: { gutterIconPath: icon(light) },
      gutterIconSize: "80%",
    }),
  }));
  private readonly behind = vscode.window.createTextEditorDecorationType({ rangeBehavior: vscode.DecorationRangeBehavior.OpenOpen });
  private readonly spots = new Map<string, Spot[]>();
  /** What is behind the line of an editor. */
  private readonly written = new WeakMap<vscode.TextEditor, string>();
  private readonly watched: vscode.Disposable;

  constructor() {
    this.watched = vscode.Disposable.from(
      vscode.languages.onDidChangeDiagnostics((event) => this.renew(event.uris)),
      vscode.window.onDidChangeVisibleTextEditors(() => this.all()),
      vscode.window.onDidChangeActiveTextEditor(() => this.lines()),
      vscode.window.onDidChangeTextEditorSelection((event) => this.line(event.textEditor)),
      vscode.workspace.onDidChangeTextDocument((event) => this.edited(event)),
      vscode.workspace.onDidCloseTextDocument((document) => this.spots.delete(document.uri.toString())),
      vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("gitmem") && this.all()),
    );
    this.all();
  }

  private renew(uris: readonly vscode.Uri[]): void {
    const names = new Set(uris.map(String));
    for (const editor of vscode.window.visibleTextEditors) {
      if (names.has(editor.document.uri.toString())) {
        this.read(editor);
      }
    }
  }

  private all(): void {
    vscode.window.visibleTextEditors.forEach((editor) => this.read(editor));
  }

  private lines(): void {
    vscode.window.visibleTextEditors.forEach((editor) => this.line(editor));
  }

  private read(editor: vscode.TextEditor): void {
    const { uri } = editor.document;
    const marks = marksOf(uri);
    this.spots.set(uri.toString(), marks.map((mark) => ({ at: mark.range.start, text: oneLine(mark.message), severity: mark.severity })));
    const wanted = isSet("gutter", true);
    for (const { severity, type } of this.icons) {
      // the worst of a line is the one in the gutter
      editor.setDecorations(type, wanted ? marks.filter((mark) => mark.severity === severity && !isOutdone(mark, marks)).map((mark) => lineOf(mark.range.start)) : []);
    }
    this.line(editor);
  }

  /** Write the gotcha of the cursor's line behind it, in the editor that has the focus. */
  private line(editor: vscode.TextEditor): void {
    const cursor = editor.selection.active.line;
    const wanted = isSet("currentLine", false) && editor === vscode.window.activeTextEditor;
    const spots = wanted ? (this.spots.get(editor.document.uri.toString()) ?? []).filter((spot) => spot.at.line === cursor) : [];
    const spot = cursor < editor.document.lineCount ? spots.sort((a, b) => a.severity - b.severity)[0] : undefined;
    const now = spot ? `${cursor} ${spot.severity} ${spot.text}` : "";
    if (now === (this.written.get(editor) ?? "")) {
      return; // it grows with its line; set again, it would flicker
    }
    this.written.set(editor, now);
    editor.setDecorations(this.behind, spot ? [{ range: editor.document.lineAt(cursor).range, renderOptions: { after: after(spot) } }] : []);
  }

  private edited(event: vscode.TextDocumentChangeEvent): void {
    const name = event.document.uri.toString();
    const spots = this.spots.get(name);
    if (spots) {
      this.spots.set(name, event.contentChanges.reduce((moved, change) => moved.flatMap((spot) => shift(spot, change)), spots));
      if (event.contentChanges.some(({ range, text }) => !range.isSingleLine || text.includes("\n"))) {
        this.forget(name); // what is behind a line that was divided, joined or replaced is written anew
      }
      this.lines();
    }
  }

  private forget(name: string): void {
    vscode.window.visibleTextEditors.filter((editor) => editor.document.uri.toString() === name).forEach((editor) => this.written.set(editor, "?"));
  }

  dispose(): void {
    this.watched.dispose();
    this.behind.dispose();
    this.icons.forEach(({ type }) => type.dispose());
  }
}

function after({ text, severity }: Spot): vscode.ThemableDecorationAttachmentRenderOptions {
  const contentText = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
  return { contentText, margin: "0 0 0 2.5em", fontStyle: "italic", color: new vscode.ThemeColor(LOOKS[severity][2]) };
}

/** Return a mark where an edit has put it; nothing when the edit took its line away. */
function shift(spot: Spot, { range, text }: vscode.TextDocumentContentChangeEvent): Spot[] {
  const lines = text.split("\n").length - 1;
  if (spot.at.isAfterOrEqual(range.end)) {
    return [{ ...spot, at: spot.at.translate(lines - (range.end.line - range.start.line)) }];
  }
  return spot.at.line > range.start.line ? [] : [spot];
}

function isOutdone(mark: vscode.Diagnostic, marks: readonly vscode.Diagnostic[]): boolean {
  return marks.some((other) => other.range.start.line === mark.range.start.line && other.severity < mark.severity);
}

function lineOf(at: vscode.Position): vscode.Range {
  return new vscode.Range(at.line, 0, at.line, 0);
}

function isSet(name: string, otherwise: boolean): boolean {
  return vscode.workspace.getConfiguration("gitmem").get(name, otherwise);
}

/** A flag of a colour, as the gutter wants it. */
function icon(colour: string): vscode.Uri {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M4 2v12" stroke="${colour}" stroke-width="1.6" stroke-linecap="round"/><path d="M5 3h8l-2 2.75L13 8.500H5z" fill="${colour}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;base64,${Buffer.from(svg).toString("base64")}`);
}
