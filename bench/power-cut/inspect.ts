import { mkdir, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { sqliteStore } from '../../src/store/sessions/sqlite/store.ts'
import { type Project, type RunningServer, serve } from '../../test/support/program.ts'
import type { Files } from './disk.ts'
import type { Answered } from './recording.ts'

export interface Finding {
  /** Answered runs that are not there as they were answered. */
  lost: string[]
  /** Why the file is no sound database. */
  corrupt: string[]
}

/** Writes what a cut has left into an empty folder and gives the path of the database there. */
export async function restore(files: Files, folder: string): Promise<string> {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  for (const [path, bytes] of files) await writeFile(join(folder, basename(path)), bytes)
  return join(folder, 'agentserve.db')
}

/** Opens it as the server does when it starts, and holds it against what clients were told. */
export async function inspect(path: string, answered: readonly Answered[]): Promise<Finding> {
  const finding: Finding = { lost: [], corrupt: [] }
  const store = sqliteStore({ path })
  try {
    await store.open()
    await store.recover('power-cut', new Date().toISOString())
    for (const one of answered) {
      const [run, session] = [await store.findRun(one.runId), await store.findSession(one.sessionId)]
      const said = (role: string) =>
        run?.messages.flatMap((message) => (message.role === role ? message.content : [])).join('')
      const asked = run?.messages.some(({ message_id }) => message_id === one.messageId)
      if (run === undefined) finding.lost.push(`${one.runId} is not there`)
      else if (run.status !== 'completed') finding.lost.push(`${one.runId} is ${run.status}`)
      else if (session === undefined) finding.lost.push(`${one.sessionId} is not there`)
      else if (!asked || said('user') !== one.sent) finding.lost.push(`${one.runId} lacks its message`)
      else if (said('assistant') !== one.received) finding.lost.push(`${one.runId} lacks its answer`)
    }
    await store.check()
  } catch (error) {
    finding.corrupt.push(String(error))
  } finally {
    await store.close()
  }
  finding.corrupt.push(...(await complaints(path)))
  return finding
}

async function complaints(path: string): Promise<string[]> {
  try {
    using database = new DatabaseSync(path)
    const said = database
      .prepare('PRAGMA integrity_check')
      .all()
      .map((row) => String(row.integrity_check))
    const foreign = database
      .prepare('PRAGMA foreign_key_check')
      .all()
      .map((row) => `no parent: ${JSON.stringify(row)}`)
    return [...said.filter((text) => text !== 'ok'), ...foreign]
  } catch (error) {
    return [String(error)]
  }
}

/** The same question to the built program, started on that folder. */
export async function inspectProgram(
  project: Project,
  configFile: string,
  folder: string,
  answered: readonly Answered[],
): Promise<Finding> {
  const finding: Finding = { lost: [], corrupt: [] }
  let server: RunningServer
  try {
    server = await serve(project, 'start', ['--config', configFile, '--data', folder])
  } catch (error) {
    finding.corrupt.push(String(error))
    return finding
  }
  try {
    for (const { runId, received } of answered) {
      const answer = await fetch(`${server.url}/api/v1/runs/${runId}`)
      const run = (await answer.json()) as { status?: string; content?: string }
      if (run.status !== 'completed' || run.content !== received)
        finding.lost.push(`${runId}: ${answer.status}, ${run.status}`)
    }
  } finally {
    await server.kill()
  }
  return finding
}
