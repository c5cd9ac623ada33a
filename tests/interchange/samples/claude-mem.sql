-- Made by claude-mem 13.25.3 itself (its SessionStore, run by bun): the tables that are read.

CREATE TABLE "observations" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        text TEXT,
        type TEXT NOT NULL,
        title TEXT,
        subtitle TEXT,
        facts TEXT,
        narrative TEXT,
        concepts TEXT,
        files_read TEXT,
        files_modified TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0, merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "observations" VALUES(1,'m-1','shop',NULL,'decision','Store sessions in Redis','Sessions move out of Postgres','["TTL is 24 hours","Redis runs in cluster mode"]','The session table grew to 40 GB, so sessions live in Redis with a TTL of one day.','["trade-off","what-changed"]','["src/db.py"]','["src/session.py"]',1,'2026-02-03T10:20:30.000Z',1770114030000,0,'81842502367ac491',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
INSERT INTO "observations" VALUES(2,'m-1','shop',NULL,'bugfix','Login failed for names with an apostrophe',NULL,'[]','The query was built by hand. It uses parameters now.','["gotcha"]','[]','[]',2,'2026-02-03T10:20:31.000Z',1770114031000,0,'3f555f6de22a4779',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
INSERT INTO "observations" VALUES(3,'m-2','other-project',NULL,'discovery','Another project''s secret plan',NULL,'[]','x','[]','[]','[]',1,'2026-02-03T10:20:30.000Z',1770114030000,0,'2c780955e9eae1ed',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
INSERT INTO "observations" VALUES(4,'manual-shop','shop',NULL,'discovery','Deploys happen on Tuesdays',NULL,'[]','Saved by hand.','[]','[]','[]',NULL,'2026-02-03T10:20:33.000Z',1770114033000,0,'ffb0e996cbc85211',NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'1');
CREATE TABLE sdk_sessions (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        content_session_id TEXT NOT NULL,
        memory_session_id TEXT UNIQUE,
        project TEXT NOT NULL,
        platform_source TEXT NOT NULL DEFAULT 'claude',
        user_prompt TEXT,
        started_at TEXT NOT NULL,
        started_at_epoch INTEGER NOT NULL,
        completed_at TEXT,
        completed_at_epoch INTEGER,
        status TEXT CHECK(status IN ('active', 'completed', 'failed')) NOT NULL DEFAULT 'active'
      , worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT, observed_model TEXT, observed_billing TEXT);
INSERT INTO "sdk_sessions" VALUES(1,'c-1','m-1','shop','claude','do it','2026-11-29T01:56:14.151Z',1795917374151,NULL,NULL,'active',NULL,0,NULL,NULL,NULL);
INSERT INTO "sdk_sessions" VALUES(2,'c-2','m-2','other-project','claude','do it','2026-11-29T01:56:14.152Z',1795917374152,NULL,NULL,'active',NULL,0,NULL,NULL,NULL);
INSERT INTO "sdk_sessions" VALUES(3,'manual-content-shop','manual-shop','shop','claude',NULL,'2026-11-29T01:56:14.154Z',1795917374154,NULL,NULL,'active',NULL,0,NULL,NULL,NULL);
CREATE TABLE "session_summaries" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        memory_session_id TEXT NOT NULL,
        project TEXT NOT NULL,
        request TEXT,
        investigated TEXT,
        learned TEXT,
        completed TEXT,
        next_steps TEXT,
        files_read TEXT,
        files_edited TEXT,
        notes TEXT,
        prompt_number INTEGER,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(memory_session_id) REFERENCES sdk_sessions(memory_session_id) ON DELETE CASCADE ON UPDATE CASCADE
      );
INSERT INTO "session_summaries" VALUES(1,'m-1','shop','Move sessions to Redis','Size of the table','Redis evicts by LRU','Migration','Watch memory','[]','[]',NULL,3,'2026-02-03T10:20:32.000Z',1770114032000,0,NULL,NULL,NULL,NULL,'1');
CREATE TABLE "user_prompts" (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        session_db_id INTEGER,
        content_session_id TEXT NOT NULL,
        prompt_number INTEGER NOT NULL,
        prompt_text TEXT NOT NULL,
        created_at TEXT NOT NULL,
        created_at_epoch INTEGER NOT NULL, synced_at INTEGER, origin_device_id TEXT, origin_local_id TEXT, sync_rev TEXT NOT NULL DEFAULT '1',
        FOREIGN KEY(session_db_id) REFERENCES sdk_sessions(id) ON DELETE CASCADE
      );
INSERT INTO "user_prompts" VALUES(1,1,'c-1',1,'please move sessions','2026-11-29T01:56:14.153Z',1795917374153,NULL,NULL,NULL,'1');
