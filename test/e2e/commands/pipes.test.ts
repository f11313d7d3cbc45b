import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin, createProject, environment, type Project, type RunningServer, serve } from '../../support/program.ts'

let project: Project
let server: RunningServer

const config = String.raw`
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  agents: {
    echo: agent({ sideEffects: false, async *run({ text }) { yield text } }),
    long: agent({ async *run() { for (let line = 0; line < 20_000; line++) yield 'line ' + line + '\n' } }),
    fails: agent({ async *run() { yield 'half'; throw new Error('no') } }),
  },
  server: { auth: { keys: ['right-key'] } },
})
`

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config })
  await project.write('bin/agentserve', `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`)
  await chmod(join(project.folder, 'bin/agentserve'), 0o755)
  server = await serve(project, 'start')
  // More than a pipe holds, so that its writer sees that it has been closed.
  const headers = { 'content-type': 'application/json', authorization: 'Bearer right-key' }
  for (let count = 0; count < 100; count++) {
    const body = JSON.stringify({ session_id: `s${count}`, name: 'n'.repeat(1000), agent_id: 'echo' })
    await fetch(`${server.url}/api/v1/sessions`, { method: 'POST', headers, body })
  }
})
afterAll(async () => {
  await server.stop()
  await project.remove()
})

/** What a shell shows of a line, and the exit codes of what it pipes together. */
async function shell(line: string, key = 'right-key') {
  const { PATH = '' } = process.env
  const env = environment({ PATH: `${join(project.folder, 'bin')}:${PATH}`, AGENTSERVE_KEY: key })
  const options = { cwd: project.folder, env, maxBuffer: 10_000_000 }
  const { stdout, stderr } = await promisify(execFile)(
    'bash',
    ['-c', `${line}\necho "codes \${PIPESTATUS[*]}" >&2`],
    options,
  )
  const [, said = '', codes] = /^([\s\S]*)codes ([\d ]+)\n$/.exec(stderr) ?? []
  return { stdout, stderr: said, codes }
}

const nothing = /^$/
const noAnswer = /^No answer from http:\/\/127\.0\.0\.1:9: nothing listens there; is the server running\?\n$/
const giveKey = /Pass a key or token with --key or AGENTSERVE_KEY\.\n$/

test.each<[line: string, codes: string, stdout: RegExp, stderr: RegExp]>([
  ['echo hi | agentserve chat echo', '0 0', /^hi\n$/, nothing],
  ['printf "hi\\n\\nthere" | agentserve chat echo | cat', '0 0 0', /^hi\nthere\n$/, nothing],
  ['agentserve chat echo < /dev/null', '0', nothing, nothing],
  ['echo hi | agentserve chat echo --json | head -1', '0 0 0', /^{"type":"run_start",.*}\n$/, nothing],
  ['agentserve chat long -m x | head -1', '0 0', /^line 0\n$/, nothing],
  ['agentserve chat long -m x --json | head -1', '0 0', /^{"type":"run_start",.*}\n$/, nothing],
  ['agentserve sessions list --json | head -1', '0 0', /^{"session_id":".*}\n$/, nothing],
  ['agentserve sessions list --limit 100 --json | head -1', '0 0', /^{"session_id":".*}\n$/, nothing],
  ['agentserve sessions --json | head -1', '0 0', /^{"session_id":".*}\n$/, nothing],
  ['agentserve sessions | head -1', '0 0', /^SESSION +AGENT/, /^There are more sessions\. .*\n$|^$/],
  ['echo hi | agentserve chat fails', '0 1', /^half\n$/, /^The agent threw an error/],
  [
    'echo hi | agentserve chat nobody',
    '0 1',
    nothing,
    /^agent not found: nobody\n`agentserve agents` lists the agents\.\n$/,
  ],
  ['echo hi | agentserve chat nobody --json', '0 1', nothing, /^agent not found: nobody/],
  ['echo hi | agentserve chat echo --key wrong', '0 1', nothing, giveKey],
  ['agentserve sessions list --json --key wrong | head -1', '1 0', nothing, giveKey],
  ['agentserve sessions show s1 --key wrong', '1', nothing, giveKey],
  ['agentserve users erase "" --yes', '2', nothing, /^Name the user/],
  ['echo hi | agentserve chat echo --url http://127.0.0.1:9', '0 1', nothing, noAnswer],
  ['agentserve sessions list --json --url http://127.0.0.1:9 | head -1', '1 0', nothing, noAnswer],
  ['agentserve sessions --url http://127.0.0.1:9', '1', nothing, noAnswer],
  ['agentserve sessions show nobody', '1', nothing, /nobody/],
  ['agentserve sessions browse', '2', nothing, /^sessions browse needs a terminal\. Use sessions list instead\.\n$/],
  ['agentserve sessions burn', '2', nothing, /Allowed choices are browse, list/],
])('%s', async (line, codes, stdout, stderr) => {
  const seen = await shell(line)
  expect(seen.stdout).toMatch(stdout)
  expect(seen.stderr).toMatch(stderr)
  expect(seen.codes).toBe(codes)
})
