// The supersedes chain and the links of a fact, as a small picture with a list beside it.

import type { JSX } from "preact";

import { href } from "./router";
import type { FactDetail } from "./types";
import { FactLink } from "./ui";
import { lineOf, short } from "./text";

const MOST = 24;
const WIDTH = 176;
const ROW = 30;
const LETTERS = 20; // of a title that fit

type Graph = NonNullable<FactDetail["graph"]>;

/** Return in which column a fact stands: what it replaced to the left, what replaced it right. */
function columnsOf(graph: Graph, id: string): Map<string, number> {
  const place = new Map([[id, 0]]);
  for (let round = 0; round < 6; round += 1) {
    for (const edge of graph.edges) {
      const by = edge.relation === "supersedes" ? -1 : 0;
      const source = place.get(edge.source);
      const target = place.get(edge.target);
      if (source !== undefined && target === undefined && place.size < MOST) {
        place.set(edge.target, source + by);
      } else if (target !== undefined && source === undefined && place.size < MOST) {
        place.set(edge.source, target - by);
      }
    }
  }
  return place;
}

function cut(text: string): string {
  return text.length > LETTERS ? `${text.slice(0, LETTERS - 1)}…` : text;
}

export function Relations({ graph, id }: { graph: Graph; id: string }): JSX.Element | null {
  if (graph.edges.length === 0) {
    return null;
  }
  const titles = new Map(graph.nodes.map((node) => [node.id, node.title ?? null]));
  const place = columnsOf(graph, id);
  const least = Math.min(...place.values());
  const filled = new Map<number, number>();
  const at = new Map<string, [number, number]>();
  for (const [name, column] of place) {
    const row = filled.get(column) ?? 0;
    filled.set(column, row + 1);
    at.set(name, [(column - least) * WIDTH + 4, row * ROW + 4]);
  }
  const width = (Math.max(...place.values()) - least + 1) * WIDTH;
  const height = Math.max(...filled.values()) * ROW + 8;
  return (
    <>
      <svg class="graph" viewBox={`0 0 ${width} ${height}`} style={{ width: `${width}px` }} role="img" aria-label="Relations of this fact; the list below says the same">
        {graph.edges.map((edge) => {
          const from = at.get(edge.target);
          const to = at.get(edge.source);
          if (!from || !to) {
            return null;
          }
          const isAcross = from[0] !== to[0];
          const points = isAcross
            ? [from[0] + WIDTH - 32, from[1] + 11, to[0], to[1] + 11]
            : [from[0] + 12, from[1] + 22, to[0] + 12, to[1]];
          return <line key={`${edge.source}${edge.relation}${edge.target}`} class={edge.relation} x1={points[0]} y1={points[1]} x2={points[2]} y2={points[3]} />;
        })}
        {[...at].map(([name, [left, top]]) => (
          <g key={name} class={name === id ? "node here" : "node"} transform={`translate(${left} ${top})`}>
            <rect width={WIDTH - 32} height="22" rx="3" />
            <text x="8" y="15">
              {cut(lineOf(titles.get(name) ?? short(name)))}
            </text>
          </g>
        ))}
      </svg>
      <ul class="plain-list">
        {graph.edges.map((edge) => {
          const isSource = edge.source === id;
          const other = isSource ? edge.target : edge.source;
          const verb = edge.relation === "supersedes" ? (isSource ? "takes the place of" : "gave its place to") : "is linked with";
          if (edge.source !== id && edge.target !== id) {
            return null;
          }
          return (
            <li key={`${edge.source}${edge.relation}${edge.target}`}>
              <span class="quiet">{verb}</span> {titles.get(other) ? <FactLink id={other} title={titles.get(other)} /> : <a href={href("fact", other)}>{short(other)}</a>}
              {edge.created ? <span class="quiet"> {edge.created.slice(0, 10)}</span> : null}
            </li>
          );
        })}
      </ul>
    </>
  );
}
