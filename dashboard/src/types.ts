// The shapes of what the server answers. Names are those of `--json`.

export interface Fact {
  id: string;
  kind: string;
  type: string;
  title: string;
  status: string;
  agent: string;
  author: string;
  session: string;
  created: string;
  updated: string;
  score: number;
  trust: string;
  marks: string[];
  store: string;
  paths: string[];
  severity: string;
  tags: string[];
  resolved: boolean;
  expires: string;
  origin: string;
  /** Title in lower case, for filtering. */
  words: string;
}

export interface Mention {
  id: string;
  kind: string;
  type: string | null;
  severity: string | null;
  title: string;
  trust_marks: string[];
}

export interface About {
  project: string;
  author: string;
  version: string;
  at: string;
  is_read_only: boolean;
  is_person: boolean;
  inbox_count: number;
  contradiction_count: number;
  conflict_count: number;
  agents: string[];
  stores: Record<string, { record_counts: Record<string, number> }>;
  enabled_remote: { name: string | null; unpushed_count: number; unpushed_since: string | null };
  journal_count: number;
}

export interface Step {
  commit: string;
  at: string;
  author: string;
  subject: string;
  operation?: string | null;
  agent?: string | null;
  session?: string | null;
  store: string;
  diff: string[];
}

export interface Source {
  session?: string;
  role?: string;
  at?: string;
  lines?: number[];
  commit?: string;
  quote?: string;
  in?: string;
  program?: string;
}

export interface FactDetail {
  record: {
    id: string;
    /** The version of the record, which each action on it names. */
    blob: string;
    kind: string;
    type?: string;
    title: string;
    body?: string;
    status?: string;
    author?: string;
    agent?: string;
    session?: string;
    store: string;
    created: string;
    updated: string;
    importance?: number;
    severity?: string;
    category?: string;
    workaround?: string;
    occurrences?: number;
    tags?: string[];
    sources?: Source[];
    unconfirmed?: boolean;
    is_resolved?: boolean;
    confirmed?: { at?: string; by?: string; commit?: string };
    supersedes?: string[];
    expires?: string;
    effective_score?: number;
    decayed?: boolean;
    access_count?: number;
    accessed?: string | null;
    verify?: Record<string, unknown>[];
    anchors?: { path?: string; lines?: number[]; symbol?: string }[];
    committed_by?: string;
    decay?: { importance: number; bonus: number; rate: number; decay_hours: number; clock: string; half_life_hours: number | null };
    promotion?: { level: string };
  };
  trust_marks?: string[];
  steps: Step[];
  graph?: { nodes: (Partial<Mention> & { id: string; missing: boolean })[]; edges: { source: string; relation: string; target: string; created: string | null }[] };
  code?: { path: string; first_line: number | null; lines: string[]; place: { line: number | null; end_line: number | null; state: string; stale: boolean } }[];
  statements?: { what: string; session: string; quote: string; at: string; role: string }[];
  contradicts?: Mention[];
  /** What takes its place, if what a session says of it is accepted. */
  successor?: { id: string; blob: string; title: string; body?: string } | null;
}

export interface InboxRow {
  id: string;
  kind: string;
  type?: string;
  severity?: string;
  title: string;
  created?: string;
  agent?: string;
  author?: string;
  origin?: string;
  session?: string;
  occurrences?: number;
  claim?: string;
  reason?: string;
  quote?: string | null;
  successor_id?: string | null;
}

export interface Finding {
  finding: string;
  reason: string;
  choice: string;
  is_sure: boolean;
  facts: Mention[];
}

export interface TimelineEvent {
  at: string;
  source: string;
  action: string;
  id: string | null;
  title: string;
  trust_marks: string[];
  author: string | null;
  agent: string | null;
  session: string | null;
  paths: string[];
}

export interface Today {
  agent: string | null;
  budget: number;
  used: number;
  lines: { text: string; tokens: number; reason: string; fact: TodayFact | null }[];
  left_out: TodayFact[];
  left_out_count: number;
  path: string | null;
  about_file: (Mention & { reasons: string[]; place: { path: string; line: number | null } })[];
}

export interface TodayFact extends Mention {
  age_days: number;
  author: string;
}

export interface Health {
  health: number;
  level: string;
  fact_count: number;
  mean_score: number;
  terms: { term: string; number: number; points: number }[];
  advice: string | null;
  states: { at: string; health: number; fact_count: number }[];
  metrics: {
    totals: Record<string, Record<string, number>>;
    mean_decay: number;
    most_linked_facts: { id: string; title: string; link_count: number }[];
    injected_count: number;
    used_count: number;
    gaps: { path: string; commit_count: number }[];
  } | null;
}

export interface Code {
  trends: { hot_files: { path: string; commit_count: number; edit_count: number }[] };
  drift: {
    sides: { name: string }[];
    pairs: { left: string; right: string; level: string; advice: string | null; files: { path: string; level: string; conflict: boolean }[] }[];
  };
}

export interface SessionRow {
  id: string;
  agent: string;
  state: string;
  title: string | null;
  subject: string | null;
  branch: string | null;
  started: string;
  last_seen: string;
  ended: string | null;
}

export interface SessionDetail extends SessionRow {
  changed_files: { path: string; count: number }[];
  read_files: { path: string; count: number }[];
  session_record: string | null;
  costs: { event: string; call_count: number; answer_count: number; tokens: number; duration_seconds: number }[];
  events: { line: number; at: string | null; role: string | null; text: string; event: string | null; tool: string | null }[];
  event_count: number;
  injected: { id: string; at: string; title: string | null }[];
}
