import { cp, mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { command, createProject, root, serve } from '../program.ts'

/*
 * Writes a small data folder as a version of agentserve leaves it, for test/fixtures/data-folders, which every later version
 * must open: `node test/support/data-folder/write.ts <folder> [<checkout of that version, built>]`. Whoever adds to the record
 * adds to what is done here, and adds a folder.
 */

const [to, checkout = root] = process.argv.slice(2)
if (to === undefined) throw new Error('Name the folder to write.')

const project = {
  ...(await createProject({ 'docs/wombat.md': '# Wombats\n\nWombats dig burrows in the evening.\n' })),
  bin: join(resolve(checkout), 'bin/agentserve.js'),
}
const config = [
  '--config',
  join(resolve(checkout), 'test/support/data-folder/agent.config.ts'),
  '--data',
  join(project.folder, 'data'),
]
await command(project, ['ingest', 'docs', ...config])
const server = await serve(project, 'start', config)

async function post(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, string>
}

await post('/sessions', { session_id: 'kept', user_id: 'ann', agent_id: 'echo', name: 'Kept', state: { count: 1 } })
await post('/agents/echo/run', { input: 'remember the heron', session_id: 'kept', user_id: 'ann', metadata: { a: 1 } })
await post('/agents/echo/run', { input: 'and the ibis', session_id: 'kept' }, { 'idempotency-key': 'once' })
const file = { type: 'file', media_type: 'text/plain', name: 'bird.txt', data: btoa('a file about the egret') }
await post('/agents/echo/run', { input: { parts: [{ type: 'text', text: 'see' }, file] }, session_id: 'kept' })
const wrong = await post('/agents/echo/run', { input: 'the wrong bittern', session_id: 'kept' })
const right = { input: 'the right bittern', session_id: 'kept', replaces: wrong.run_id }
await post('/agents/echo/run', { ...right, history: [{ role: 'user', content: 'told of the crane' }] })
const asked = await post('/agents/asking/run', { input: 'may the stork nest?', session_id: 'kept' })
await post('/sessions/kept/summary', {})
await post('/sessions/kept/reuse', { user_id: 'bob' })
// A handover deletes those of before.
await post(`/a2a/agents/asking/tasks/${asked.run_id}/pushNotificationConfigs`, {
  ...{ id: 'kept', url: 'http://127.0.0.1:9/hook', token: 'the egret' },
  authentication: { scheme: 'Bearer', credentials: 'the crane' },
})
await post('/agents/slow/run', { input: 'cut short', background: true })
await fetch(`${server.url}/api/v1/messages?q=heron`)
await post('/sessions', { session_id: 'watched', user_id: 'eve', agent_id: 'watched' })
const question = { input: 'When do wombats dig burrows?', session_id: 'watched', user_id: 'eve' }
const watched = await post('/agents/watched/run', question)
await post(`/runs/${watched.run_id}/resume`, { approved: false, input: 'not that disk' })
await post(`/runs/${watched.run_id}/again`, { after: 'recorded', keep: 'no' })
for (let running = 1; running > 0; ) {
  const tries = await fetch(`${server.url}/api/v1/runs?session_id=watched&again=true&status=running`)
  running = ((await tries.json()) as { count: number }).count
}
const told = await post('/agents/remembering/run', { input: 'feeds the heron', user_id: 'ann' })
await fetch(`${server.url}/api/v1/sessions/${told.session_id}`, { method: 'DELETE' })
await server.stop()
await rm(resolve(to), { recursive: true, force: true })
await mkdir(resolve(to, '..'), { recursive: true })
await cp(join(project.folder, 'data'), resolve(to), {
  recursive: true,
  filter: (path) => !/(lock\.db|server\.json|temporary)$/.test(path),
})
await project.remove()
