import type { RunningTestServer } from '../server.ts'

interface Begun {
  run_id: string
  session_id: string
}

interface Line {
  run?: { parent_run_id: string | null; started_at: string; created_at: string; completed_at: string; end_seq: number }
  events?: { seq: number; at: string }[]
}

const began = Date.UTC(2026, 0, 1)
const moment = (ms: number) => new Date(began + ms).toISOString()

/** The export of a session whose events follow each other after `everyMs`, whenever they really came. */
export async function pacedExport({ call }: RunningTestServer, sessionId: string, everyMs: number): Promise<string> {
  const { text } = await call('GET', `/api/v1/sessions/${sessionId}/export`)
  const lines = text.split('\n').map((line) => {
    if (line === '') return line
    const value = JSON.parse(line) as Line
    const { run, events } = value
    if (run !== undefined) {
      run.created_at = moment(0)
      run.started_at = moment(0)
      run.completed_at = moment((run.end_seq - 1) * everyMs)
    }
    // The last line has their number instead.
    for (const event of Array.isArray(events) ? events : []) event.at = moment((event.seq - 1) * everyMs)
    return JSON.stringify(value)
  })
  return lines.join('\n')
}

/** The same session at that pace, as another one on the server. */
export async function paced(server: RunningTestServer, sessionId: string, everyMs: number): Promise<Begun> {
  const text = await pacedExport(server, sessionId, everyMs)
  const type = { 'content-type': 'application/x-ndjson' }
  const { json } = await server.call('POST', '/api/v1/sessions/import?new_ids=true', text, type)
  const { json: listed } = await server.call('GET', `/api/v1/sessions/${json.session_id}/runs`)
  const run = listed.runs.find((one: { parent_run_id: unknown }) => one.parent_run_id === null)
  return { session_id: json.session_id, run_id: run.run_id }
}
