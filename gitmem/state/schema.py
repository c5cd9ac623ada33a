"""The tables of `state.db`. Part of the hot path.

Nothing in them is a record: a file with older tables is begun anew (`database.VERSION`).
"""

TABLES = """\
-- what the stores are still to be told: reads, and errors that commands met
CREATE TABLE reads (store TEXT, id TEXT, n INTEGER, last TEXT, PRIMARY KEY (store, id))
  WITHOUT ROWID;
CREATE TABLE usage_commits (store TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
-- hours since the epoch in which somebody worked here
CREATE TABLE active_hours (hour INTEGER PRIMARY KEY);
CREATE TABLE errors (pattern TEXT, at REAL, session TEXT, sent REAL, PRIMARY KEY (pattern, at,
  session)) WITHOUT ROWID;
CREATE TABLE failing (session TEXT, command TEXT, pattern TEXT, at REAL, given TEXT, head TEXT,
  root TEXT, ended REAL, PRIMARY KEY (session, command, pattern)) WITHOUT ROWID;
CREATE TABLE steps (session TEXT, at REAL, action TEXT, what TEXT);
CREATE TABLE outcomes (n INTEGER PRIMARY KEY, facts TEXT, claimed REAL);
-- sessions
CREATE TABLE sessions (id TEXT PRIMARY KEY, agent TEXT, started REAL, last REAL, history TEXT,
  ended REAL, why TEXT, root TEXT, transcript TEXT, process TEXT, kind TEXT, branch TEXT,
  story TEXT, title TEXT) WITHOUT ROWID;
CREATE TRIGGER session_began AFTER INSERT ON sessions
  WHEN NOT EXISTS (SELECT 1 FROM active_hours WHERE hour = CAST(NEW.last / 3600 AS INTEGER))
  BEGIN INSERT INTO active_hours VALUES (CAST(NEW.last / 3600 AS INTEGER)); END;
CREATE TRIGGER session_went_on AFTER UPDATE OF last ON sessions
  WHEN NOT EXISTS (SELECT 1 FROM active_hours WHERE hour = CAST(NEW.last / 3600 AS INTEGER))
  BEGIN INSERT INTO active_hours VALUES (CAST(NEW.last / 3600 AS INTEGER)); END;
CREATE TABLE requests (n INTEGER PRIMARY KEY, kind TEXT, session TEXT, at REAL, claimed REAL,
  taker TEXT, tries INTEGER DEFAULT 0);
CREATE TABLE costs (session TEXT, event TEXT, calls INTEGER, answers INTEGER, tokens INTEGER,
  spent REAL, most REAL, processor REAL, PRIMARY KEY (session, event)) WITHOUT ROWID;
-- of sessions without hooks, read later
CREATE TABLE past_transcripts (agent TEXT, session TEXT, size INTEGER, changed INTEGER,
  has_record INTEGER, PRIMARY KEY (agent, session)) WITHOUT ROWID;
-- contexts of agents: a session, or `session/agent` for a subagent
CREATE TABLE context_flags (context TEXT PRIMARY KEY, restarted REAL, snapshot_asked REAL,
  condense_asked REAL, owes_history INTEGER) WITHOUT ROWID;
CREATE TABLE injections (context TEXT, id TEXT, form TEXT, at REAL, kept INTEGER,
  PRIMARY KEY (context, id)) WITHOUT ROWID;
CREATE TABLE late_answers (context TEXT, kind TEXT, text TEXT, PRIMARY KEY (context, kind))
  WITHOUT ROWID;
CREATE TABLE tool_calls (session TEXT, call TEXT, until REAL, PRIMARY KEY (session, call))
  WITHOUT ROWID;
CREATE TABLE hook_calls (session TEXT, event TEXT, command TEXT, number INTEGER, process TEXT,
  at REAL, PRIMARY KEY (session, event, command, number)) WITHOUT ROWID;
CREATE TABLE files_before (session TEXT, call TEXT, path TEXT, at REAL, lines BLOB,
  PRIMARY KEY (session, call, path)) WITHOUT ROWID;
-- who did what in a work tree
CREATE TABLE contexts (root TEXT PRIMARY KEY, began REAL, last REAL, session TEXT, asked INTEGER,
  story TEXT) WITHOUT ROWID;
CREATE TABLE acts (n INTEGER PRIMARY KEY, root TEXT, began REAL, kind TEXT, what TEXT, at REAL,
  agent TEXT, session TEXT, role TEXT, ok INTEGER, story TEXT);
CREATE INDEX acts_of ON acts (root, n);
CREATE TABLE epic_choices (root TEXT PRIMARY KEY, epic TEXT) WITHOUT ROWID;
CREATE TABLE epic_holders (n INTEGER PRIMARY KEY, epic TEXT, clone TEXT, session TEXT,
  process TEXT, at REAL);
CREATE TABLE epic_future_signs (epic TEXT PRIMARY KEY, at REAL, seen REAL) WITHOUT ROWID;
CREATE TABLE commands (n INTEGER PRIMARY KEY, id TEXT, program TEXT, session TEXT,
  at REAL);
CREATE TRIGGER command_ran AFTER INSERT ON commands
  WHEN NOT EXISTS (SELECT 1 FROM active_hours WHERE hour = CAST(NEW.at / 3600 AS INTEGER))
  BEGIN INSERT INTO active_hours VALUES (CAST(NEW.at / 3600 AS INTEGER)); END;
CREATE TABLE snoozes (id TEXT PRIMARY KEY, until REAL) WITHOUT ROWID;
-- the code: where it moved, who wrote it, who else changes it, what it refutes
CREATE TABLE moved_code (root TEXT, path TEXT, id TEXT, first INTEGER, last INTEGER, was TEXT,
  PRIMARY KEY (root, path, id)) WITHOUT ROWID;
CREATE TABLE moved_code_searches (root TEXT PRIMARY KEY, code TEXT, staged TEXT) WITHOUT ROWID;
CREATE TABLE trigger_hits (root TEXT, path TEXT, version TEXT, hits TEXT, PRIMARY KEY (root,
  path)) WITHOUT ROWID;
CREATE TABLE anchor_searches (root TEXT, code TEXT, anchor TEXT, outcome TEXT,
  PRIMARY KEY (root, code, anchor)) WITHOUT ROWID;
CREATE TABLE lost_code (root TEXT PRIMARY KEY, code TEXT, lost INTEGER, checked INTEGER)
  WITHOUT ROWID;
CREATE TABLE out_of_date (root TEXT, id TEXT, oid TEXT, reason TEXT, source TEXT,
  PRIMARY KEY (root, id))
  WITHOUT ROWID;
CREATE TABLE elsewhere (mine TEXT, path TEXT, other TEXT, level TEXT, what TEXT, who TEXT,
  PRIMARY KEY (mine, path, other)) WITHOUT ROWID;
-- numbers are used once: `counted_edits` and `links.seen` hold some of edits that are forgotten
CREATE TABLE edits (n INTEGER PRIMARY KEY AUTOINCREMENT, path TEXT, at REAL, session TEXT,
  after BLOB, start INTEGER, units BLOB, gone BLOB);
CREATE INDEX edits_of ON edits (path, at);
-- edits up to `n` have counted as reads of the facts that the session had been told
CREATE TABLE counted_edits (one INTEGER PRIMARY KEY CHECK (one = 1), n INTEGER);
CREATE TABLE facts_used (session TEXT, id TEXT, PRIMARY KEY (session, id)) WITHOUT ROWID;
CREATE TABLE links (oid TEXT, session TEXT, agent TEXT, model TEXT, how TEXT, at REAL, files TEXT,
  edits TEXT, kind TEXT, seen INTEGER, PRIMARY KEY (oid, session, kind)) WITHOUT ROWID;
CREATE INDEX links_of ON links (session, at);
CREATE TABLE patches (oid TEXT PRIMARY KEY, patch TEXT) WITHOUT ROWID;
CREATE INDEX patches_by ON patches (patch);
CREATE TABLE unlinked_commits (oid TEXT PRIMARY KEY, tries INTEGER) WITHOUT ROWID;
-- facts that contradict each other, and those that are still to be compared
CREATE TABLE contradictions (newer TEXT, older TEXT, choice TEXT, sure INTEGER,
  newer_text INTEGER, older_text INTEGER, newer_pair TEXT, older_pair TEXT, compared INTEGER,
  PRIMARY KEY (newer, older)) WITHOUT ROWID;
CREATE TABLE compared_tips (store TEXT PRIMARY KEY, tip TEXT) WITHOUT ROWID;
CREATE TABLE uncompared (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE);
-- what a model wrote of the facts of a section; readers who see the same facts share it
CREATE TABLE paragraphs (digest TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;
-- work in the background; a table with `one` has one row
CREATE TABLE drain (one INTEGER PRIMARY KEY CHECK (one = 1), claimed REAL, reason TEXT,
  pid INTEGER, begun INTEGER);
CREATE TABLE drain_report (one INTEGER PRIMARY KEY CHECK (one = 1), at REAL, seconds REAL,
  done TEXT, failed TEXT);
CREATE TABLE code_progress (one INTEGER PRIMARY KEY CHECK (one = 1), dna_commit TEXT,
  dna_asked TEXT, drift_refs TEXT, drift_at REAL, drift_seconds REAL, linked_refs TEXT,
  linked_heads TEXT, checked TEXT);
CREATE TABLE daily_work (work TEXT PRIMARY KEY, done REAL, claimed REAL, process TEXT,
  tries INTEGER) WITHOUT ROWID;
CREATE TABLE memory_file_requests (root TEXT PRIMARY KEY, at REAL) WITHOUT ROWID;
"""
