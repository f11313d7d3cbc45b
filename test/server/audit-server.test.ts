import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { resolveConfig } from '../../src/config/resolve.ts'
import type { AuditEntry } from '../../src/core/access/audit.ts'
import { configParts } from '../../src/server.ts'
import { sqliteStore } from '../../src/store/sessions/sqlite/store.ts'
import { type RunningTestServer, startServer } from '../support/server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/* Entries of the audit log that no request asks for. */

const audit = '/api/v1/audit'

test('a reload is in the log, and one that failed, each with the file of the config', async () => {
  const { call, server, folder: root, close } = await startServer()
  onTestFinished(close)
  const reloads = async () => {
    const { entries } = (await call('GET', `${audit}?action=config.reload`)).json
    return entries.map(({ caller, object_kind, object_id, outcome }: AuditEntry) =>
      [caller, object_kind, object_id, outcome].join(' '),
    )
  }
  const user = { server: { sessionStorage: 'memory' } } as const
  const file = join(root, 'agent.config.ts')
  await server.reload(resolveConfig({ user, file, root, purpose: 'library', parts: configParts }))
  await expect.poll(reloads).toEqual(['server file agent.config.ts ok'])
  server.reloadFailed({ message: 'It is broken.' })
  await expect.poll(reloads).toEqual(['server file agent.config.ts failed', 'server file agent.config.ts ok'])
})

test('wrong keys are in the log, also when the server ends within the minute that counts them', async () => {
  await using folder = await temporaryFolder()
  const path = join(folder.path, 'agentserve.db')
  const during = async (work: (server: RunningTestServer) => Promise<void>) => {
    const sessionStorage = { type: 'sqlite', path, synchronous: 'NORMAL' } as const
    const server = await startServer({ auth: { keys: ['the-key-of-operator'] }, sessionStorage })
    try {
      await work(server)
    } finally {
      await server.close()
    }
  }
  const as = (key: string) => ({ authorization: `Bearer ${key}` })
  await during(async ({ call }) => {
    for (let time = 0; time < 3; time++)
      expect((await call('GET', '/api/v1/me', undefined, as('a-key-that-is-wrong'))).status).toBe(401)
  })
  await during(async ({ call }) => {
    const { json, text } = await call('GET', `${audit}?action=key.refused`, undefined, as('the-key-of-operator'))
    const entry = { caller: 'anonymous', outcome: 'unauthorized', detail: { requests: 3, addresses: 1 } }
    expect(json.entries).toEqual([expect.objectContaining(entry)])
    expect(text).not.toContain('a-key-that-is-wrong')
  })
})

test('entries beyond their time go when a server starts, also those of a time when the log was on', async () => {
  for (const settings of [{ keep: '1d' }, { keep: '30d' }, false] as const) {
    await using folder = await temporaryFolder()
    const path = join(folder.path, 'agentserve.db')
    const sessionStorage = { type: 'sqlite', path, synchronous: 'NORMAL' } as const
    const day = 24 * 60 * 60_000
    const ages = { hour: day / 24, week: 7 * day, years: 800 * day }
    const store = sqliteStore({ path, synchronous: 'NORMAL' })
    await store.open()
    for (const [name, age] of Object.entries(ages)) await store.addAuditEntry(entryOf(name, Date.now() - age))
    const server = await startServer({ sessionStorage, audit: settings })
    const left = async () => (await store.listAuditEntries({}, { limit: 9 })).items.map(({ entry_id }) => entry_id)
    const expected = settings !== false && settings.keep === '1d' ? ['hour'] : ['hour', 'week']
    await expect.poll(left, { message: JSON.stringify(settings) }).toEqual(expected)
    await server.close()
    await store.close()
  }
})

function entryOf(name: string, atMs: number): AuditEntry {
  const at = new Date(atMs).toISOString()
  const nothing = { user_id: null, object_kind: null, object_id: null, request_id: null, detail: null }
  return { ...nothing, entry_id: name, at, action: 'backup', caller: 'desk', outcome: 'ok', server_id: 'srv_1' }
}
