// All facts in one table.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { factsOf, snapshot, useData } from "../api";
import { List, type Column } from "../list";
import { go, href, type Route, withQuery } from "../router";
import { lineOf, number } from "../text";
import type { Fact } from "../types";
import { Age, Empty, Failed, Kind, kindOf, Loading, Marks, Select } from "../ui";
import { Split } from "../split";
import { Detail } from "./detail";

const COLUMNS: Column[] = [
  { name: "kind", title: "Kind", sorts: true },
  { name: "title", title: "Title", sorts: true },
  { name: "who", title: "Who", sorts: true },
  { name: "age", title: "Age", sorts: true },
  { name: "score", title: "Score", sorts: true },
];
const AGES: [string, string][] = [
  ["", "any"],
  ["1", "1 day"],
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
];
const SCORES: [string, string][] = [
  ["", "any"],
  ["7", "7 or more"],
  ["5", "5 or more"],
  ["3", "3 or more"],
  ["-3", "below 3"],
];
export const FILTERS = ["kind", "type", "trust", "status", "agent", "session", "file", "age", "score", "q"];

type Order = (a: Fact, b: Fact) => number;
const words = (name: (fact: Fact) => string): Order => (a, b) => (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0);
const ORDERS: Record<string, Order> = {
  kind: words(kindOf),
  title: words((fact) => fact.words),
  who: words(whoOf),
  age: (a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0),
  score: (a, b) => b.score - a.score,
};

/** Return who said a fact: a person, the agent that it is for, or how it came without a person. */
export function whoOf(fact: Fact): string {
  if (fact.agent && fact.agent !== "global") {
    return fact.agent;
  }
  return fact.origin && fact.origin !== "manual" && fact.trust === "unconfirmed" ? fact.origin : fact.author;
}

/** Return the facts that fit the filters of an address, in its order. */
export function chosen(facts: Fact[], query: Record<string, string>, found: ReadonlySet<string> | null): Fact[] {
  const q = (query.q ?? "").toLowerCase().trim();
  const oldest = query.age ? new Date(Date.now() - Number(query.age) * 86400000).toISOString() : "";
  const score = Number(query.score || 0);
  const shown = facts.filter(
    (fact) =>
      (!query.kind || fact.kind === query.kind) &&
      (!query.type || fact.type === query.type) &&
      (!query.trust || fact.trust === query.trust) &&
      (query.status ? query.status === "any" || fact.status === query.status : isLive(fact)) &&
      (!query.agent || fact.agent === query.agent) &&
      (!query.session || fact.session === query.session) &&
      (!query.file || fact.paths.some((path) => path === query.file || path.startsWith(`${query.file}/`))) &&
      (!oldest || fact.created >= oldest) &&
      (!score || (score > 0 ? fact.score >= score : fact.score < -score)) &&
      (!q || fact.words.includes(q) || (found?.has(fact.id) ?? false)),
  );
  const name = (query.sort ?? "age").replace(/^-/, "");
  const order = ORDERS[name];
  if (order && query.sort !== undefined) {
    const sign = query.sort.startsWith("-") ? -1 : 1;
    shown.sort((a, b) => sign * order(a, b));
  }
  return shown;
}

function isLive(fact: Fact): boolean {
  return (fact.status === "active" || fact.status === "pinned") && !fact.resolved;
}

function valuesOf(facts: Fact[], name: (fact: Fact) => string): [string, string][] {
  const values = [...new Set(facts.map(name))].filter(Boolean).sort();
  return [["", "any"], ...values.map((value): [string, string] => [value, value])];
}

