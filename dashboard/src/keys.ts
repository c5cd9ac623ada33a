// Keys: one table for each part of the page that is shown; the last one shown answers first.

import { useLayoutEffect, useRef } from "preact/hooks";

export type Keys = Record<string, () => void>;

const tables: { current: Keys }[] = [];
let leader = "";
let leaderAt = 0;

/** Return whether a key is meant for a field, not for the page. */
function isTyping(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  return Boolean(target?.closest("input, textarea, select, dialog"));
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event)) {
    return;
  }
  const isSecond = leader && Date.now() - leaderAt < 1500;
  const key = isSecond ? `${leader} ${event.key}` : event.key;
  leader = "";
  if (event.key === "g" && !isSecond) {
    leader = "g";
    leaderAt = Date.now();
    return;
  }
  // Enter and space press what has the focus
  const target = event.target as HTMLElement | null;
  if ((key === "Enter" || key === " ") && target?.closest("a, button, summary")) {
    return;
  }
  for (const table of [...tables].reverse()) {
    const action = table.current[key];
    if (action) {
      event.preventDefault();
      action();
      return;
    }
  }
}

addEventListener("keydown", pressed);

/** Have keys do something as long as a part of the page is shown; those of the frame come last. */
export function useKeys(keys: Keys, isFrame = false): void {
  const table = useRef(keys);
  table.current = keys;
  useLayoutEffect(() => {
    if (isFrame) {
      tables.unshift(table);
    } else {
      tables.push(table);
    }
    return () => {
      tables.splice(tables.indexOf(table), 1);
    };
  }, []);
}
