// Facts that contradict each other, and facts that the code refutes.

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

import { notifyFailure, perform } from "../actions";
import { type Failure, read, refresh, snapshot, useData } from "../api";
import { useKeys } from "../keys";
import { go, type Route, withQuery } from "../router";
import { Bar } from "../split";
import { lineOf, number, plain, plural } from "../text";
import type { FactDetail, Finding, Mention } from "../types";
import { Age, Button, Empty, Failed, FactLink, Kind, Loading, Marks } from "../ui";
import { Edit } from "./edit";

interface Conflict {
  findings: Finding[];
  finding_count: number;
  records: Mention[];
}

const QUICK = 1000; // facts that are compared at once when the view is opened

const keyOf = (finding: Finding): string => finding.facts.map((fact) => fact.id).join(",") + finding.finding;

export function Conflicts({ route, factCount, state, canChange }: Props): JSX.Element {
  const { data, failure } = useData<Conflict>("conflicts");
  const [isChecking, setChecking] = useState(false);
  const [edited, setEdited] = useState<Finding | null>(null);
  const check = async (): Promise<void> => {
    setChecking(true);
    try {
      await read("check");
      refresh();
    } catch (error) {
      notifyFailure(error as Failure);
    }
    setChecking(false);
  };
  useEffect(() => {
    if (!snapshot && factCount < QUICK) {
      void check();
    }
  }, [factCount < QUICK, state]);
  const findings = withEdited(data?.findings ?? [], edited);
  const at = Math.max(0, findings.findIndex((finding) => keyOf(finding) === route.query.at));
  const move = (by: number): void => {
    const next = findings[Math.min(findings.length - 1, Math.max(0, at + by))];
    if (next) {
      go(withQuery(route, { at: keyOf(next) }), true);
      document.getElementById(`finding-${findings.indexOf(next)}`)?.scrollIntoView({ block: "nearest" });
    }
  };
  useKeys({ j: () => move(1), k: () => move(-1), ArrowDown: () => move(1), ArrowUp: () => move(-1) });
  if (failure && !data) {
    return <Failed failure={failure} />;
  }
  if (!data) {
    return <Loading />;
  }
  return (
    <div class="page" tabIndex={0} aria-label="Conflicts">
      <Bar title="Conflicts" count={number(data.finding_count)}>
        {snapshot ? null : (
          <button type="button" class="action" disabled={isChecking} onClick={() => void check()}>
            {isChecking ? "Checking…" : "Check again"}
          </button>
        )}
      </Bar>
      {findings.length === 0 && data.records.length === 0 ? <Empty command="git mem check">No contradictions. This page lists facts that contradict each other or the code.</Empty> : null}
      {findings.map((finding, n) => (
        <FindingCard key={keyOf(finding)} finding={finding} n={n} isCurrent={n === at} canChange={canChange} isEditing={edited !== null && keyOf(edited) === keyOf(finding)} edit={setEdited} onFocus={() => go(withQuery(route, { at: keyOf(finding) }), true)} />
      ))}
      {data.finding_count > findings.length ? <p class="quiet pad">{plural(data.finding_count - findings.length, "more finding")}: git mem check</p> : null}
      {data.records.length > 0 ? (
        <section class="section">
          <h2>Texts that met in conflict</h2>
          <ul class="plain-list">
            {data.records.map((record) => (
              <li key={record.id}>
                <FactLink id={record.id} title={record.title} />
              </li>
            ))}
          </ul>
        </section>
      ) : null}
    </div>
  );
}

/** Return findings with the one whose fact is being edited, also when nothing speaks against it any more. */
function withEdited(findings: Finding[], edited: Finding | null): Finding[] {
  return edited === null || findings.some((finding) => keyOf(finding) === keyOf(edited)) ? findings : [...findings, edited];
}

interface Props {
  route: Route;
  factCount: number;
  /** What differs after each change of the stores. */
  state: string;
  canChange: boolean;
}

