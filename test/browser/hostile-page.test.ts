import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, rebindingName, type TestBrowser } from '../support/browser/browser.ts'
import { type HostileServer, startHostileServer, startSwitchboard } from './hostile-server.ts'
import { type Operation, secret, startVictim, type Victim } from './victim.ts'

interface Answer {
  operation: string
  way: string
  status: number
  text: string
}

const ways = { changing: 11, reading: 2 }
/** How many POSTs come for an operation: forms and beacons are always POST, JSON needs a preflight (a beacon's always fails). */
const posts = {
  blocked: { post: 9, other: 5 },
  allowed: { post: 10, other: 5 },
  sameOrigin: { post: 11, other: 6 },
}
type Standing = keyof typeof posts

let chromium: TestBrowser
let hostile: HostileServer
let victim: Victim

beforeAll(async () => {
  chromium = await openBrowser()
  hostile = await startHostileServer()
  victim = await startVictim()
})

afterAll(async () => {
  await Promise.all([chromium?.close(), hostile?.close(), victim?.close()])
})

test('every operation that changes something is under attack', () => {
  expect(victim.changing.map(({ id }) => id).toSorted()).toEqual(victim.knownBodies.toSorted())
})

test.each([
  ['on another port', '127.0.0.1', '/'],
  ['on another site', rebindingName, '/'],
  ['without an origin', '127.0.0.1', '/sandboxed'],
])('a page %s changes nothing and reads nothing', async (_where, host, path) => {
  const before = await victim.world()
  const { answers, arrived } = await attackFrom(`http://${host}:${hostile.port}${path}`, victim, 'blocked')
  expect(await victim.world()).toEqual(before)

  expect(answers.map(({ text }) => text).join('')).toBe('')
  const simple = arrived.filter(({ method }) => method !== 'OPTIONS' && method !== 'GET')
  expect(simple.filter(({ status }) => status !== 403)).toEqual([])
})

test('a page whose name has been bound to the server reads nothing but that it is refused', async () => {
  const before = await victim.world()
  const { answers, arrived } = await attackByRebinding(victim)
  expect(await victim.world()).toEqual(before)

  const read = answers.map(({ text }) => text).filter((text) => text !== '')
  expect(read.length).toBeGreaterThan(0)
  for (const text of read) expect(text).toContain('is not allowed')
  expect(read.join('')).not.toContain(secret)
  expect(arrived.filter(({ status }) => status !== 421)).toEqual([])
})

test('the same page does harm where its origin is allowed', async () => {
  const origin = `http://127.0.0.1:${hostile.port}`
  const attack = (open: Victim) => attackFrom(`${origin}/`, open, 'allowed')
  // Text in a form's own encoding is no document.
  await expectHarm({ allowOrigins: [origin] }, attack, posts.allowed.post - 1)
})

test('the same rebinding does harm where the name is allowed', async () => {
  await expectHarm({ allowHosts: [rebindingName] }, attackByRebinding, posts.sameOrigin.post - 1)
})

type Attack = (victim: Victim) => ReturnType<typeof attackFrom>

/** Each operation succeeds (but for the run, cancelled before, that can't be resumed), and shows. */
async function expectHarm(config: Parameters<typeof startVictim>[0], attack: Attack, documents: number): Promise<void> {
  const open = await startVictim(config)
  try {
    const before = await open.world()
    const { answers, arrived } = await attack(open)
    const after = await open.world()

    const succeeded = new Set(arrived.filter(({ status }) => status < 300).map(({ method, path }) => method + path))
    const refused = open.changing.filter(({ method, path }) => !succeeded.has(method + path)).map(({ id }) => id)
    // Push notifications are not supported, and the user has no fact of that id.
    const inVain = ['createPushOfA2AAgent', 'deleteFact', 'deletePushOfA2AAgent', 'resumeRun']
    expect(refused.toSorted()).toEqual(inVain)
    expect(after.schedules.schedules).toMatchObject([{ paused: true }])
    expect(answers.map(({ text }) => text).join('')).toContain(secret)

    const sources = (world: typeof before) => world.documents.documents.map(({ source }: { source: string }) => source)
    const added = sources(after).filter((source: string) => !sources(before).includes(source))
    const many = added.filter((source: string) => source.startsWith('many '))
    expect(many).toContain('many fetch cors json')
    expect(added.length - many.length).toBe(documents)
    expect(sources(after)).not.toContain(open.doomed.source)
    expect(after.sessions.sessions.length).toBeGreaterThan(before.sessions.sessions.length)
    const kept = after.sessions.sessions.find(({ session_id }: { session_id: string }) => session_id === 'kept')
    expect(kept).toMatchObject({ name: expect.stringContaining('renamed by'), user_id: 'intruder' })
    expect(kept.summary).not.toBeNull()
    const ids = (records: Record<string, string>[], field: string) => records.map((record) => record[field])
    expect(ids(after.sessions.sessions, 'session_id')).not.toContain('doomed')
    expect(ids(after.sessions.sessions, 'session_id')).not.toContain('theirs')
    expect(kept.shared_with.agent_ids).not.toContain('earlier')
    expect(after.runs.runs.length).toBeGreaterThan(before.runs.runs.length)
    const running = after.runs.runs.find(({ run_id }: { run_id: string }) => run_id === open.doomed.run)
    expect(running.status).toBe('cancelled')
  } finally {
    await open.close()
  }
}

async function attackByRebinding(target: Victim) {
  const switchboard = await startSwitchboard(hostile.port)
  try {
    const url = `http://${rebindingName}:${switchboard.port}`
    return await attackFrom(`${url}/`, target, 'sameOrigin', { url, begin: () => switchboard.connectTo(target.port) })
  } finally {
    await switchboard.close()
  }
}

/** Lets the page at this address try everything; resolves when all that it sent has been answered. */
async function attackFrom(
  page: string,
  target: Victim,
  standing: Standing,
  { url = target.url, begin = () => {} } = {},
) {
  const context = await chromium.browser.newContext()
  try {
    const first = target.arrived.length
    const tab = await context.newPage()
    await tab.goto(page)
    begin()
    const operations = JSON.stringify([...target.reading, ...target.changing])
    const answers: Answer[] = await tab.evaluate(`attack('${url}', ${operations})`)
    await target.until((all) => target.changing.every((operation) => hasArrived(operation, all.slice(first), standing)))
    expect(answers.length).toBe(target.changing.length * ways.changing + target.reading.length * ways.reading)
    return { answers, arrived: target.arrived.slice(first) }
  } finally {
    await context.close()
  }
}

function hasArrived({ method, path }: Operation, requests: Victim['arrived'], standing: Standing): boolean {
  const { post, other } = posts[standing]
  const found = requests.filter((request) => request.method === 'POST' && request.path === path)
  return found.length >= (method === 'POST' ? post : other)
}
