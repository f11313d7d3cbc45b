import type { ResolvedConfig } from '../../config/types.ts'
import type { Logger } from '../../core/logger.ts'
import type { RunRecord } from '../../core/run.ts'
import type { OpenServer } from '../../server.ts'
import { isDumb } from '../terminal/has-terminal.ts'
import { readKeys } from '../terminal/keys.ts'
import { limitLines } from '../terminal/line-limit.ts'
import { terminalLogger } from '../terminal/logger.ts'
import { openBrowser } from '../terminal/open-browser.ts'
import { say } from '../terminal/output.ts'
import { paintFor } from '../terminal/paint.ts'
import { terminalText } from '../terminal/text.ts'
import { announce, type Bound, formatRow, servedIds, studioUrl } from './announce.ts'
import { type AskAgain, createAskAgain } from './ask-again.ts'
import { createFailures } from './failures.ts'
import { knowledgeState } from './knowledge-state.ts'
import { createModelCheck } from './model-check.ts'
import { createRunLines } from './run-lines.ts'

export interface DevTerminal {
  readonly logger: Logger
  onRunEnd(run: RunRecord): void
  /** Prints what is served and starts reading keys. */
  begin(serving: Serving): void
  reloaded(config: ResolvedConfig): void
  close(): Promise<void>
}

export interface DevTerminalOptions {
  json: boolean
  open: boolean
  again: boolean
}

export interface Serving {
  server: OpenServer
  config: ResolvedConfig
  bound: Bound
  watching: boolean
  reload: () => Promise<void>
}

const logLinesPerSecond = 20

/** The output and keys of `dev`: for a terminal with colours, else plain lines on stderr. */
export function createDevTerminal(options: DevTerminalOptions): DevTerminal {
  const paint = paintFor(process.stderr)
  const { stderr } = process
  let serving: Serving | undefined
  let again: AskAgain | undefined
  let stopKeys: (() => void) | undefined
  let knowledge: string | undefined

  const logLimit = limitLines(logLinesPerSecond, (counts) =>
    say(`… and more messages: ${[...counts].map(([level, count]) => `${count} ${level}`).join(', ')}`),
  )
  const failures = createFailures()
  const log = terminalLogger({
    places: true,
    print(text, level) {
      if (logLimit.take(level)) say(level === 'info' ? text : level === 'error' ? paint.red(text) : paint.yellow(text))
    },
  })
  const logger: Logger = {
    ...log,
    warn(fields, message) {
      if (!failures.take(fields, message)) log.warn(fields, message)
    },
  }
  const services = () => (serving as Serving).server.services
  const lines = createRunLines(services, say, () => ({ paint, columns: stderr.isTTY ? stderr.columns : undefined }))

  const models = createModelCheck((text, isWarning) => {
    say(isWarning ? paint.yellow(`warning: ${terminalText(text)}`) : formatRow('model', text, paint))
  })

  async function showKnowledge({ server, config }: Serving): Promise<void> {
    const state = await knowledgeState(server, config).catch(() => undefined)
    if (state === undefined || state === knowledge) return
    knowledge = state
    say(formatRow('knowledge', state, paint))
  }

  function openPage({ config, bound }: Serving): void {
    const page = studioUrl(config, bound.url) ?? `${bound.url}/docs`
    openBrowser(page, (reason) => say(`No browser was opened: ${reason}. The page is at ${page}`))
  }

  function onKey(key: string, now: Serving): void {
    if (key === 'o') openPage(now)
    else if (key === 'r') void now.reload()
    else if (key === 'a') again?.toggle()
    else if (key === 'c' && !isDumb()) stderr.write(`\x1b[2J\x1b[3J\x1b[H${paint.dim(keyHelp(now))}\n`)
    else if (key === 'q') process.emit('SIGTERM', 'SIGTERM')
    else if (key === 'h' || key === '?' || key === '\r') say(paint.dim(keyHelp(now)))
  }

  return {
    logger,
    onRunEnd(run) {
      lines.show(run, failures.of(run.run_id))
      again?.ended(run)
    },
    begin(now) {
      serving = now
      if (!options.json) announce(now.config, now.bound, say, paint)
      again = createAskAgain({ runs: services().runs, lines, print: say, paint, on: options.again })
      stopKeys = readKeys((key) => onKey(key, now))
      if (stopKeys !== undefined) say(paint.dim(keyHelp(now)))
      else if (now.watching && !options.json) say('Watching the config; Ctrl-C stops.')
      if (options.open) openPage(now)
      void showKnowledge(now)
      models.check(now.config)
    },
    reloaded(config) {
      if (serving === undefined) return
      if (servedIds(config) !== servedIds(serving.config)) say(formatRow('serving', servedIds(config), paint))
      serving = { ...serving, config }
      again?.edited()
      models.check(config)
      void showKnowledge(serving)
    },
    async close() {
      stopKeys?.()
      again?.close()
      logLimit.close()
      await models.close()
      await lines.close()
    },
  }
}

function keyHelp({ config, bound }: Serving): string {
  const page = studioUrl(config, bound.url) === undefined ? 'docs' : 'studio'
  return `o ${page}   r reload   a ask again   c clear   q quit`
}
