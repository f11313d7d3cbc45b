import { ConfigError } from '../../config/config-error.ts'
import type { ResolvedConfig } from '../../config/types.ts'
import { loadVectors } from '../../server/served/libraries.ts'
import { describeError, UsageError } from '../command/exit.ts'
import { exit } from '../command/exit-codes.ts'
import { addProjectFlags, type ProjectOptions } from '../command/flags.ts'
import type { CommandContext, CommandModule } from '../command/module.ts'
import { withClient } from '../connect/connect.ts'
import { findDataFolder, loadProject, type Project } from '../connect/project.ts'
import { findRunningServer } from '../connect/running-server.ts'
import { count } from '../terminal/count.ts'
import { terminalLogger } from '../terminal/logger.ts'
import { print, printJson } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { terminalText } from '../terminal/text.ts'
import { checkDatabase } from './doctor/database.ts'
import { type Finding, ok, warning, wrong } from './doctor/finding.ts'
import { checkDisk, checkLibrary, checkNode } from './doctor/machine.ts'
import {
  checkModels,
  checkReranker,
  checkSentenceModel,
  checkTransformers,
  checkTransformersPackage,
} from './doctor/models.ts'
import {
  checkAgUi,
  checkCards,
  checkChat,
  checkFolder,
  checkMcp,
  checkOpenAI,
  checkPort,
  existing,
} from './doctor/project.ts'
import { checkStorage, compactStorage } from './doctor/storage.ts'
import { checkTelemetry } from './doctor/telemetry.ts'
import { acceptTools, checkTools } from './doctor/tools.ts'
import { checkTriggers } from './doctor/triggers.ts'

interface DoctorOptions extends ProjectOptions {
  check?: boolean
  compact?: boolean
  acceptTools?: string
}

export const command: CommandModule<DoctorOptions> = {
  define: (command) =>
    void addProjectFlags(command)
      .option('--check', 'read every database completely and report damage')
      .option('--compact', 'rewrite the databases without free space; no server may be running')
      .option('--accept-tools <entry>', "accept the changed MCP tools of this entry of an agent's `tools`"),
  async run(context, options) {
    let worst: number = exit.ok
    for await (const finding of findingsOf(context, options)) {
      if (finding.state === 'wrong') worst = exit.failure
      if (options.json) printJson(finding)
      else print(format(finding))
    }
    return worst
  },
}

function findingsOf(context: CommandContext, options: DoctorOptions): AsyncGenerator<Finding> {
  const { acceptTools: entry, check, compact } = options
  const named = [entry !== undefined, check, compact].filter(Boolean)
  if (named.length > 1)
    throw new UsageError("--check, --compact and --accept-tools can't be combined. Use one of them.")
  if (entry !== undefined) return accept(context, options, entry)
  if (check) return checkAll(context, options)
  return compact ? withConfig(context, options, compactStorage) : examine(context, options)
}

/** Closes the project afterwards. */
async function* withConfig(
  { signal }: CommandContext,
  options: ProjectOptions,
  find: (config: ResolvedConfig) => AsyncGenerator<Finding>,
): AsyncGenerator<Finding> {
  const { config } = await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), { signal })
  try {
    yield* find(config)
  } finally {
    await config.dispose?.()
  }
}

async function* checkAll(context: CommandContext, options: ProjectOptions): AsyncGenerator<Finding> {
  let isSound = true
  for await (const finding of withConfig(context, options, (config) => checkAllStorage(config, true))) {
    isSound &&= finding.state !== 'wrong'
    yield finding
  }
  // Opening the knowledge base opens the sessions too.
  if (isSound) yield* checkKnowledge(context, options)
}

async function* checkAllStorage(config: ResolvedConfig, whole: boolean): AsyncGenerator<Finding> {
  yield* checkDatabase(config, whole)
  yield* checkStorage(config, whole)
}

async function* examine(context: CommandContext, options: ProjectOptions): AsyncGenerator<Finding> {
  yield checkNode()
  yield await checkLibrary('sqlite3', 'keeps sessions')
  yield await checkLibrary('LanceDB', 'keeps vectors', loadVectors)
  yield checkTransformersPackage()
  const dataFolder = await findDataFolder(options)
  const running = await findRunningServer(dataFolder)
  yield await checkFolder(dataFolder, running)
  const folder = await existing(dataFolder)
  yield await checkDisk(folder)
  const project = await readConfig(options, context.signal)
  if (!('config' in project)) return yield project
  const { config } = project
  yield ok('config', `${config.file ?? 'none'}: ${[...config.entities.keys()].join(', ') || 'no agents yet'}`)
  yield await checkPort(config.server, running)
  yield checkCards(config.server, running)
  yield checkChat(config.server, running)
  yield checkAgUi(config.server, running)
  yield checkOpenAI(config.server, running)
  yield checkMcp(config.server, running)
  yield* checkTelemetry(config)
  yield* checkTriggers(config)
  yield* await checkModels(config, context.signal)
  yield* await checkSentenceModel(config)
  yield* await checkReranker(config)
  yield* checkTools(config, context.signal)
  let isSound = true
  for await (const finding of checkAllStorage(config, false)) {
    isSound &&= finding.state !== 'wrong'
    yield finding
  }
  await config.dispose?.()
  if (isSound && folder === dataFolder) yield* checkKnowledge(context, options)
}

function accept(context: CommandContext, options: ProjectOptions, entry: string): AsyncGenerator<Finding> {
  return withConfig(context, options, (config) => acceptTools(config, entry, context.signal))
}

async function readConfig(options: ProjectOptions, signal: AbortSignal): Promise<Project | Finding> {
  try {
    return await loadProject(options, { data: options.data }, terminalLogger({ quiet: true }), { signal })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return wrong('config', describeError(error), 'fix what the message says')
  }
}

async function* checkKnowledge(context: CommandContext, options: ProjectOptions): AsyncGenerator<Finding> {
  try {
    const { documents, chunks, vectors, pending, embedding_model } = await withClient(
      options,
      context,
      ({ knowledge }) => knowledge.status({ signal: context.signal }),
    )
    const counts = [count(documents, 'document'), count(chunks, 'chunk'), count(vectors, 'vector')].join(', ')
    if (embedding_model.provider === 'transformers') yield await checkTransformers(embedding_model)
    if (pending === 0 && chunks === vectors) yield ok('knowledge', counts)
    else
      yield warning(
        'knowledge',
        `${counts}; ${count(pending, 'document')} without vectors`,
        'agentserve knowledge reindex',
      )
  } catch (error) {
    yield wrong('knowledge', describeError(error), 'follow the message')
  }
}

function format(finding: Finding): string {
  const { check, state, message } = finding
  const paint = paintFor(process.stdout)
  const colour = { ok: paint.green, warning: paint.yellow, wrong: paint.red }[state]
  const text = finding.state === 'ok' ? message : `${message}\n→ ${finding.fix}`
  return `${colour(state.padEnd(8))} ${check.padEnd(11)} ${terminalText(text).replaceAll('\n', `\n${' '.repeat(21)}`)}`
}
