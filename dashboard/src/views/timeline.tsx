// What happened, in one order.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { snapshot, useData } from "../api";
import { List } from "../list";
import { go, href, type Route, withQuery } from "../router";
import { Split } from "../split";
import { lineOf, number } from "../text";
import type { TimelineEvent } from "../types";
import { Age, Empty, Failed, Loading, Marks, Select } from "../ui";
import { Detail } from "./detail";

const SOURCES = ["commit", "memory", "gotcha", "snapshot", "session", "work", "event"];
const COLUMNS = [
  { name: "kind", title: "What" },
  { name: "title", title: "Title" },
  { name: "who", title: "Who" },
  { name: "age", title: "Age" },
];
const SINCE: [string, string][] = [
  ["", "any time"],
  ["1 day ago", "1 day"],
  ["1 week ago", "1 week"],
  ["1 month ago", "1 month"],
];

export function Timeline({ route, canChange }: { route: Route; canChange: boolean }): JSX.Element {
  const { source = "", since = "", session = "", file = "" } = route.query;
  const search = new URLSearchParams(Object.entries({ source, since, session, file }).filter(([, value]) => value));
  const { data, failure } = useData<TimelineEvent[]>(snapshot ? "timeline" : `timeline?${search}`);
  const rows = useMemo(() => (data ?? []).filter((row) => !source || row.source === source).map((row, n) => ({ ...row, key: String(n) })), [data, source]);
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const selected = route.query.id ?? "";
  const row = rows.find((each) => each.key === selected);
  const isFact = row?.source === "memory" || row?.source === "gotcha";
  const set = (name: string) => (value: string) => go(withQuery(route, { [name]: value, id: undefined }), true);
  const open = (key: string): void => {
    const event = rows.find((each) => each.key === key);
    if (event?.source === "session" && event.session) {
      go(href("sessions", event.session));
    } else if (event?.id && (event.source === "memory" || event.source === "gotcha")) {
      go(href("fact", event.id));
    }
  };
  return (
    <Split
      title="Timeline"
      count={number(rows.length)}
      isOpen={Boolean(row)}
      onClose={() => go(withQuery(route, { id: undefined }), true)}
      filters={
        <>
          <Select label="source" value={source} options={[["", "any"], ...SOURCES.map((name): [string, string] => [name, name])]} onChange={set("source")} />
          {snapshot ? null : <Select label="since" value={since} options={SINCE} onChange={set("since")} />}
          {session || file ? (
            <a class="clear" href={href("timeline")}>
              Clear
            </a>
          ) : null}
        </>
      }
      detail={row ? isFact && row.id ? <Detail id={row.id} canChange={canChange} /> : <EventDetail event={row} /> : null}
    >
      <List
        kind="timeline"
        label="Timeline"
        rows={rows}
        keyOf={(each) => each.key}
        columns={COLUMNS}
        selected={selected}
        onSelect={(id) => go(withQuery(route, { id }), true)}
        onOpen={open}
        empty={<Empty command="git mem timeline">Commits, changes of facts, sessions and events would be here.</Empty>}
        cells={(each) => [
          <span class="kind">{each.action === each.source || each.source === "event" ? each.source : `${each.source} ${each.action}`}</span>,
          <>
            <span class="row-title">{lineOf(each.title)}</span>
            <Marks marks={each.trust_marks} />
          </>,
          lineOf(each.agent ?? (each.author ?? "").split(" <")[0]),
          <Age at={each.at} />,
        ]}
      />
    </Split>
  );
}

function EventDetail({ event }: { event: TimelineEvent }): JSX.Element {
  return (
    <article class="detail">
      <h1>{lineOf(event.title)}</h1>
      <p class="facts-line">
        <span class="kind">{event.source}</span>
        <span>{lineOf((event.author ?? "").split(" <")[0] || event.agent)}</span>
        <Age at={event.at} />
      </p>
      {event.session ? (
        <p>
          <a href={href("sessions", event.session)}>Open the session</a>
        </p>
      ) : null}
      <ul class="plain-list">
        {event.paths.slice(0, 50).map((path) => (
          <li key={path}>
            <a href={href("facts", "", { file: path })}>{lineOf(path)}</a>
          </li>
        ))}
      </ul>
      <p class="quiet ids">{lineOf(event.id)}</p>
    </article>
  );
}
