// Written by `accord init opencode`; `accord init opencode --remove` removes it.
// Adds the briefing of the shared memory to the first request of a session. Without an answer of
// the command within two seconds, nothing is added.
import { execFile } from "node:child_process"

const COMMAND = "@COMMAND@"
const ARGUMENTS = ["@ARGUMENTS@"]

const briefing = (cwd, session) =>
  new Promise((resolve) => {
    const options = { cwd, timeout: 2000, maxBuffer: 1 << 20 }
    const child = execFile(COMMAND, ARGUMENTS, options, (error, stdout) => {
      try {
        resolve(error ? "" : JSON.parse(stdout).hookSpecificOutput.additionalContext)
      } catch {
        resolve("")
      }
    })
    child.on("error", () => resolve(""))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: "SessionStart", session_id: session, cwd }))
  })

export const Accord = async ({ directory }) => {
  const texts = new Map()
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const session = input?.sessionID ?? ""
      if (!texts.has(session)) texts.set(session, briefing(directory, session))
      const text = await texts.get(session)
      if (text) output.system.push(text)
    },
  }
}
