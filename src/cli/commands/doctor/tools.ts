import type { ResolvedConfig } from '../../../config/types.ts'
import { silentLogger } from '../../../core/logger.ts'
import { counted } from '../../../core/text/format.ts'
import { nearest } from '../../../core/text/nearest.ts'
import { servedToolEntries } from '../../../server/served/tool-entries.ts'
import { describeError, UsageError } from '../../command/exit.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

const check = 'tools'

/** Lists the tools of every MCP server in use, as a run would. */
export async function* checkTools(config: ResolvedConfig, signal: AbortSignal): AsyncGenerator<Finding> {
  for (const { entityId, entry, check: ask } of servedToolEntries(config)) {
    const place = `${entityId}: ${entry}`
    try {
      const { from, tools, unknown } = await ask({ logger: silentLogger, signal })
      const changed = tools.filter(({ asks }) => asks !== undefined).map(({ own }) => own)
      if (changed.length === 0) yield ok(check, `${place}: ${counted(tools.length, 'tool')} of ${from}`)
      else {
        yield warning(
          check,
          `${place}: ${changed.join(', ')} of ${from} changed since they were first seen; every call now needs approval`,
          `agentserve doctor --accept-tools ${entry}, if you trust the change`,
        )
      }
      for (const sentence of unknown)
        yield warning(check, `${place}: ${sentence}`, 'correct the name; the agent does without this tool')
    } catch (error) {
      signal.throwIfAborted()
      yield wrong(
        check,
        `${place}: ${describeError(error)}`,
        'fix what the message says; until then, runs that need it fail',
      )
    }
  }
}

/** Accepts the current descriptions of an MCP server's tools. Throws UsageError when no agent uses the entry. */
export async function* acceptTools(
  config: ResolvedConfig,
  entry: string,
  signal: AbortSignal,
): AsyncGenerator<Finding> {
  const entries = servedToolEntries(config)
  const meant = entries.filter((one) => one.entry === entry)
  if (meant.length === 0) {
    const known = [...new Set(entries.map((one) => one.entry))]
    const hint = nearest(entry, known)
    const there = known.length === 0 ? 'no agent has one.' : `use one of ${known.join(', ')}.`
    throw new UsageError(
      `No agent has an MCP server under '${entry}' in its \`tools\`; ${hint === undefined ? there : `did you mean '${hint}'?`}`,
    )
  }
  for (const { entityId, check: ask } of meant) {
    const { from, tools, accept } = await ask({ logger: silentLogger, signal })
    const changed = tools.filter(({ asks }) => asks !== undefined).map(({ own }) => own)
    await accept()
    const what = changed.length === 0 ? 'none had changed' : `changed: ${changed.join(', ')}`
    yield ok(check, `${entityId}: ${entry}: the tools of ${from} are accepted (${what})`)
  }
}
