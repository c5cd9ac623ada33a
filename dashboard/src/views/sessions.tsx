// What was asked and done, and what each session was told.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { perform } from "../actions";
import { snapshot, useData } from "../api";
import { List } from "../list";
import { go, href, type Route } from "../router";
import { Split } from "../split";
import { lineOf, number, plain, plural } from "../text";
import type { SessionDetail, SessionRow } from "../types";
import { Age, Empty, Failed, FactLink, Loading } from "../ui";

const COLUMNS = [
  { name: "kind", title: "Agent" },
  { name: "title", title: "About" },
  { name: "who", title: "State" },
  { name: "age", title: "Last seen" },
];

export function Sessions({ route, canChange }: { route: Route; canChange: boolean }): JSX.Element {
  const { data, failure } = useData<SessionRow[]>("sessions");
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const select = (id: string): void => go(href("sessions", id), true);
  return (
    <Split title="Sessions" count={number(data.length)} isOpen={Boolean(route.id)} onClose={() => go(href("sessions"), true)} detail={route.id ? <Session id={route.id} canChange={canChange} /> : null}>
      <List
        kind="sessions"
        label="Sessions"
        rows={data}
        keyOf={(row) => row.id}
        columns={COLUMNS}
        selected={route.id}
        onSelect={select}
        empty={<Empty command="git mem install --list">Sessions of agents would be here. Their hooks tell of them.</Empty>}
        cells={(row) => [<span class="kind">{lineOf(row.agent)}</span>, <span class="row-title">{lineOf(row.subject ?? row.title ?? row.id)}</span>, row.state, <Age at={row.last_seen} />]}
      />
    </Split>
  );
}

function Session({ id, canChange }: { id: string; canChange: boolean }): JSX.Element {
  const { data, failure } = useData<SessionDetail>(snapshot ? null : `sessions/${encodeURIComponent(id)}`);
  const [isAsking, setAsking] = useState(false);
  if (snapshot) {
    return <Empty command={`git mem session show ${plain(id)}`}>The history of a session is not in this file.</Empty>;
  }
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const tokens = data.costs.reduce((sum, cost) => sum + cost.tokens, 0);
  const calls = data.costs.reduce((sum, cost) => sum + cost.call_count, 0);
  const remove = async (): Promise<void> => {
    setAsking(false);
    await perform("delete-session", { id: data.id }, () => go(href("sessions"), true));
  };
  return (
    <article class="detail" aria-label="The selected session">
      <h1>{lineOf(data.title ?? data.events.find((event) => event.event === "PromptSubmit")?.text ?? data.id)}</h1>
      <p class="facts-line">
        <span class="kind">{plain(data.agent)}</span>
        <span>{data.state}</span>
        {data.branch ? <span>{plain(data.branch)}</span> : null}
        <Age at={data.started} />
      </p>
      {canChange ? (
        <div class="actions">
          {data.session_record ? (
            <a class="action" href={href("facts", "", { session: data.id, status: "any" })}>
              Its facts
            </a>
          ) : null}
          {isAsking ? (
            <>
              <span>Delete its history, its record and its unconfirmed facts? This cannot be undone.</span>
              <button type="button" class="action danger" onClick={() => void remove()}>
                Delete
              </button>
              <button type="button" class="action" onClick={() => setAsking(false)}>
                Keep
              </button>
            </>
          ) : (
            <button type="button" class="action" disabled={data.state === "running"} onClick={() => setAsking(true)}>
              Delete…
            </button>
          )}
        </div>
      ) : null}
      <section class="part">
        <h2>Told to it</h2>
        <p>
          {plural(data.injected.length, "fact")}, {plural(tokens, "token")} in {plural(calls, "call")} of hooks.
        </p>
        <ul class="plain-list">
          {data.injected.map((fact) => (
            <li key={fact.id}>{fact.title ? <FactLink id={fact.id} title={fact.title} /> : <span class="quiet">{lineOf(fact.id)}</span>}</li>
          ))}
        </ul>
      </section>
      {data.changed_files.length > 0 ? (
        <section class="part">
          <h2>Changed</h2>
          <ul class="plain-list">
            {data.changed_files.slice(0, 60).map((file) => (
              <li key={file.path}>
                <a href={href("facts", "", { file: file.path })}>{plain(file.path)}</a>
              </li>
            ))}
          </ul>
        </section>
      ) : null}
      <section class="part">
        <h2>Asked and done</h2>
        {data.event_count > data.events.length ? <p class="quiet">The last {number(data.events.length)} of {number(data.event_count)} events.</p> : null}
        <ol class="events">
          {data.events.filter((event) => event.text || event.tool).map((event) => (
            <li key={event.line} class={event.role ?? ""}>
              <span class="quiet who">{plain(event.role === "tool" ? (event.tool ?? "tool") : (event.role ?? ""))}</span>
              <span class="said">{plain(event.text)}</span>
            </li>
          ))}
        </ol>
      </section>
    </article>
  );
}
