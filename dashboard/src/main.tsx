// The page of git mem dashboard.

import { render, type JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { notify, onNotice, undo, type Notice } from "./actions";
import { listen, snapshot, takeToken, useData } from "./api";
import { useKeys } from "./keys";
import { go, href, type Route, useRoute } from "./router";
import "./style.css";
import { age, lineOf, number, plain, plural, whole } from "./text";
import type { About } from "./types";
import { Failed } from "./ui";
import { Code } from "./views/code";
import { Conflicts } from "./views/conflicts";
import { Detail } from "./views/detail";
import { Facts } from "./views/facts";
import { Health } from "./views/health";
import { Inbox } from "./views/inbox";
import { Sessions } from "./views/sessions";
import { Timeline } from "./views/timeline";
import { Today } from "./views/today";

const PLACES: [string, string, string][] = [
  ["today", "Today", "t"],
  ["inbox", "Inbox", "i"],
  ["facts", "Facts", "f"],
  ["conflicts", "Conflicts", "c"],
  ["timeline", "Timeline", "l"],
  ["code", "Code", "o"],
  ["sessions", "Sessions", "s"],
  ["health", "Health", "h"],
];

const HELP: [string, string][] = [
  ["/", "search"],
  ["j k", "next, previous"],
  ["Enter", "open on a page of its own"],
  ["Esc", "close"],
  ["a r", "accept, reject"],
  ["e p f", "edit, pin, forget"],
  ["n o b d v", "conflicts: newer, older, both, forget, it holds"],
  ["u", "undo your last change on this page"],
  ...PLACES.map(([, title, key]): [string, string] => [`g ${key}`, title]),
  ["?", "these keys"],
];

function App(): JSX.Element {
  const route = useRoute();
  const { data: about, failure } = useData<About>("about");
  const [notice, setNotice] = useState<Notice | null>(null);
  const [isConnected, setConnected] = useState(true);
  const [hasHelp, setHelp] = useState(false);
  const search = useRef<HTMLInputElement>(null);
  const canChange = Boolean(about && !about.is_read_only && about.is_person && !snapshot);

  useEffect(() => {
    onNotice(setNotice);
    void listen(setConnected);
  }, []);
  useEffect(() => {
    const title = PLACES.find(([view]) => view === route.view)?.[1] ?? "Fact";
    document.title = `${title} · ${plain(about?.project ?? "git mem")}`;
  }, [route.view, about?.project]);
  useEffect(() => {
    if (!notice || notice.isFailure) {
      return undefined;
    }
    const timer = setTimeout(() => setNotice(null), 12000);
    return () => clearTimeout(timer);
  }, [notice]);
  const places = Object.fromEntries(PLACES.map(([view, , key]) => [`g ${key}`, () => go(href(view))]));
  const keys = { "/": () => search.current?.focus(), "?": () => setHelp(true), Escape: () => setNotice(null), ...places };
  useKeys(canChange ? { ...keys, u: () => void undo() } : keys, true);
  return (
    <div class="app">
      <a class="skip" href="#main" onClick={(event) => skip(event)}>
        Skip to the content
      </a>
      <Header about={about} route={route} isConnected={isConnected} search={search} showHelp={() => setHelp(true)} />
      <nav aria-label="Views">
        {PLACES.map(([view, title, key]) => (
          <a key={view} href={href(view)} aria-current={route.view === view ? "page" : undefined} title={`g ${key}`}>
            <span>{title}</span>
            <Count view={view} about={about} />
          </a>
        ))}
      </nav>
      <main id="main" tabIndex={-1}>
        {failure ? <Failed failure={failure} /> : null}
        {failure && !about ? null : <View route={route} about={about} canChange={canChange} />}
      </main>
      <div class="notice-place" role="status" aria-live="polite">
        {notice ? (
          <div class={notice.isFailure ? "notice failure" : "notice"}>
            <span>
              {plain(notice.text)} {notice.hint ? <span class="quiet">{plain(notice.hint)}</span> : null}
            </span>
            {notice.command ? (
              <button type="button" onClick={() => void undo(notice.command ?? undefined)}>
                Undo
              </button>
            ) : null}
            <button type="button" onClick={() => notify(null)}>
              Close
            </button>
          </div>
        ) : null}
      </div>
      {hasHelp ? <Help onClose={() => setHelp(false)} /> : null}
    </div>
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

/** Return how many facts there are; many as long as nobody knows. */
function factCount(about: About | null): number {
  const stores = Object.values(about?.stores ?? {});
  return about ? stores.reduce((sum, store) => sum + (store.record_counts.memory ?? 0) + (store.record_counts.gotcha ?? 0), 0) : Infinity;
}

function Count({ view, about }: { view: string; about: About | null }): JSX.Element | null {
  if (!about) {
    return null;
  }
  const counts: Record<string, number | undefined> = { inbox: about.inbox_count, facts: factCount(about), conflicts: about.contradiction_count + about.conflict_count };
  const count = counts[view];
  return count ? <span class="count">{number(count)}</span> : null;
}

interface HeaderProps {
  about: About | null;
  route: Route;
  isConnected: boolean;
  search: preact.RefObject<HTMLInputElement>;
  showHelp: () => void;
}

function Header({ about, route, isConnected, search, showHelp }: HeaderProps): JSX.Element {
  const [text, setText] = useState(route.query.q ?? "");
  const timer = useRef(0);
  useEffect(() => {
    if (route.view === "facts") {
      setText(route.query.q ?? "");
    }
  }, [route.view, route.query.q]);
  const find = (q: string): void => {
    const others = route.view === "facts" ? { ...route.query, id: undefined } : {};
    go(href("facts", "", { ...others, q }), route.view === "facts");
  };
  return (
    <header>
      <p class="project">
        <span class="quiet">git mem</span> <strong>{plain(about?.project ?? "")}</strong>
      </p>
      <form
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          find(text);
        }}
      >
        <input
          ref={search}
          type="search"
          aria-label="Search facts"
          placeholder="Search facts"
          value={text}
          onInput={(event) => {
            const q = event.currentTarget.value;
            setText(q);
            clearTimeout(timer.current);
            timer.current = window.setTimeout(() => find(q), 120);
          }}
          onKeyDown={(event) => {
            if (event.key === "Escape" || event.key === "Enter") {
              event.currentTarget.blur();
            }
          }}
        />
        <kbd aria-hidden="true">/</kbd>
      </form>
      <p class="state">
        {isConnected ? null : <span class="mark loud">not connected</span>}
        {snapshot ? <span title={whole(snapshot.at)}>as of {age(snapshot.at)} ago</span> : null}
        {about?.is_read_only && !snapshot ? <span>read only</span> : null}
        {about && !about.is_person ? <span>of an agent: read only</span> : null}
        {about ? <Sync about={about} /> : null}
        <button type="button" class="help" onClick={showHelp} aria-label="Keys">
          ?
        </button>
      </p>
    </header>
  );
}

function Sync({ about }: { about: About }): JSX.Element {
  const remote = about.enabled_remote;
  if (!remote.name) {
    return <span class="quiet">not shared</span>;
  }
  return <span class="quiet">{remote.unpushed_count > 0 ? `${plural(remote.unpushed_count, "commit")} not pushed to ${lineOf(remote.name)}` : `in step with ${lineOf(remote.name)}`}</span>;
}

function View({ route, about, canChange }: { route: Route; about: About | null; canChange: boolean }): JSX.Element {
  switch (route.view) {
    case "today":
      return <Today route={route} about={about} canChange={canChange} />;
    case "facts":
      return <Facts route={route} canChange={canChange} />;
    case "fact":
      return (
        <div class="page single" tabIndex={0} aria-label="Fact">
          <Detail id={route.id} canChange={canChange} />
        </div>
      );
    case "inbox":
      return <Inbox route={route} canChange={canChange} />;
    case "conflicts":
      return <Conflicts route={route} factCount={factCount(about)} state={JSON.stringify(about?.stores)} canChange={canChange} />;
    case "timeline":
      return <Timeline route={route} canChange={canChange} />;
    case "code":
      return <Code route={route} />;
    case "sessions":
      return <Sessions route={route} canChange={canChange} />;
    case "health":
      return <Health />;
    default:
      return <Failed failure={{ message: "There is no such view.", hint: "Choose one on the left." }} />;
  }
}

function Help({ onClose }: { onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-label="Keys">
      <h2>Keys</h2>
      <dl>
        {HELP.map(([keys, meaning]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button class="action">Close</button>
      </form>
    </dialog>
  );
}

takeToken();
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#token=")) {
    takeToken(); // of another run of the server
    location.reload();
  }
});
const place = document.getElementById("app");
if (place) {
  render(<App />, place);
}
