// Gotchas over the tree of the code: one rectangle for each part of a folder.

import type { JSX } from "preact";

import { lineOf, plain } from "./text";

const WIDTH = 900;
const HEIGHT = 120;
const MOST = 40;

/** Return the parts of a folder with how many gotchas are below each. */
function partsOf(files: [string, number][], folder: string): [string, number][] {
  const parts = new Map<string, number>();
  const inner = folder ? `${folder}/` : "";
  for (const [path, count] of files) {
    const rest = path.startsWith(inner) ? path.slice(inner.length) : path;
    const name = inner + (rest.split("/")[0] ?? rest);
    parts.set(name, (parts.get(name) ?? 0) + count);
  }
  return [...parts].sort((a, b) => b[1] - a[1]).slice(0, MOST);
}

interface Area {
  path: string;
  count: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Cut a rectangle into two again and again, each as large as what is in it. */
function laidOut(parts: [string, number][], x: number, y: number, width: number, height: number): Area[] {
  if (parts.length === 0) {
    return [];
  }
  if (parts.length === 1) {
    const [path, count] = parts[0] as [string, number];
    return [{ path, count, x, y, width, height }];
  }
  const total = parts.reduce((sum, [, count]) => sum + count, 0);
  let sum = 0;
  let cut = 0;
  while (cut < parts.length - 1 && (cut === 0 || sum + (parts[cut]?.[1] ?? 0) <= total / 2)) {
    sum += parts[cut]?.[1] ?? 0;
    cut += 1;
  }
  const share = sum / total;
  const [one, two] = [parts.slice(0, cut), parts.slice(cut)];
  return width > height
    ? [...laidOut(one, x, y, width * share, height), ...laidOut(two, x + width * share, y, width * (1 - share), height)]
    : [...laidOut(one, x, y, width, height * share), ...laidOut(two, x, y + height * share, width, height * (1 - share))];
}

export function Treemap({ files, folder, onOpen }: { files: [string, number][]; folder: string; onOpen: (path: string) => void }): JSX.Element | null {
  const parts = partsOf(files, folder);
  if (parts.length < 2) {
    return null;
  }
  return (
    <svg class="treemap" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="Gotchas by folder; the list below says the same">
      {laidOut(parts, 0, 0, WIDTH, HEIGHT).map((area) => (
        <g key={area.path} onClick={() => onOpen(area.path)}>
          <title>{`${plain(area.path)}: ${area.count}`}</title>
          <rect x={area.x + 1} y={area.y + 1} width={Math.max(0, area.width - 2)} height={Math.max(0, area.height - 2)} />
          {area.width > 70 && area.height > 18 ? (
            <text x={area.x + 7} y={area.y + 16}>
              {`${lineOf(area.path.split("/").at(-1) ?? "").slice(0, Math.floor(area.width / 8))} ${area.count}`}
            </text>
          ) : null}
        </g>
      ))}
    </svg>
  );
}
