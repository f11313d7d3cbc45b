import { setTimeout as sleep } from 'node:timers/promises'
import { background, type Client, fragments, runToEnd, sessionRequest } from './asking.ts'
import type { Balanced } from './balanced.ts'
import { newRun } from './told.ts'

/* Clients of what is around runs: files, searches, summaries, replaced turns, teams, and sessions that are deleted. */

/** A run of the echo in a session of its own. Undefined: it did not come to its end. */
async function say(client: Balanced, name: string, text: string, more: object = {}): Promise<string | undefined> {
  const created = await client.ask('create', sessionRequest(name))
  if (created?.status !== 201) return undefined
  const run = client.told.run(name, 'echo', name)
  const status = await runToEnd(client, run, text, { input: text, ...more })
  return status === 'completed' ? run.runId : undefined
}

/** What was said can be found by its words at once, wherever that is asked for. */
const search: Client = async (client, name) => {
  const word = `needle${name.replaceAll(/\W/g, 'x')}`
  const runId = await say(client, name, `Find the ${word} here`)
  if (runId === undefined) return
  const found = await client.ask('search', { path: `/messages?q=${word}` })
  if (found === undefined) return
  const runs = new Set(found.body?.messages?.map((message: { run_id: string }) => message.run_id))
  if (found.status !== 200 || runs.size !== 1 || !runs.has(runId))
    client.told.wrong(`${name} (${runId}) is not found by its words: ${JSON.stringify(found.body)?.slice(0, 300)}`)
}

const file: Client = async (client, name) => {
  const content = `The content of ${name}. `.repeat(50)
  const part = { type: 'file', media_type: 'text/plain', name: 'a.txt', data: Buffer.from(content).toString('base64') }
  const runId = await say(client, name, 'see', { input: { parts: [{ type: 'text', text: 'see' }, part] } })
  if (runId === undefined) return
  const found = await client.ask('get', { path: `/runs/${runId}` })
  const fileId = found?.body?.messages?.[0]?.parts?.[1]?.file_id
  const path = `/sessions/${name}/files/${fileId}`
  client.told.files.set(path, content)
  const read = await client.ask('file', { path })
  if (read !== undefined && read.body !== content) client.told.wrong(`the file of ${name} is ${read.status}`)
}

/** Made in the background, by whichever instance, also when the first one dies over it. */
const summary: Client = async (client, name) => {
  if ((await say(client, name, `Something about ${name}.`)) === undefined) return
  const asked = await client.ask('summary', { path: `/sessions/${name}/summary?async=true`, body: {} })
  if (asked?.status !== 202) return client.told.wrong(`a summary of ${name} is ${asked?.status}`)
  const fromMs = performance.now()
  while (performance.now() - fromMs < 75_000 && !client.told.over) {
    const found = await client.ask('get summary', { path: `/sessions/${name}/summary` })
    if (found?.status === 200) return
    await sleep(300)
  }
  client.told.wrong(`the summary of ${name} was never made`)
}

/** A turn takes the place of another, and the history has only that. */
const replace: Client = async (client, name) => {
  const first = await say(client, name, 'first')
  if (first === undefined) return
  const run = client.told.run(`${name}-again`, 'echo', name)
  const status = await runToEnd(client, run, 'second', { input: 'second', replaces: first })
  if (status !== 'completed') return
  const found = await client.ask('history', { path: `/sessions/${name}/history` })
  const turns = found?.body?.messages?.flatMap((message: { role: string; run_id: string }) =>
    message.role === 'user' ? message.run_id : [],
  )
  if (found !== undefined && `${turns}` !== `${run.runId}`)
    client.told.wrong(`the history of ${name} has ${turns}, not ${run.runId} alone`)
}

/** Runs inside a run, which end with it. */
const team: Client = async (client, name) => {
  const run = client.told.run(name, 'pair')
  const text = `10 10 ${name}`
  const expected = `${text}\n\nAnswers of the team so far:\n\nAnswer of ticking:\n${fragments(10)}`
  const status = await runToEnd(client, run, expected, { input: text })
  // Those of one that was cut off are ended one after the other.
  if (status !== 'completed') return
  const found = await client.ask('children', { path: `/runs?parent_run_id=${run.runId}` })
  const ends: string[] = found?.body?.runs?.map((child: { status: string }) => child.status) ?? []
  if (found !== undefined && `${ends}` !== 'completed,completed')
    client.told.wrong(`${name} (${run.runId}) is completed, and the runs in it are ${ends}`)
}

/** Deleted with what runs and waits in it, wherever that is. What was said to be deleted never comes back. */
const remove: Client = async (client, name) => {
  const { told } = client
  const created = await client.ask('create', sessionRequest(name))
  if (created?.status !== 201) return
  const paths = [`/sessions/${name}`]
  for (const turn of ['one', 'two']) {
    // Not one of those that must be there in the end.
    const run = newRun(`${name}-${turn}`, 'ticking', name)
    const runId = await background(client, run, `300 10 ${run.name}`)
    if (runId !== undefined) paths.push(`/runs/${runId}`)
  }
  let isUncertain = false
  const deleted = await client.ask('delete', { path: `/sessions/${name}`, method: 'DELETE' }, () => {
    isUncertain = true
  })
  if (deleted === undefined) return
  if (deleted.status !== 200 && !(deleted.status === 404 && isUncertain))
    return told.wrong(`deleting ${name} got ${deleted.status} ${JSON.stringify(deleted.body)?.slice(0, 300)}`)
  for (const path of paths) {
    told.deleted.add(path)
    const found = await client.ask('get deleted', { path })
    if (found !== undefined && found.status !== 404) told.wrong(`${path} is ${found.status} after it was deleted`)
  }
}

export const conversations: Record<string, Client> = { search, file, summary, replace, team, remove }
