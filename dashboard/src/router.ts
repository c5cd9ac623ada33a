// The address: `#/view/id?filter=value`. All that a view shows is in it, so that it can be shared.

import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

export interface Route {
  view: string;
  id: string;
  query: Record<string, string>;
}

export function parse(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  const query = Object.fromEntries(new URLSearchParams(search));
  return { view: view || "today", id: decoded(rest.join("/")), query };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

export function href(view: string, id = "", query: Record<string, string | undefined> = {}): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]));
  const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
  return `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${search}`;
}

/** Go to an address; `replaces` leaves no step in the history of the browser. */
export function go(to: string, replaces = false): void {
  if (replaces || to === location.hash) {
    history.replaceState(null, "", to);
  } else {
    history.pushState(null, "", to);
  }
  dispatchEvent(new HashChangeEvent("hashchange"));
}

function follow(event: MouseEvent): void {
  const link = (event.target as Element | null)?.closest('a[href^="#/"]');
  if (link && !event.defaultPrevented && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    go(link.getAttribute("href") ?? "");
  }
}

addEventListener("click", follow);

/** Return the route of the address; a change is on the page before the next key or click. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const update = (): void => renderNow(() => setRoute(parse(location.hash)));
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
}

/** Change a state and render at once: a key pressed meanwhile would mean the view before. */
function renderNow(change: () => void): void {
  const before = options.debounceRendering;
  options.debounceRendering = (render) => render();
  try {
    change();
  } finally {
    if (before) {
      options.debounceRendering = before;
    } else {
      delete options.debounceRendering;
    }
  }
}

/** Return the address of a route with some of its filters changed. */
export function withQuery(route: Route, changes: Record<string, string | undefined>): string {
  return href(route.view, route.id, { ...route.query, ...changes });
}