interface CardProps {
  finding: Finding;
  n: number;
  isCurrent: boolean;
  canChange: boolean;
  isEditing: boolean;
  edit: (finding: Finding | null) => void;
  onFocus: () => void;
}

const READING: Failure = { message: "The facts are still being read.", hint: "Answer when you have seen them." };

function FindingCard({ finding, n, isCurrent, canChange, isEditing, edit, onFocus }: CardProps): JSX.Element {
  const ids = finding.facts.map((fact) => fact.id);
  const newer = useData<FactDetail>(pathOf(finding.facts[0])).data;
  const older = useData<FactDetail>(pathOf(finding.facts[1])).data;
  const sides = [newer, older].slice(0, ids.length);
  const answer = (choice: string) => (): void => {
    const shown = sides.flatMap((side) => (side ? [[side.record.id, side.record.blob]] : []));
    if (shown.length < ids.length) {
      notifyFailure(READING);
      return;
    }
    void perform("resolve", { ids: choice === "drop" ? [ids.at(finding.choice === "older" ? 0 : -1)] : ids, choice, seen: Object.fromEntries(shown) });
  };
  const choices: [string, string, string][] =
    ids.length > 1
      ? [
          ["n", "newer", "Keep the newer"],
          ["o", "older", "Keep the older"],
          ["b", "both", "Both hold"],
          ["d", "drop", `Forget the ${finding.choice === "older" ? "newer" : "older"}`],
        ]
      : [
          ["v", "verified", "It holds"],
          ["d", "drop", "Forget it"],
        ];
  const keys = Object.fromEntries(choices.map(([key, choice]) => [key, answer(choice)]));
  const isAlone = ids.length === 1;
  useKeys(isCurrent && canChange && !isEditing ? { ...keys, ...(isAlone ? { e: () => edit(finding) } : {}) } : {});
  return (
    <section id={`finding-${n}`} class={isCurrent ? "finding current" : "finding"} aria-label={`Finding ${n + 1}`} aria-current={isCurrent} onClick={onFocus}>
      <p class="finding-reason">
        <strong>{plain(finding.finding)}</strong> {finding.is_sure ? "" : "perhaps: "}
        {plain(finding.reason)}
      </p>
      <div class="sides">
        {finding.facts.map((fact, side) => (
          <Side key={fact.id} fact={fact} label={isAlone ? "" : side === 0 ? "newer" : "older"} data={sides[side] ?? null} isEditing={isEditing && side === 0} onEnd={() => edit(null)} />
        ))}
      </div>
      {canChange ? (
        <div class="actions">
          {choices.map(([key, choice, text]) => (
            <Button key={choice} keyName={isCurrent ? key : undefined} tone={choice === finding.choice ? "main" : ""} onClick={answer(choice)}>
              {text}
            </Button>
          ))}
          {isAlone ? (
            <Button keyName={isCurrent ? "e" : undefined} tone={finding.choice === "edit" ? "main" : ""} onClick={() => edit(finding)}>
              Edit
            </Button>
          ) : null}
        </div>
      ) : null}
    </section>
  );
}

const pathOf = (fact: Mention | undefined): string | null => (fact ? `facts/${encodeURIComponent(fact.id)}` : null);

function Side({ fact, label, data, isEditing, onEnd }: { fact: Mention; label: string; data: FactDetail | null; isEditing: boolean; onEnd: () => void }): JSX.Element {
  if (isEditing && data) {
    return <Edit record={data.record} onEnd={onEnd} />;
  }
  return (
    <div class="side">
      <p class="facts-line">
        {label ? <span class="quiet">{label}</span> : null}
        <Kind fact={fact} />
        {data ? <span>{plain((data.record.author ?? "").split(" <")[0])}</span> : null}
        {data ? (
          <span>
            <Age at={data.record.created} />
          </span>
        ) : null}
        <Marks marks={fact.trust_marks} />
      </p>
      <p class="side-title">
        <FactLink id={fact.id} title={data?.record.title ?? fact.title} />
      </p>
      {data?.record.body ? <p class="side-body">{lineOf(data.record.body)}</p> : null}
    </div>
  );
}
