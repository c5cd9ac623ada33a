// Small parts that several views share.

import type { ComponentChildren, JSX } from "preact";

import type { Failure } from "./api";
import { href } from "./router";
import { age, lineOf, plain, whole } from "./text";

export function Age({ at }: { at: string | null | undefined }): JSX.Element {
  return (
    <time dateTime={at ?? undefined} title={whole(at)}>
      {age(at)}
    </time>
  );
}

/** Return the word that tells a kind apart: the type of a memory, the weight of a gotcha. */
export function kindOf(fact: { kind: string; type?: string | null; severity?: string | null }): string {
  return fact.kind === "gotcha" ? "gotcha" : fact.type || fact.kind;
}

export function Kind({ fact }: { fact: { kind: string; type?: string | null; severity?: string | null } }): JSX.Element {
  return <span class={fact.severity === "critical" ? "kind critical" : "kind"}>{plain(kindOf(fact))}</span>;
}

export function Marks({ marks }: { marks: string[] | undefined }): JSX.Element {
  return (
    <>
      {(marks ?? []).map((mark) => (
        <span class={mark === "unconfirmed" ? "mark" : "mark loud"} key={mark} title={plain(mark)}>
          {lineOf(mark.replace(/^contradicts \S+$/, "contradicted"))}
        </span>
      ))}
    </>
  );
}

export function FactLink({ id, title }: { id: string; title: string | null | undefined }): JSX.Element {
  return (
    <a class="fact-link" href={href("fact", id)}>
      {lineOf(title || id)}
    </a>
  );
}

export function Failed({ failure }: { failure: Failure }): JSX.Element {
  return (
    <div class="failed" role="alert">
      <p>{plain(failure.message)}</p>
      {failure.hint ? <p class="quiet">{plain(failure.hint)}</p> : null}
    </div>
  );
}

export function Empty({ children, command }: { children: ComponentChildren; command?: string }): JSX.Element {
  return (
    <div class="empty">
      <p>{children}</p>
      {command ? (
        <p>
          <code>{command}</code>
        </p>
      ) : null}
    </div>
  );
}

export function Loading(): JSX.Element {
  return <p class="loading">Reading…</p>;
}

interface SelectProps {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (value: string) => void;
}

export function Select({ label, value, options, onChange }: SelectProps): JSX.Element {
  return (
    <label class={value ? "filter set" : "filter"}>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name} selected={name === value}>
            {lineOf(text)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Button({ children, keyName, onClick, tone }: { children: ComponentChildren; keyName?: string; onClick: () => void; tone?: string }): JSX.Element {
  return (
    <button type="button" class={`action ${tone ?? ""}`} onClick={onClick} aria-keyshortcuts={keyName}>
      {children}
      {keyName ? <kbd aria-hidden="true">{keyName}</kbd> : null}
    </button>
  );
}

export function Section({ title, note, children }: { title: string; note?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <section class="section">
      <h2>
        {title} {note ? <small>{note}</small> : null}
      </h2>
      {children}
    </section>
  );
}
