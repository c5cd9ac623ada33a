// The words of a fact in fields.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { notifyFailure, perform } from "../actions";
import { type Failure, read } from "../api";
import { plain } from "../text";
import type { FactDetail } from "../types";

const TYPES = ["decision", "pattern", "rule", "bug", "insight", "context", "fact", "preference", "task"];

type FactRecord = FactDetail["record"];
type Name = "title" | "message" | "type" | "importance" | "workaround";
type Words = Record<Name, string>;

function wordsOf(record: FactRecord): Words {
  return { title: record.title, message: record.body ?? "", type: record.type ?? "", importance: String(record.importance ?? ""), workaround: record.workaround ?? "" };
}

/**
 * The editor of a record. What is sent is what was typed, and the version it was typed into: `base`, which
 * stays as it was when the editor opened, until the server says that it changed meanwhile.
 */
export function Edit({ record, onEnd }: { record: FactRecord; onEnd: () => void }): JSX.Element {
  const [base, setBase] = useState(record);
  const [typed, setTyped] = useState<Partial<Words>>({});
  const [met, setMet] = useState<Name[]>([]); // typed fields that somebody else changed too
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const words = wordsOf(base);
  const set = (name: Name) => (event: { currentTarget: { value: string } }): void => {
    const { value } = event.currentTarget;
    setTyped((before) => ({ ...before, [name]: value }));
  };
  const valueOf = (name: Name): string => typed[name] ?? words[name];
  const changed = (Object.keys(typed) as Name[]).filter((name) => typed[name] !== words[name]);

  const save = async (): Promise<void> => {
    const changes = Object.fromEntries(changed.map((name) => [name, typed[name]]));
    const failure = changed.length > 0 ? await perform("edit", { id: base.id, seen: { [base.id]: base.blob }, ...changes }) : null;
    if (failure === null) {
      onEnd();
    } else if (failure.isChanged) {
      await takeOver();
    }
  };
  /** Go on with what the record is now: typed fields stay, all others are as they are there. */
  const takeOver = async (): Promise<void> => {
    try {
      const { record: now } = (await read(`facts/${encodeURIComponent(base.id)}`)) as FactDetail;
      const others = wordsOf(now);
      setMet(changed.filter((name) => others[name] !== words[name]));
      setBase(now);
    } catch (error) {
      notifyFailure(error as Failure);
    }
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      onEnd();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      void save();
    }
  };
  const now = (name: Name): JSX.Element | null => (met.includes(name) ? <span class="now">It says now: {plain(words[name])}</span> : null);
  return (
    <form
      class="edit"
      onKeyDown={keys}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      {base !== record ? <p role="alert">It changed meanwhile. What you typed is still here: compare, then save again.</p> : null}
      <label>
        Title
        <input ref={first} value={valueOf("title")} onInput={set("title")} required />
        {now("title")}
      </label>
      <label>
        Text
        <textarea rows={8} value={valueOf("message")} onInput={set("message")} />
        {now("message")}
      </label>
      {record.kind === "gotcha" ? (
        <label>
          What helps
          <input value={valueOf("workaround")} onInput={set("workaround")} />
          {now("workaround")}
        </label>
      ) : (
        <div class="side-by-side">
          <label>
            Type
            <select value={valueOf("type")} onChange={set("type")}>
              {TYPES.map((name) => (
                <option key={name} selected={name === valueOf("type")}>
                  {name}
                </option>
              ))}
            </select>
            {now("type")}
          </label>
          <label>
            Importance
            <input type="number" min="0" max="10" step="any" value={valueOf("importance")} onInput={set("importance")} />
            {now("importance")}
          </label>
        </div>
      )}
      <div class="actions">
        <button type="submit" class="action main">
          Save<kbd aria-hidden="true">Ctrl ⏎</kbd>
        </button>
        <button type="button" class="action" onClick={onEnd}>
          Cancel<kbd aria-hidden="true">Esc</kbd>
        </button>
      </div>
    </form>
  );
}
