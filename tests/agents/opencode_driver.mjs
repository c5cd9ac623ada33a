// Calls the hooks of the opencode plugin as opencode does, and prints what became of their output. Arguments: the plugin, the folder.
const [plugin, directory] = process.argv.slice(2)
const { GitMem } = await import(plugin)
const hooks = await GitMem({ directory })
const out = { hooks: Object.keys(hooks).sort() }
if (hooks.event) {
  const sessionID = "ses_1"
  const say = (type, properties) => hooks.event({ event: { type, properties } })
  const prompt = async (session, text) => {
    const parts = [{ type: "text", text, id: "prt_1", messageID: "msg_1", sessionID: session }]
    await hooks["chat.message"]({ sessionID: session }, { message: { id: "msg_1" }, parts })
    return parts.slice(1)
  }
  const run = async (session, tool, output) => {
    const result = { title: "", output, metadata: { exit: 3 } }
    await hooks["tool.execute.after"]({ tool, sessionID: session, callID: "c", args: { command: "make" } }, result)
    return result.output
  }
  await say("session.created", { info: { id: sessionID } })
  await say("session.created", { info: { id: "ses_sub", parentID: sessionID } })
  out.first = await prompt(sessionID, "please fix a.py")
  out.second = await prompt(sessionID, "and b.py")
  out.subagent = await prompt("ses_sub", "look")
  out.tool = await run(sessionID, "bash", "boom")
  out.other = await run(sessionID, "webfetch", "page")
  await run("ses_sub", "bash", "boom")
  await hooks["experimental.session.compacting"]({ sessionID }, {})
  await hooks["experimental.text.complete"]({ sessionID }, { text: "They worked on a.py." })
  await say("session.compacted", { sessionID })
  for (const text of ["I look.", "We decided to use uv."]) await hooks["experimental.text.complete"]({ sessionID }, { text })
  out.after = await run(sessionID, "bash", "boom")
  await say("message.part.updated", { part: { type: "tool", tool: "edit", sessionID, callID: "d", state: { status: "error", input: {}, error: "no match" } } })
  await hooks["experimental.text.complete"]({ sessionID }, { text: "all done" })
  await say("session.idle", { sessionID })
  out.env = {}
  await hooks["shell.env"]({ sessionID: "ses_sub" }, { env: out.env })
  // what no opencode should send: nothing of it may throw
  for (const value of [undefined, null, 1, "x", {}]) {
    for (const hook of Object.values(hooks)) await hook(value, value)
    await say(value, value)
    for (const type of ["session.created", "session.idle", "session.compacted", "session.deleted", "message.part.updated"]) await say(type, value)
  }
  await hooks.dispose()
}
console.log(JSON.stringify(out))
