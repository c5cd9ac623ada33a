// What waits for an answer: facts that nobody confirmed, and what sessions say of facts.

import type { JSX } from "preact";

import { useData } from "../api";
import { List } from "../list";
import { go, type Route, withQuery } from "../router";
import { Split } from "../split";
import { lineOf, number } from "../text";
import type { InboxRow } from "../types";
import { Age, Empty, Failed, Kind, Loading, Select } from "../ui";
import { Detail } from "./detail";

const COLUMNS = [
  { name: "kind", title: "Kind" },
  { name: "title", title: "Title" },
  { name: "who", title: "From" },
  { name: "age", title: "Age" },
];

export function Inbox({ route, canChange }: { route: Route; canChange: boolean }): JSX.Element {
  const { data, failure } = useData<InboxRow[]>(route.query.all ? "inbox?all=1" : "inbox");
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const selected = route.query.id ?? ""; // also when it left the inbox: somebody may be editing it
  const select = (id: string | undefined): void => go(withQuery(route, { id }), true);
  const next = (): void => {
    const at = data.findIndex((row) => row.id === selected);
    select((data[at + 1] ?? data[at - 1])?.id);
  };
  return (
    <Split
      title="Inbox"
      count={number(data.length)}
      isOpen={Boolean(selected)}
      onClose={() => select(undefined)}
      filters={<Select label="facts" value={route.query.all ?? ""} options={[["", "yours"], ["1", "everybody's"]]} onChange={(all) => go(withQuery(route, { all, id: undefined }), true)} />}
      detail={selected ? <Detail id={selected} canChange={canChange} onGone={next} /> : null}
    >
      <List
        kind="inbox"
        label="Inbox"
        rows={data}
        keyOf={(row) => row.id}
        columns={COLUMNS}
        selected={selected}
        onSelect={select}
        empty={<Empty command="git mem inbox">Nothing waits. Facts that agents write or sessions show would be here.</Empty>}
        cells={(row) => [
          row.kind === "statement" ? <span class="kind">statement</span> : <Kind fact={row} />,
          <>
            <span class="row-title">{lineOf(row.title)}</span>
            {row.reason ? <span class="mark loud">{lineOf(row.reason)}</span> : null}
            {row.occurrences && row.occurrences > 1 ? <span class="mark">{row.occurrences} times</span> : null}
          </>,
          lineOf(row.origin ?? (row.session ? "session" : "")),
          <Age at={row.created} />,
        ]}
      />
    </Split>
  );
}
