// One fact: its text, who says so, its history, its relations, and its code as it is now.

import type { JSX } from "preact";
import { useState } from "preact/hooks";

import { perform } from "../actions";
import { snapshot, useData } from "../api";
import { DecayCurve } from "../chart";
import { Relations } from "../graph";
import { useKeys } from "../keys";
import { href } from "../router";
import { age, lineOf, plain, short, whole } from "../text";
import type { FactDetail, Source } from "../types";
import { Age, Button, Failed, FactLink, Kind, Loading, Marks } from "../ui";
import { Edit } from "./edit";

interface Props {
  id: string;
  canChange: boolean;
  onGone?: () => void;
}

export function Detail({ id, canChange, onGone }: Props): JSX.Element {
  const { data, failure } = useData<FactDetail>(`facts/${encodeURIComponent(id)}`);
  // as it was when the editor was opened: what is typed stays whatever becomes of the fact
  const [edited, setEdited] = useState<FactDetail["record"] | null>(null);
  const editor = edited && edited.id === id ? <Edit key={id} record={edited} onEnd={() => setEdited(null)} /> : null;
  if (failure && !data) {
    return (
      <>
        <Failed failure={failure} />
        {editor}
      </>
    );
  }
  if (!data) {
    return <Loading />;
  }
  const { record } = data;
  return (
    <article class="detail" aria-label="The selected fact">
      {editor ?? (
        <>
          <h1>{plain(record.title)}</h1>
          <p class="facts-line">
            <Kind fact={record} />
            <span>{plain((record.author ?? "").split(" <")[0])}</span>
            <span>
              <Age at={record.created} />
            </span>
            {record.status && record.status !== "active" ? <span>{plain(record.status)}</span> : null}
            {record.store !== "shared" ? <span>{plain(record.store)}</span> : null}
            <Marks marks={data.trust_marks} />
          </p>
          {canChange ? <Actions data={data} edit={() => setEdited(record)} onGone={onGone} /> : null}
          {record.body ? <div class="body">{plain(record.body)}</div> : null}
          {record.workaround ? (
            <p class="workaround">
              <strong>What helps</strong> {plain(record.workaround)}
            </p>
          ) : null}
        </>
      )}
      <Contradictions data={data} />
      <Evidence data={data} />
      <CodeNow data={data} />
      <ScoreNow data={data} />
      {data.graph && data.graph.edges.length > 0 ? (
        <Part title="Relations">
          <Relations graph={data.graph} id={record.id} />
        </Part>
      ) : null}
      <History data={data} />
      <p class="quiet ids">
        {plain(record.id)} {(record.tags ?? []).map((tag) => `#${plain(tag)}`).join(" ")}
      </p>
    </article>
  );
}

