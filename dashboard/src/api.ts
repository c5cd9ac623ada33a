// The server, or the data of a page in one file; who reads is told when something changed.

import { useEffect, useState } from "preact/hooks";

import type { Fact } from "./types";

export interface Failure {
  message: string;
  hint: string;
  /** Whether there is no such thing, or no longer. */
  isGone?: boolean;
  /** Whether a record is not as it was shown any more. */
  isChanged?: boolean;
}

interface Snapshot {
  at: string;
  views: Record<string, unknown>;
  facts: Record<string, unknown>;
}

const TOKEN = "gitmem-token";
const embedded = document.getElementById("data")?.textContent;
/** What a page in one file has; null where there is a server. */
export const snapshot: Snapshot | null = embedded ? (JSON.parse(embedded) as Snapshot) : null;

let token = "";
try {
  token = sessionStorage.getItem(TOKEN) ?? "";
} catch {
  // storage is forbidden: the token lasts as long as the page
}

/** Take the token out of the address, so that it is not copied along with a view. */
export function takeToken(): void {
  const given = /^#token=([\w-]+)(.*)$/.exec(location.hash);
  if (!given) {
    return;
  }
  token = given[1] ?? "";
  try {
    sessionStorage.setItem(TOKEN, token);
  } catch {
    // as above
  }
  history.replaceState(null, "", `#${given[2] || "/today"}`);
}

async function send(path: string, init: RequestInit & { headers?: Record<string, string> } = {}): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(`/api/${path}`, { ...init, headers: { ...init.headers, Authorization: `Bearer ${token}` } });
  } catch {
    throw { message: "The server does not answer.", hint: "Start it again: git mem dashboard" } satisfies Failure;
  }
  const body = (await response.json().catch(() => null)) as { error?: Failure } | null;
  if (!response.ok) {
    const failure = body?.error ?? { message: `The server answered with ${response.status}.`, hint: "Reload the page." };
    throw { ...failure, isGone: response.status === 404, isChanged: response.status === 409 } satisfies Failure;
  }
  return body;
}

/** Return what the server answers. Throws a Failure. */
export async function read(path: string, isRefresh = false): Promise<unknown> {
  if (snapshot) {
    return fromSnapshot(path);
  }
  return send(path, isRefresh ? { headers: { "X-Gitmem-Refresh": "1" } } : {});
}

function fromSnapshot(path: string): unknown {
  const [name = "", id] = (path.split("?")[0] ?? "").split("/");
  const data = id === undefined ? snapshot?.views[name] : name === "facts" ? snapshot?.facts[decodeURIComponent(id)] : undefined;
  if (data === undefined) {
    throw { message: "This is not in the file.", hint: "With a server it is there: git mem dashboard" } satisfies Failure;
  }
  return data;
}

export interface Done {
  message: string;
  /** What an undo names; null where nothing can be taken back. */
  command: string | null;
  data: unknown;
}

/** Have the server do something; who calls this refreshes the page. Throws a Failure. */
export async function act(action: string, given: Record<string, unknown> = {}): Promise<Done> {
  return (await send("do", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ...given, action }),
  })) as Done;
}

// -- what is on the page

const listeners = new Set<() => void>();
const cache = new Map<string, unknown>();
const KEPT = 60;

/** Read again what the page shows. */
export function refresh(): void {
  for (const listener of listeners) {
    listener();
  }
}

export interface Loaded<T> {
  data: T | null;
  failure: Failure | null;
}

/** Return what is at a path, read again when something changed; null for no path reads nothing. */
export function useData<T>(path: string | null): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path: string | null }>({ data: null, failure: null, path: null });
  useEffect(() => {
    if (path === null) {
      return undefined;
    }
    let isCurrent = true;
    let isAsking = false;
    let asksAgain = false;
    const load = async (isRefresh: boolean): Promise<void> => {
      if (isAsking) {
        asksAgain = true;
        return;
      }
      isAsking = true;
      try {
        const data = (await read(path, isRefresh)) as T;
        keep(path, data);
        if (isCurrent) {
          setState({ data, failure: null, path });
        }
      } catch (failure) {
        if (isCurrent) {
          const { isGone } = failure as Failure;
          setState((before) => ({ data: before.path === path && !isGone ? before.data : null, failure: failure as Failure, path }));
        }
      }
      isAsking = false;
      if (asksAgain && isCurrent) {
        asksAgain = false;
        void load(true);
      }
    };
    const again = (): void => void load(true);
    void load(false);
    listeners.add(again);
    return () => {
      isCurrent = false;
      listeners.delete(again);
    };
  }, [path]);
  if (path !== null && state.path !== path) {
    return { data: (cache.get(path) as T | undefined) ?? null, failure: null };
  }
  return path === null ? { data: null, failure: null } : state;
}

function keep(path: string, data: unknown): void {
  cache.delete(path);
  cache.set(path, data);
  for (const name of cache.keys()) {
    if (cache.size <= KEPT) {
      break;
    }
    cache.delete(name);
  }
}

let asRows: { from: unknown; facts: Fact[] } | null = null;

/** Return facts from the rows that the server sends. */
export function factsOf(table: { columns: string[]; rows: unknown[][] }): Fact[] {
  if (asRows?.from !== table) {
    const facts = table.rows.map((row) => {
      const fact = Object.fromEntries(table.columns.map((name, n) => [name, row[n]])) as unknown as Fact;
      fact.words = `${fact.title} ${fact.tags.join(" ")} ${fact.id}`.toLowerCase();
      return fact;
    });
    asRows = { from: table, facts };
  }
  return asRows.facts;
}

// -- changes made elsewhere

/** Listen to the server for as long as the page is open; tell whether it answers. */
export async function listen(tell: (isConnected: boolean) => void): Promise<void> {
  if (snapshot) {
    return;
  }
  for (let wait = 500; ; wait = Math.min(wait * 2, 8000)) {
    try {
      const response = await fetch("/api/events", { headers: { Authorization: `Bearer ${token}` } });
      if (response.status === 401) {
        tell(false);
        return;
      }
      if (response.ok && response.body) {
        tell(true);
        wait = 500;
        await follow(response.body.getReader());
      }
    } catch {
      // the server is gone, or the machine slept
    }
    tell(false);
    await new Promise((done) => setTimeout(done, wait));
  }
}

async function follow(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    text += decoder.decode(value, { stream: true });
    const events = text.split("\n\n");
    text = events.pop() ?? "";
    if (events.some((event) => event.startsWith("event: change"))) {
      refresh();
    }
  }
}
