// The words of a fact in fields.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { perform } from "../actions";
import type { FactDetail } from "../types";

const TYPES = ["decision", "pattern", "rule", "bug", "insight", "context", "fact", "preference", "task"];

export function Edit({ record, onEnd }: { record: FactDetail["record"]; onEnd: () => void }): JSX.Element {
  const [title, setTitle] = useState(record.title);
  const [body, setBody] = useState(record.body ?? "");
  const [type, setType] = useState(record.type ?? "");
  const [importance, setImportance] = useState(String(record.importance ?? ""));
  const [workaround, setWorkaround] = useState(record.workaround ?? "");
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);

  const save = async (): Promise<void> => {
    const changes: Record<string, string> = {};
    const note = (name: string, value: string, before: string): void => {
      if (value !== before) {
        changes[name] = value;
      }
    };
    note("title", title, record.title);
    note("message", body, record.body ?? "");
    note("type", type, record.type ?? "");
    note("importance", importance, String(record.importance ?? ""));
    note("workaround", workaround, record.workaround ?? "");
    if (Object.keys(changes).length === 0 || (await perform("edit", { id: record.id, ...changes }))) {
      onEnd();
    }
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === "Escape") {
      onEnd();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      void save();
    }
  };
  return (
    <form
      class="edit"
      onKeyDown={keys}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <label>
        Title
        <input ref={first} value={title} onInput={(event) => setTitle(event.currentTarget.value)} required />
      </label>
      <label>
        Text
        <textarea rows={8} value={body} onInput={(event) => setBody(event.currentTarget.value)} />
      </label>
      {record.kind === "gotcha" ? (
        <label>
          What helps
          <input value={workaround} onInput={(event) => setWorkaround(event.currentTarget.value)} />
        </label>
      ) : (
        <div class="side-by-side">
          <label>
            Type
            <select value={type} onChange={(event) => setType(event.currentTarget.value)}>
              {TYPES.map((name) => (
                <option key={name} selected={name === type}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label>
            Importance
            <input type="number" min="0" max="10" step="any" value={importance} onInput={(event) => setImportance(event.currentTarget.value)} />
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
