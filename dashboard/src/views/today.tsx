// What a session that starts now is told, and why.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { snapshot, useData } from "../api";
import { List } from "../list";
import { go, href, type Route, withQuery } from "../router";
import { Split } from "../split";
import { lineOf, number, plural } from "../text";
import type { About, Today as TodayData, TodayFact } from "../types";
import { Empty, Failed, Kind, Loading, Marks, Section, Select, FactLink } from "../ui";
import { Detail } from "./detail";

const COLUMNS = [
  { name: "kind", title: "Kind" },
  { name: "title", title: "Told" },
  { name: "who", title: "Who" },
  { name: "age", title: "Age" },
  { name: "why", title: "Why" },
  { name: "tokens", title: "Tokens" },
];

function days(fact: TodayFact): string {
  return fact.age_days < 1 ? "today" : `${Math.floor(fact.age_days)} d`;
}

export function Today({ route, about, canChange }: { route: Route; about: About | null; canChange: boolean }): JSX.Element {
  const { agent = "", file = "" } = route.query;
  const search = new URLSearchParams({ agent, file });
  const { data, failure } = useData<TodayData>(snapshot ? "today" : `today?${search}`);
  const [typed, setTyped] = useState(file);
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const selected = route.query.id ?? "";
  const agents: [string, string][] = [["", "global"], ...(about?.agents ?? []).map((name): [string, string] => [name, name])];
  const rows = data.lines.map((line, n) => ({ ...line, key: line.fact?.id ?? `line-${n}` }));
  const select = (id: string | undefined): void => go(withQuery(route, { id }), true);
  return (
    <Split
      title="Next session start"
      count={`${number(data.used)} of ${number(data.budget)} tokens`}
      isOpen={selected.length > 10}
      onClose={() => select(undefined)}
      filters={
        snapshot ? null : (
          <>
            <Select label="agent" value={agent} options={agents} onChange={(name) => go(withQuery(route, { agent: name, id: undefined }), true)} />
            <form
              onSubmit={(event) => {
                event.preventDefault();
                go(withQuery(route, { file: typed.trim(), id: undefined }), true);
              }}
            >
              <label class={file ? "filter set" : "filter"}>
                <span>edit of file</span>
                <input value={typed} placeholder="path" size={18} onInput={(event) => setTyped(event.currentTarget.value)} />
              </label>
            </form>
          </>
        )
      }
      detail={selected ? <Detail id={selected} canChange={canChange} /> : null}
    >
      <List
        kind="today"
        label="What a session receives"
        rows={rows}
        keyOf={(row) => row.key}
        columns={COLUMNS}
        selected={selected}
        onSelect={(key) => select(key)}
        onOpen={(key) => (key.startsWith("line-") ? undefined : go(href("fact", key)))}
        empty={<Empty command='git mem add "Use SERIALIZABLE for payments" -t decision'>A session that starts now receives nothing: there is nothing to send.</Empty>}
        cells={(row) => [
          row.fact ? <Kind fact={row.fact} /> : <span class="kind">note</span>,
          <>
            <span class="row-title">{lineOf(row.fact ? row.fact.title : row.text.replace(/^- /, ""))}</span>
            <Marks marks={row.fact?.trust_marks} />
          </>,
          row.fact ? lineOf(row.fact.author) : "",
          row.fact ? days(row.fact) : "",
          lineOf(row.reason),
          row.tokens,
        ]}
      />
      {data.path ? (
        <Section title={`On an edit of ${lineOf(data.path)}`} note={plural(data.about_file.length, "gotcha")}>
          <ul class="plain-list">
            {data.about_file.map((row) => (
              <li key={row.id}>
                <Kind fact={row} /> <FactLink id={row.id} title={row.title} /> <span class="quiet">{lineOf((row.reasons ?? []).join("; "))}</span>
              </li>
            ))}
          </ul>
        </Section>
      ) : null}
      {data.left_out_count > 0 ? (
        <details class="section left-out">
          <summary>
            Left out: {plural(data.left_out_count, "fact")}
            <span class="quiet"> (budget, or not wanted)</span>
          </summary>
          <ul class="plain-list">
            {data.left_out.map((fact) => (
              <li key={fact.id}>
                <Kind fact={fact} /> <FactLink id={fact.id} title={fact.title} />
              </li>
            ))}
          </ul>
        </details>
      ) : null}
    </Split>
  );
}
