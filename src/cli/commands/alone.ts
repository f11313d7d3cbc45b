import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Client } from '../../client/client.ts'
import { findSampleQuestions } from '../../client/sample-questions.ts'
import { isAppError } from '../../core/error.ts'
import { createId } from '../../core/id.ts'
import { version } from '../../core/version.ts'
import { pause } from '../../runtime/abort.ts'
import { describeError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import type { CommandContext } from '../command/module.ts'
import { type Connection, connect } from '../connect/connect.ts'
import { findNamedServer } from '../connect/named-server.ts'
import { findDataFolder } from '../connect/project.ts'
import { hint } from '../terminal/called-as.ts'
import { hasTerminal } from '../terminal/has-terminal.ts'
import { say } from '../terminal/output.ts'
import { terminalLine } from '../terminal/text.ts'
import { documentsLine } from '../welcome/documents.ts'
import { type Entity, formatHeader } from '../welcome/header.ts'
import { wayToModel } from '../welcome/model-line.ts'
import { type Progress, Welcome } from '../welcome/welcome.ts'

const progressEveryMs = 100
const othersReadMs = 5_000

/**
 * The program without a command, in a terminal: a conversation with the first agent of the config or, without one, of this
 * folder's documents. Where that is of no use, `help` and why.
 */
export async function alone(context: CommandContext, help: () => void): Promise<number> {
  const folder = process.cwd()
  const { findConfigFile } = await import('../../config/load/load.ts')
  const [configFile, dataFolder] = await Promise.all([findConfigFile(folder), findDataFolder({})])
  const isNamed = findNamedServer({}) !== undefined
  const reason = configFile !== undefined || isNamed ? undefined : await whyNot(folder, dataFolder)
  if (reason !== undefined) {
    help()
    say(`\n${reason}`)
    return exit.ok
  }
  // Both take their time, one of them waiting.
  const ui = hasTerminal() ? import('../chat/terminal.tsx') : undefined
  ui?.catch(() => {})
  const connection = await connect({}, context)
  try {
    const [first, ...others] = (await connection.client.agents.list(undefined, { signal: context.signal })).agents
    if (first === undefined) {
      help()
      say(
        `\n${configFile === undefined ? 'The server' : terminalLine(relative(folder, configFile))} has no agents yet.`,
      )
      return exit.ok
    }
    const data = connection.url === undefined ? relative(folder, dataFolder) || dataFolder : connection.url
    const welcome = new Welcome({
      header: (sessionId) => ({
        title: `agentserve ${version}`,
        rows: formatHeader({
          first,
          others,
          sessionId,
          place: [connection.url === undefined ? 'data' : 'server', data],
        }),
      }),
      find: (progress, signal) => prepare(connection, first, configFile, progress, signal),
    })
    const { id: agentId, kind } = first
    if (ui === undefined) return await talkByLines(connection.client, agentId, welcome, context.signal)
    const { chatOnTerminal } = await ui
    return await chatOnTerminal(connection.client, {
      agentId,
      kind,
      sessionId: undefined,
      historyFile: join(dataFolder, 'chat-history.jsonl'),
      welcome,
      signal: context.signal,
    })
  } finally {
    await connection.close()
  }
}

/** On a terminal without escape codes: the same, in lines. */
async function talkByLines(client: Client, agentId: string, welcome: Welcome, signal: AbortSignal): Promise<number> {
  const sessionId = createId('ses')
  const { title, rows } = welcome.header(sessionId)
  say(`${title}\n${rows}`)
  const stop = () => void welcome.close()
  signal.addEventListener('abort', stop, { once: true })
  try {
    await welcome.begin(say, describeError)
    for (const [index, question] of welcome.get().questions.entries()) say(`${index + 1}  ${question}`)
    say('Type a question, or a number, and Enter. Ctrl-D leaves.')
    const { chatByLines } = await import('../chat/lines.ts')
    const standIn = (line: string) => welcome.answerTo(line)
    return await chatByLines(client, { agentId, sessionId, message: undefined, json: false, signal, standIn })
  } finally {
    signal.removeEventListener('abort', stop)
    await welcome.close()
  }
}

async function whyNot(folder: string, dataFolder: string): Promise<string | undefined> {
  const { builtInSources, isTooWide } = await import('../../config/built-in.ts')
  if (isTooWide(folder)) {
    return `To ask the documents of a project, start ${hint('').trim()} in its folder: a home folder is never read.`
  }
  if (builtInSources(folder).length > 0 || existsSync(dataFolder)) return undefined
  return `There are no documents here to ask: no docs/, no README, no .md, .mdx or .txt file. ${hint('init')} creates a project.`
}

/** Reads the documents, says which, and finds questions that they answer. */
async function prepare(
  connection: Connection,
  agent: Entity,
  configFile: string | undefined,
  progress: Progress,
  signal: AbortSignal,
): Promise<string[]> {
  const { client, own } = connection
  const told = agent.model === 'offline' ? tellOfModels(configFile, progress) : undefined
  try {
    if (!agent.knowledge) return []
    await readDocuments(connection, progress, signal)
    const line = await toldOnce(() => documentsLine(client, signal), own === undefined, signal)
    progress.say(line ?? `There are no documents yet. ${hint('ingest <paths>')} adds some.`)
    if (line === undefined) return []
    if (configFile === undefined && own !== undefined) await tellOfUnread(progress)
    const collection = await collectionOf(client, agent.id, signal)
    return (await findSampleQuestions(client, { collection, signal })).map(terminalLine)
  } finally {
    await told
  }
}

/** A server that has just started may still be reading: then until there is a document, for a few seconds. */
async function toldOnce(
  tell: () => Promise<string | undefined>,
  isElsewhere: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const end = performance.now() + (isElsewhere ? othersReadMs : 0)
  for (;;) {
    const line = await tell()
    if (line !== undefined || performance.now() >= end) return line
    await pause(progressEveryMs, signal)
  }
}

async function tellOfModels(configFile: string | undefined, progress: Progress): Promise<void> {
  const { modelAtHand } = await import('../../server/served/models.ts')
  progress.say(wayToModel(await modelAtHand(process.cwd()), configFile && relative(process.cwd(), configFile)))
}

async function tellOfUnread(progress: Progress): Promise<void> {
  const { unreadDocuments } = await import('../../config/built-in.ts')
  const unread = unreadDocuments(process.cwd())
  if (unread === undefined) return
  const sources = unread.sources.map((source) => `'${terminalLine(source)}'`).join(', ')
  const files = unread.count === 1 ? 'Another file of this folder is' : `${unread.count} more files of this folder are`
  progress.say(`${files} not read. With knowledge: { sources: [${sources}] } in agent.config.ts they are.`)
}

async function readDocuments(connection: Connection, progress: Progress, signal: AbortSignal): Promise<void> {
  const { own } = connection
  if (own === undefined) return connection.readSources(signal)
  const show = () => {
    const left = own.server.filesToCome()
    progress.reading(left === undefined ? 'Reading the documents …' : `Reading the documents … ${left} to come`)
  }
  const timer = setInterval(show, progressEveryMs)
  try {
    await connection.readSources(signal)
  } finally {
    clearInterval(timer)
    progress.reading(undefined)
  }
}

/** Undefined for the usual one, and for a key that may not know. */
async function collectionOf(client: Client, agentId: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    const { config } = await client.agents.get(agentId, { include: 'config', signal })
    return config.knowledge?.collection ?? undefined
  } catch (error) {
    if (isAppError(error) && (error.code === 'forbidden' || error.code === 'invalid_request')) return undefined
    throw error
  }
}
