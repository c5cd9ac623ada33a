// A list of any length: rows of one height, of which those in sight are made.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

import { useKeys } from "./keys";

export interface Column {
  name: string;
  title: string;
  /** Whether a click on its head orders by it. */
  sorts?: boolean;
}

interface Props<T> {
  label: string;
  rows: T[];
  keyOf: (row: T) => string;
  columns: Column[];
  cells: (row: T) => ComponentChildren[];
  selected: string;
  onSelect: (key: string) => void;
  onOpen?: (key: string) => void;
  sort?: string;
  onSort?: (name: string) => void;
  /** Class of the grid that gives the widths of its columns. */
  kind: string;
  empty?: ComponentChildren;
  rowClass?: (row: T) => string;
}

const AROUND = 8; // rows beyond those in sight

/** Return the height of a row, in pixels: more for fingers. */
function rowHeight(): number {
  return matchMedia("(max-width: 700px)").matches ? 44 : 32;
}

export function List<T>(props: Props<T>): JSX.Element {
  const { rows, keyOf, selected } = props;
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  const size = rowHeight();
  const at = rows.findIndex((row) => keyOf(row) === selected);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) {
      return undefined;
    }
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current;
    if (!element || at < 0) {
      return;
    }
    if (at * size < element.scrollTop) {
      element.scrollTop = at * size;
    } else if ((at + 2) * size > element.scrollTop + element.clientHeight) {
      element.scrollTop = (at + 2) * size - element.clientHeight;
    }
  }, [at, size]);

  const move = (by: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
    if (next !== undefined) {
      props.onSelect(keyOf(next));
    }
  };
  const page = Math.max(1, Math.floor(height / size) - 2);
  const open = (): void => {
    if (selected) {
      (props.onOpen ?? props.onSelect)(selected);
    }
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    PageDown: () => move(page),
    PageUp: () => move(-page),
    Home: () => move(-rows.length),
    End: () => move(rows.length),
    Enter: open,
  });

  const first = Math.max(0, Math.floor(top / size) - AROUND);
  const shown = rows.slice(first, Math.ceil((top + height) / size) + AROUND);
  const rowId = (n: number): string => `row-${props.kind}-${n}`;
  return (
    <div
      class={`grid ${props.kind}`}
      role="grid"
      aria-label={props.label}
      aria-rowcount={rows.length + 1}
      aria-activedescendant={at >= first && at < first + shown.length ? rowId(at) : undefined}
      tabIndex={0}
      ref={box}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="grid-head" role="row" aria-rowindex={1}>
        {props.columns.map((column) => (
          <Head key={column.name} column={column} sort={props.sort} onSort={props.onSort} />
        ))}
      </div>
      {rows.length === 0 ? (
        <div role="row" class="none" aria-rowindex={2}>
          <div role="gridcell">{props.empty ?? "Nothing fits."}</div>
        </div>
      ) : null}
      <div class="grid-rows" role="rowgroup" style={{ height: `${rows.length * size}px` }}>
        {shown.map((row, n) => {
          const index = first + n;
          const key = keyOf(row);
          return (
            <div
              key={key}
              id={rowId(index)}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={key === selected}
              class={`row ${props.rowClass?.(row) ?? ""}`}
              style={{ top: `${index * size}px`, height: `${size}px` }}
              onClick={() => props.onSelect(key)}
            >
              {props.cells(row).map((cell, place) => (
                <div role="gridcell" class={`cell ${props.columns[place]?.name ?? ""}`} key={place}>
                  {cell}
                </div>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Head({ column, sort, onSort }: { column: Column; sort: string | undefined; onSort: ((name: string) => void) | undefined }): JSX.Element {
  const isDown = sort === column.name;
  const isUp = sort === `-${column.name}`;
  const order = isDown ? "descending" : isUp ? "ascending" : "none";
  return (
    <div role="columnheader" class={`cell ${column.name}`} aria-sort={column.sorts ? order : undefined}>
      {column.sorts && onSort ? (
        <button type="button" tabIndex={-1} onClick={() => onSort(isDown ? `-${column.name}` : column.name)}>
          {column.title}
          {isDown ? " ↓" : isUp ? " ↑" : ""}
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}
