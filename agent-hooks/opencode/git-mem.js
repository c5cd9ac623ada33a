// git-mem for opencode: tells the model what this repository remembers, and lets git-mem learn from what goes wrong.
//
// opencode has no hooks that run a command, so this plugin keeps a command running, sends it the JSON of each event as a line, and
// puts what it answers where the model reads it. Nothing here throws into opencode, and no hook of it takes longer than LIMIT: what
// is not answered by then is answered with nothing, and is still sent. GITMEM=0 in the environment turns it off.

import { spawn } from "node:child_process"

const COMMAND = "git-mem hook opencode 2>/dev/null || true" // a shell's; `git mem install opencode` writes its own here
const LIMIT = 4500 // milliseconds; the command ends itself after three seconds
const LONGEST = 1 << 20 // characters of a text that are sent
const WAITING = 100 // payloads that wait for their turn, of a command that hangs
const TOOLS = new Set(["bash", "read", "edit", "write", "patch", "apply_patch"])

/** Calls the command in a folder, with one payload after the other. The process stays: it takes a line for each payload, and answers a line. */
class Caller {
  #cwd
  #child
  #out = ""
  #settle = () => {}
  #turn = Promise.resolve()
  #waiting = 0
  #round = 0 // what waits of an earlier one is dropped
  #hangs = false // whether nothing was answered since a payload had to wait too long

  constructor(cwd) {
    this.#cwd = cwd
  }

  /** Send a payload; resolves to the text for the model, or to nothing, whatever happens, and after LIMIT at the latest. Nobody waits for a command that hangs. */
  ask(payload) {
    if (this.#waiting >= WAITING) return Promise.resolve("")
    const line = JSON.stringify(payload, (_, value) => (typeof value === "string" ? value.slice(0, LONGEST) : value)) + "\n"
    const round = this.#round
    this.#waiting++
    this.#turn = this.#turn.then(async () => {
      this.#waiting--
      if (round !== this.#round) return ""
      const wasThere = this.#child !== undefined
      let out = await this.#send(line)
      if (out === undefined && wasThere && round === this.#round) out = await this.#send(line) // it had ended meanwhile, or did not answer
      return words(out)
    })
    if (this.#hangs) return Promise.resolve("")
    return inTime(this.#turn, () => {
      this.#hangs = true
      return ""
    })
  }

  /** Let the process end once everything is answered, after LIMIT at the latest. */
  close() {
    this.#turn = this.#turn.then(() => this.#child?.stdin.end())
    return inTime(this.#turn, () => {
      this.#round++
      if (this.#child) this.#stop()
    })
  }

  /** Send a line; resolves to the answer, or to undefined when there was none: the process ended, or had to be. */
  #send(line) {
    return new Promise((resolve) => {
      let timer
      this.#settle = (text, hangs = false) => {
        clearTimeout(timer)
        this.#settle = () => {}
        this.#hangs = hangs
        this.#hold(false)
        resolve(text)
      }
      try {
        this.#child ??= this.#start()
        this.#hold(true)
        timer = setTimeout(() => this.#stop(), LIMIT)
        this.#child.stdin.write(line)
      } catch {
        this.#settle("")
      }
    })
  }