function Part({ title, children }: { title: string; children: preact.ComponentChildren }): JSX.Element {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Actions({ data, edit, onGone }: { data: FactDetail; edit: () => void; onGone: (() => void) | undefined }): JSX.Element {
  const { record } = data;
  const { id } = record;
  const { successor } = data;
  const seen = { [id]: record.blob, ...(successor ? { [successor.id]: successor.blob } : {}) };
  const isOpen = Boolean(record.unconfirmed) || (data.statements ?? []).length > 0;
  const isPinned = record.status === "pinned";
  const leave = (action: string) => async (): Promise<void> => {
    await perform(action, { id, seen }, onGone);
  };
  const stay = (action: string) => (): void => void perform(action, { id, seen });
  const accept = leave("accept");
  const reject = leave("reject");
  const forget = leave("forget");
  const pin = stay(isPinned ? "unpin" : "pin");
  useKeys({ ...(isOpen ? { a: () => void accept(), r: () => void reject() } : {}), e: edit, f: () => void forget(), p: pin });
  return (
    <div class="actions">
      {isOpen ? (
        <>
          <Button keyName="a" tone="main" onClick={() => void accept()}>
            Accept
          </Button>
          <Button keyName="r" onClick={() => void reject()}>
            Reject
          </Button>
        </>
      ) : null}
      <Button keyName="e" onClick={edit}>
        Edit
      </Button>
      <Button keyName="p" onClick={pin}>
        {isPinned ? "Unpin" : "Pin"}
      </Button>
      {record.kind === "gotcha" ? <Button onClick={stay(record.is_resolved ? "reopen-gotcha" : "resolve-gotcha")}>{record.is_resolved ? "Reopen" : "Resolve"}</Button> : null}
      {record.type === "task" && record.status !== "archived" ? <Button onClick={stay("done")}>Done</Button> : null}
      <Button onClick={stay(record.status === "archived" ? "restore" : "archive")}>{record.status === "archived" ? "Restore" : "Archive"}</Button>
      <Button keyName="f" onClick={() => void forget()}>
        Forget
      </Button>
    </div>
  );
}

function Contradictions({ data }: { data: FactDetail }): JSX.Element | null {
  const others = data.contradicts ?? [];
  if (others.length === 0) {
    return null;
  }
  return (
    <Part title="Contradicts">
      <ul class="plain-list">
        {others.map((other) => (
          <li key={other.id}>
            <FactLink id={other.id} title={other.title} />
          </li>
        ))}
      </ul>
      <p>
        <a href={href("conflicts")}>Decide between them</a>
      </p>
    </Part>
  );
}

const ROLES: Record<string, string> = { user: "you said it", agent: "the agent said it" };

function Evidence({ data }: { data: FactDetail }): JSX.Element | null {
  const { record } = data;
  const sources = record.sources ?? [];
  const confirmed = record.unconfirmed ? null : record.confirmed;
  if (sources.length === 0 && !confirmed && !data.statements?.length) {
    return null;
  }
  return (
    <Part title="Seen in">
      <ul class="plain-list">
        {sources.map((source, n) => (
          <li key={n}>
            <SourceLine source={source} />
          </li>
        ))}
        {(data.statements ?? []).map((said, n) => (
          <li key={`said${n}`}>
            <span class="mark loud">said to be {plain(said.what)}</span> in <a href={href("sessions", said.session)}>session {short(said.session)}</a>, {age(said.at)}
            {said.quote ? <q class="quote">{plain(said.quote)}</q> : null}
          </li>
        ))}
        {data.successor ? (
          <li>
            its place takes <FactLink id={data.successor.id} title={data.successor.title} />
            {data.successor.body ? <q class="quote">{plain(data.successor.body)}</q> : null}
          </li>
        ) : null}
        {confirmed?.by ? (
          <li>
            confirmed by {plain(confirmed.by.split(" <")[0])}
            {confirmed.at ? (
              <>
                , <Age at={confirmed.at} />
              </>
            ) : null}
          </li>
        ) : null}
      </ul>
    </Part>
  );
}

function SourceLine({ source }: { source: Source }): JSX.Element {
  const said = ROLES[source.role ?? ""] ?? (source.role ? plain(source.role) : "");
  const lines = source.lines?.length ? `line ${source.lines[0]}` : "";
  const more = [plain(source.program ?? ""), said, lines, source.at ? age(source.at) : ""].filter(Boolean).join(", ");
  return (
    <>
      {source.session ? <a href={href("sessions", source.session)}>session {short(source.session)}</a> : plain(source.in ?? "somewhere")}
      {more ? `, ${more}` : ""}
      {source.commit ? (
        <>
          {" "}
          · commit <code>{plain(source.commit).slice(0, 8)}</code>
        </>
      ) : null}
      {source.quote ? <q class="quote">{plain(source.quote)}</q> : null}
    </>
  );
}

function CodeNow({ data }: { data: FactDetail }): JSX.Element | null {
  const code = data.code ?? [];
  const anchors = snapshot ? (data.record.anchors ?? []) : [];
  if (code.length === 0 && anchors.length === 0) {
    return null;
  }
  return (
    <Part title="Code now">
      {anchors.map((anchor, n) => (
        <p key={n}>
          <code>
            {plain(anchor.path)}
            {anchor.lines?.[0] ? `:${anchor.lines[0]}` : ""}
          </code>
        </p>
      ))}
      {code.map(({ path, first_line, lines, place }, n) => (
        <figure key={n}>
          <figcaption>
            <a href={href("facts", "", { file: path })}>
              {plain(path)}
              {place.line ? `:${place.line}` : ""}
            </a>
            {place.stale ? <span class="mark loud">its code has changed</span> : null}
          </figcaption>
          {lines.length > 0 && first_line !== null ? (
            <pre class="code" tabIndex={0} aria-label={`Lines of ${lineOf(path)}`}>
              {lines.map((text, row) => {
                const number = first_line + row;
                const isMeant = place.line !== null && number >= place.line && number <= (place.end_line ?? place.line);
                return (
                  <span key={row} class={isMeant ? "meant" : ""}>
                    <span class="line-number">{number}</span>
                    {plain(text) || " "}
                  </span>
                );
              })}
            </pre>
          ) : null}
        </figure>
      ))}
    </Part>
  );
}

function ScoreNow({ data }: { data: FactDetail }): JSX.Element | null {
  const { record } = data;
  const { decay } = record;
  if (!decay || record.effective_score === undefined) {
    return null;
  }
  const start = decay.importance + decay.bonus;
  const halfLife = decay.half_life_hours;
  return (
    <Part title="Score">
      <p>
        <strong class="numbers">{record.effective_score.toFixed(1)}</strong> of {start.toFixed(1)}
        {halfLife ? `, half-life ${halfLife >= 48 ? `${Math.round(halfLife / 24)} days of work` : `${Math.round(halfLife)} hours of work`}` : ", does not decay"}
        {record.access_count ? `, read ${record.access_count === 1 ? "once" : `${record.access_count} times`}` : ""}
        {record.decayed ? ", decayed: agents do not receive it any more" : ""}
      </p>
      <DecayCurve start={start} rate={decay.rate} hours={decay.decay_hours} halfLife={halfLife} />
    </Part>
  );
}

function History({ data }: { data: FactDetail }): JSX.Element | null {
  if (data.steps.length === 0) {
    return null;
  }
  return (
    <Part title="History">
      <ol class="history">
        {data.steps.map((step) => (
          <li key={step.commit + step.store}>
            <details>
              <summary>
                <span title={whole(step.at)}>{step.at.slice(0, 10)}</span> {plain(step.operation ?? "changed")} <span class="quiet">by {plain(step.author)}{step.session ? `, session ${short(step.session)}` : ""}{step.store === "private" ? ", private" : ""}</span>
              </summary>
              {step.diff.length > 0 ? (
                <pre class="diff" tabIndex={0} aria-label="What changed">
                  {step.diff.map((text, n) => (
                    <span key={n} class={text[0] === "+" ? "added" : text[0] === "-" ? "removed" : "quiet"}>
                      {plain(text)}
                      {"\n"}
                    </span>
                  ))}
                </pre>
              ) : (
                <p class="quiet">{plain(step.subject)}</p>
              )}
            </details>
          </li>
        ))}
      </ol>
    </Part>
  );
}
