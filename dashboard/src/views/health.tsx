// How healthy the memory is, what moves that, and what to do.

import type { JSX } from "preact";

import { useData } from "../api";
import { Bar as Share, HealthChart } from "../chart";
import { href } from "../router";
import { Bar } from "../split";
import { number, plain, plural } from "../text";
import type { Health as HealthData } from "../types";
import { Empty, Failed, FactLink, Loading, Section } from "../ui";

const LABELS: Record<string, string> = {
  unread: "not read for 7 days",
  duplicates: "said twice",
  age: "mean age in days",
  low: "with a low score",
  pinned: "pinned",
  links: "links",
};

function signed(points: number): string {
  return Math.abs(points) < 0.05 ? "0" : `${points > 0 ? "+" : "−"}${Math.abs(points).toFixed(1)}`;
}

export function Health(): JSX.Element {
  const { data, failure } = useData<HealthData>("health");
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  const { metrics } = data;
  return (
    <div class="page" tabIndex={0} aria-label="Health">
      <Bar title="Health" count={`of ${number(data.fact_count)} shared facts`} />
      {data.fact_count === 0 ? <Empty command='git mem add "title"'>There are no shared facts yet.</Empty> : null}
      <section class="section health-now">
        <p>
          <strong class="big">{Math.round(data.health)}</strong> <span class={data.level === "healthy" ? "level" : "level loud"}>{plain(data.level)}</span>
        </p>
        {data.advice ? <p>{plain(data.advice)}</p> : null}
        {data.states.length > 1 ? <HealthChart states={data.states} /> : null}
      </section>
      <Section title="What moves it">
        <table class="small">
          <thead>
            <tr>
              <th scope="col">Term</th>
              <th scope="col" class="numbers">
                Number
              </th>
              <th scope="col" class="numbers">
                Points
              </th>
            </tr>
          </thead>
          <tbody>
            {data.terms.map((term) => (
              <tr key={term.term}>
                <td>{LABELS[term.term] ?? term.term}</td>
                <td class="numbers">{term.number.toLocaleString("en-US", { maximumFractionDigits: 1 })}</td>
                <td class="numbers">{signed(term.points)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      {metrics ? <Metrics metrics={metrics} /> : null}
    </div>
  );
}

function Metrics({ metrics }: { metrics: NonNullable<HealthData["metrics"]> }): JSX.Element {
  return (
    <>
      <Section title="Use">
        <p>
          {number(metrics.injected_count)} facts were given to agents, {number(metrics.used_count)} of them were read or used. On average {Math.round(metrics.mean_decay * 100)} % of their importance is left.
        </p>
      </Section>
      <Section title="Coverage gaps" note="commits in 90 days and no new fact">
        {metrics.gaps.length === 0 ? <p class="quiet">None: where the code changed, something was noted.</p> : null}
        <ul class="plain-list">
          {metrics.gaps.map((gap) => (
            <li key={gap.path}>
              {plain(gap.path)}/ <span class="quiet">{number(gap.commit_count)} commits</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Most linked">
        {metrics.most_linked_facts.length === 0 ? <p class="quiet">No fact is linked with another.</p> : null}
        <ul class="plain-list">
          {metrics.most_linked_facts.map((fact) => (
            <li key={fact.id}>
              <FactLink id={fact.id} title={fact.title} /> <span class="quiet">{plural(fact.link_count, "link")}</span>
            </li>
          ))}
        </ul>
      </Section>
      <div class="side-by-side">
        {Object.entries(metrics.totals).map(([name, counts]) => (
          <Counts key={name} name={name} counts={counts} />
        ))}
      </div>
    </>
  );
}

function Counts({ name, counts }: { name: string; counts: Record<string, number> }): JSX.Element {
  const rows = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...Object.values(counts));
  return (
    <Section title={`By ${name}`}>
      <table class="small">
        <tbody>
          {rows.slice(0, 20).map(([key, count]) => (
            <tr key={key}>
              <th scope="row">{name === "type" ? <a href={href("facts", "", { type: key })}>{plain(key)}</a> : plain(key)}</th>
              <td class="numbers">{number(count)}</td>
              <td class="bar-cell">
                <Share value={count} most={most} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