  #start() {
    // a group of its own, so that all of it can be ended
    const env = { ...process.env, GITMEM_HOOK_STREAM: "1" }
    const child = spawn(COMMAND, { cwd: this.#cwd, env, shell: true, detached: true, stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const ended = () => {
      if (this.#child !== child) return
      this.#child = undefined
      const out = this.#out
      this.#out = ""
      this.#settle(out || undefined)
    }
    child.on("error", ended)
    child.on("close", ended)
    child.stdin.on("error", () => {})
    child.stdout.on("error", () => {})
    child.stdout.setEncoding("utf8")
    child.stdout.on("data", (part) => {
      if (this.#child !== child) return
      this.#out += part
      const end = this.#out.indexOf("\n")
      if (end < 0) return
      const text = this.#out.slice(0, end)
      this.#out = ""
      this.#settle(text)
    })
    return child
  }

  /** End a process that does not answer, and all that it started. */
  #stop() {
    const child = this.#child
    this.#child = undefined
    this.#out = ""
    this.#settle(undefined, true)
    for (const pipe of [child.stdin, child.stdout]) pipe.destroy()
    child.unref()
    try {
      process.kill(-child.pid, "SIGKILL")
    } catch {
      child.kill("SIGKILL")
    }
  }

  /** Keep opencode from ending while an answer is awaited, and only then. */
  #hold(awaited) {
    for (const each of [this.#child, this.#child?.stdin, this.#child?.stdout]) each?.[awaited ? "ref" : "unref"]?.()
  }
}

/** Resolve to what a promise does; after LIMIT to what `late` returns. */
function inTime(promise, late) {
  let timer
  const limit = new Promise((resolve) => {
    timer = setTimeout(() => resolve(late()), LIMIT)
  })
  return Promise.race([promise, limit]).finally(() => clearTimeout(timer))
}

function words(out) {
  try {
    const text = JSON.parse(out).additionalContext
    return typeof text === "string" ? text : ""
  } catch {
    return ""
  }
}

/** Return a hook that swallows what goes wrong in it. */
function safe(hook) {
  return async (...args) => {
    try {
      await hook(...args)
    } catch {
      // opencode would end the turn over it
    }
  }
}

function isOff() {
  return ["0", "false", "no", "off"].includes((process.env.GITMEM ?? "").trim().toLowerCase())
}

export const GitMem = async ({ directory } = {}) => {
  if (isOff() || typeof directory !== "string") return {}

  const caller = new Caller(directory)
  const parents = new Map() // a subagent's session: the session that it works for
  const created = new Set() // sessions that began while we watched; others are resumed
  const started = new Map() // sessions whose start was told, and how
  const compacting = new Set() // sessions whose context is summarised: that text is no talk
  const said = new Map() // what each session said and was not told of yet

  /** Return what every payload has. */
  function about(session, name) {
    let root = session
    for (let depth = 0; parents.has(root) && depth < 20; depth++) root = parents.get(root)
    const common = { hook_event_name: name, session_id: root, cwd: directory }
    return root === session ? common : { ...common, agent_id: session }
  }

  function tell(session, name, fields) {
    return caller.ask({ ...about(session, name), ...fields })
  }

  /** Return what a session said since this was asked last. */
  function wordsOf(session) {
    const text = said.get(session) ?? ""
    said.delete(session)
    return text
  }

  /** Tell that a session starts, once, before its first prompt; again when its context was compacted. */
  async function start(session) {
    const source = started.get(session) ?? (created.has(session) ? "startup" : "resume")
    if (source === "told") return ""
    started.set(session, "told")
    return tell(session, "SessionStart", { source })
  }

  async function end(session, reason) {
    const known = started.delete(session) && !parents.has(session)
    for (const all of [parents, created, compacting, said]) all.delete(session)
    if (known) await caller.ask({ hook_event_name: "SessionEnd", session_id: session, cwd: directory, reason })
  }

  const events = {
    "session.created": ({ info }) => {
      created.add(info.id)
      if (info.parentID) parents.set(info.id, info.parentID)
    },
    "session.compacted": async ({ sessionID }) => {
      compacting.delete(sessionID)
      if (!parents.has(sessionID)) started.set(sessionID, "compact")
      await tell(sessionID, "PostCompact", {})
    },
    "session.idle": async ({ sessionID }) => {
      if (!started.has(sessionID)) return
      await tell(sessionID, "Stop", { last_assistant_message: wordsOf(sessionID) })
    },
    "session.deleted": ({ info }) => end(info.id, "deleted"),
    "message.part.updated": async ({ part }) => {
      // a tool that could not be used; a command that failed is an ordinary result
      if (part.type !== "tool" || part.state?.status !== "error" || !TOOLS.has(part.tool)) return
      const error = String(part.state.error ?? "")
      await tell(part.sessionID, "PostToolUseFailure", {
        tool_name: part.tool, tool_input: part.state.input, tool_use_id: part.callID, error, is_interrupt: part.tool === "bash",
      })
    },
  }

  return {
    event: safe(({ event }) => events[event.type]?.(event.properties)),

    "chat.message": safe(async ({ sessionID }, { message, parts }) => {
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic)
      if (parents.has(sessionID)) started.set(sessionID, "told") // a subagent: nobody typed that
      if (parents.has(sessionID) || typed.length === 0) return
      const prompt = typed.map((part) => part.text).join("\n")
      const texts = (await Promise.all([start(sessionID), tell(sessionID, "UserPromptSubmit", { prompt })])).filter(Boolean)
      // parts are kept in the order of their ids
      const id = parts.map((part) => part.id).sort().at(-1)
      texts.forEach((text, n) => {
        parts.push({ id: `${id}${n}`, sessionID, messageID: message.id, type: "text", synthetic: true, text })
      })
    }),

    "tool.execute.after": safe(async ({ tool, sessionID, callID, args }, result) => {
      if (!TOOLS.has(tool)) return
      const output = String(result.output ?? "")
      const { exit = null, exists, filediff } = result.metadata ?? {}
      const before = exists === false ? "" : filediff?.before // what the file held: only what differs is the agent's
      const tool_response = { output, exit, ...(typeof before === "string" && before.length <= LONGEST ? { before } : {}) }
      const last_assistant_message = wordsOf(sessionID)
      const asked = [
        tell(sessionID, "PostToolUse", { tool_name: tool, tool_input: args, tool_use_id: callID, tool_response, last_assistant_message }),
      ]
      if (started.get(sessionID) === "compact") asked.unshift(start(sessionID)) // no prompt comes before the work goes on
      const texts = await Promise.all(asked)
      result.output = [result.output, ...texts.filter(Boolean)].join("\n\n")
    }),

    "experimental.text.complete": safe(({ sessionID }, { text }) => {
      if (compacting.has(sessionID)) return
      const before = said.get(sessionID)
      said.set(sessionID, (before ? `${before}\n\n${text}` : String(text)).slice(0, LONGEST))
    }),

    "experimental.session.compacting": safe(({ sessionID }) => {
      compacting.add(sessionID)
      return tell(sessionID, "PreCompact", { trigger: "auto" })
    }),

    // so that `git mem` in a command knows whose it is
    "shell.env": safe(({ sessionID }, { env }) => {
      if (sessionID) env.OPENCODE_SESSION_ID = about(sessionID, "").session_id
    }),

    dispose: safe(async () => {
      await Promise.all([...[...started.keys()].map((session) => end(session, "exit")), caller.close()])
    }),
  }
}
