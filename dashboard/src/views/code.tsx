// What goes wrong in which part of the code, what changes most, and who changes the same.

import type { JSX } from "preact";
import { useMemo } from "preact/hooks";

import { factsOf, useData } from "../api";
import { Bar as Share } from "../chart";
import { go, href, type Route } from "../router";
import { Bar } from "../split";
import { lineOf, number, plain, plural } from "../text";
import type { Code as CodeData, Fact } from "../types";
import { Empty, Failed, FactLink, Kind, Loading, Section } from "../ui";
import { Treemap } from "../treemap";

const SHOWN = 60;

export function Code({ route }: { route: Route }): JSX.Element {
  const { data, failure } = useData<CodeData>("code");
  const table = useData<{ columns: string[]; rows: unknown[][] }>("facts");
  const facts = useMemo(() => (table.data ? factsOf(table.data) : []), [table.data]);
  const files = useMemo(() => gotchasByFile(facts), [facts]);
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data || !table.data) {
    return <Loading />;
  }
  const folder = route.id;
  const below = files.filter(([path]) => !folder || path === folder || path.startsWith(`${folder}/`));
  const hot = data.trends.hot_files;
  const most = Math.max(1, ...hot.map((file) => file.commit_count + file.edit_count));
  return (
    <div class="page" tabIndex={0} aria-label="Code">
      <Bar title="Code" count={folder ? lineOf(folder) : undefined}>
        {folder ? (
          <a class="clear" href={href("code")}>
            Whole project
          </a>
        ) : null}
      </Bar>
      <Section title="Gotchas by file" note={plural(below.length, "file")}>
        {below.length === 0 ? <Empty command="git mem gotcha add 'What goes wrong' --anchor FILE:LINE">Open gotchas would be here, by the file that they are about.</Empty> : null}
        <Treemap files={below.map(([path, list]) => [path, list.length])} folder={folder} onOpen={(path) => go(href("code", path))} />
        <ul class="files">
          {below.slice(0, SHOWN).map(([path, list]) => (
            <li key={path}>
              <details open={below.length < 6}>
                <summary>
                  <span class="path">{plain(path)}</span> <span class="numbers quiet">{number(list.length)}</span>
                </summary>
                <ul class="plain-list">
                  {list.map((fact) => (
                    <li key={fact.id}>
                      <Kind fact={{ ...fact, type: fact.severity }} /> <FactLink id={fact.id} title={fact.title} />
                    </li>
                  ))}
                </ul>
              </details>
            </li>
          ))}
        </ul>
      </Section>
      <Section title="Hot files" note="commits and edits of sessions in 90 days">
        {hot.length === 0 ? <p class="quiet">No file was changed in 90 days.</p> : null}
        <table class="small">
          <thead>
            <tr>
              <th scope="col">File</th>
              <th scope="col" class="numbers">
                Commits
              </th>
              <th scope="col" class="numbers">
                Edits
              </th>
              <th scope="col" class="bar-cell">
                <span class="hidden">Share</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {hot.map((file) => (
              <tr key={file.path}>
                <td>
                  <a href={href("facts", "", { file: file.path })}>{plain(file.path)}</a>
                </td>
                <td class="numbers">{number(file.commit_count)}</td>
                <td class="numbers">{number(file.edit_count)}</td>
                <td class="bar-cell">
                  <Share value={file.commit_count + file.edit_count} most={most} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Section>
      <Section title="Drift" note="branches that change the same code">
        {data.drift.pairs.length === 0 ? <p class="quiet">{data.drift.sides.length < 2 ? "There is only one branch, so there is nothing to compare." : "No two branches change the same code."}</p> : null}
        {data.drift.pairs.slice(0, 20).map((pair) => (
          <details key={`${pair.left} ${pair.right}`} class="pair">
            <summary>
              <span class={pair.level === "critical" || pair.level === "high" ? "kind critical" : "kind"}>{pair.level}</span> {plain(pair.left)} <span class="quiet">and</span> {plain(pair.right)}
            </summary>
            {pair.advice ? <p>{plain(pair.advice)}</p> : null}
            <ul class="plain-list">
              {pair.files.map((file) => (
                <li key={file.path}>
                  {plain(file.path)} <span class="quiet">{file.conflict ? "conflict" : file.level}</span>
                </li>
              ))}
            </ul>
          </details>
        ))}
      </Section>
    </div>
  );
}

function gotchasByFile(facts: Fact[]): [string, Fact[]][] {
  const files = new Map<string, Fact[]>();
  for (const fact of facts) {
    if (fact.kind === "gotcha" && !fact.resolved && (fact.status === "active" || fact.status === "pinned")) {
      for (const path of new Set(fact.paths)) {
        files.set(path, [...(files.get(path) ?? []), fact]);
      }
    }
  }
  return [...files].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
}