export function Facts({ route, canChange }: { route: Route; canChange: boolean }): JSX.Element {
  const { data, failure } = useData<{ columns: string[]; rows: unknown[][] }>("facts");
  const { query } = route;
  const search = useData<string[]>(query.q && !snapshot ? `search?q=${encodeURIComponent(query.q)}` : null);
  const facts = useMemo(() => (data ? factsOf(data) : []), [data]);
  const found = useMemo(() => (search.data ? new Set(search.data) : null), [search.data]);
  const rows = useMemo(() => chosen(facts, query, found), [facts, JSON.stringify({ ...query, id: "" }), found]);
  const options = useMemo(() => optionsOf(facts), [facts]);
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const set = (name: string) => (value: string) => go(withQuery(route, { [name]: value, id: undefined }), true);
  const isFiltered = FILTERS.some((name) => query[name]);
  const selected = query.id ?? "";
  return (
    <Split
      title="Facts"
      count={`${number(rows.length)} of ${number(facts.length)}`}
      isOpen={Boolean(selected)}
      onClose={() => go(withQuery(route, { id: undefined }), true)}
      filters={
        <>
          <Select label="kind" value={query.kind ?? ""} options={[["", "any"], ["memory", "memory"], ["gotcha", "gotcha"]]} onChange={set("kind")} />
          <Select label="type" value={query.type ?? ""} options={options.types} onChange={set("type")} />
          <Select label="trust" value={query.trust ?? ""} options={options.trusts} onChange={set("trust")} />
          <Select label="status" value={query.status ?? ""} options={[["", "live"], ["any", "any"], ["active", "active"], ["pinned", "pinned"], ["decayed", "decayed"], ["archived", "archived"]]} onChange={set("status")} />
          <Select label="agent" value={query.agent ?? ""} options={options.agents} onChange={set("agent")} />
          <Select label="session" value={query.session ?? ""} options={options.sessions} onChange={set("session")} />
          <Select label="file" value={query.file ?? ""} options={options.files} onChange={set("file")} />
          <Select label="age" value={query.age ?? ""} options={AGES} onChange={set("age")} />
          <Select label="score" value={query.score ?? ""} options={SCORES} onChange={set("score")} />
          {isFiltered ? (
            <a class="clear" href={href("facts", "", { sort: query.sort })}>
              Clear
            </a>
          ) : null}
        </>
      }
      detail={selected ? <Detail id={selected} canChange={canChange} /> : null}
    >
      <List
        kind="facts"
        label="Facts"
        rows={rows}
        keyOf={(fact) => fact.id}
        columns={COLUMNS}
        selected={selected}
        onSelect={(id) => go(withQuery(route, { id }), true)}
        onOpen={(id) => go(href("fact", id))}
        sort={query.sort ?? "age"}
        onSort={(name) => go(withQuery(route, { sort: name }), true)}
        rowClass={(fact) => (isLive(fact) ? "" : "ended")}
        empty={facts.length === 0 ? <Empty command='git mem add "Use SERIALIZABLE for payments" -t decision'>Decisions, rules, gotchas and other facts would be here.</Empty> : "No fact fits these filters."}
        cells={(fact) => [
          <Kind fact={fact} />,
          <>
            <span class="row-title">{lineOf(fact.title)}</span>
            {fact.status !== "active" ? <span class="mark">{fact.status}</span> : null}
            {fact.store !== "shared" ? <span class="mark">{fact.store}</span> : null}
            <Marks marks={fact.marks} />
          </>,
          lineOf(whoOf(fact)),
          <Age at={fact.created} />,
          fact.score.toFixed(1),
        ]}
      />
    </Split>
  );
}

const MOST_FILES = 500;

function optionsOf(facts: Fact[]): Record<"types" | "trusts" | "agents" | "sessions" | "files", [string, string][]> {
  const files = [...new Set(facts.flatMap((fact) => fact.paths))].sort().slice(0, MOST_FILES);
  return {
    types: valuesOf(facts, (fact) => fact.type),
    trusts: valuesOf(facts, (fact) => fact.trust),
    agents: valuesOf(facts, (fact) => fact.agent),
    sessions: valuesOf(facts, (fact) => fact.session).slice(0, MOST_FILES),
    files: [["", "any"], ...files.map((file): [string, string] => [file, file])],
  };
}
