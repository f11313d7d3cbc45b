import { createHash } from 'node:crypto'
import type { ToolSet } from 'ai'
import type { Client } from '../../client/client.ts'
import { hopsHeader, hopsOf, maxHops } from '../../core/access/hops.ts'
import { type Duration, parseDuration } from '../../core/duration.ts'
import { AppError, isAppError, messageOf } from '../../core/error.ts'
import { shownBytes, type ToolResultLimits } from '../../core/limits.ts'
import { markRunnable, type RunContext, type RunInput, type Runnable } from '../../core/runnable.ts'
import { loadSdk } from '../base/sdk.ts'
import { checkSettings, duration, isObject, oneOf, wrong } from '../base/setting-check.ts'
import { noLimits } from '../limits/bounded.ts'
import { toolSource } from './source.ts'
import { textInput } from './text-input.ts'

export interface RemoteAgentSettings {
  /** The other server, `http://host:8080`. */
  url: string
  /** What it calls the agent, team or workflow. */
  agentId: string
  /** Sent as a bearer token. */
  apiKey?: string
  headers?: Record<string, string>
  /** Shown in lists; default: `agentId`. */
  name?: string
  /** What it is good for: a model that may use it reads this. */
  description?: string
  /** Until its answer begins; default 10 minutes, since its model may have to be loaded. Limit of a background run too. */
  timeout?: Duration
  /** `keep` (default): one session there for each session here; `new`: a session for each call. */
  session?: 'keep' | 'new'
  /** Where the other server has A2A; default `/api/v1/a2a`. */
  a2aPrefix?: string
}

/** An entity, a member of a team, and a tool of an agent. */
export type RemoteAgent = Runnable<'agent'> & ToolSet[string]

const defaultTimeoutMs = 600_000

/**
 * An agent of another server that speaks A2A: its answer is streamed as it comes, and a run that ends here ends there.
 * Wrong settings throw `invalid_request` naming the key; nothing is connected before the first run.
 */
export function remoteAgent(settings: RemoteAgentSettings): RemoteAgent {
  checkSettings('remoteAgent()', settings, {
    url: address,
    agentId: 'string',
    apiKey: 'string',
    headers: textByName,
    name: 'string',
    description: 'string',
    timeout: duration,
    session: oneOf('keep', 'new'),
    a2aPrefix: 'string',
  })
  if (settings.url === undefined) throw wrong('url', 'remoteAgent(): `url` is missing')
  if (settings.agentId === undefined || settings.agentId === '') {
    throw wrong('agentId', 'remoteAgent(): `agentId` is missing')
  }
  const call = createCall(settings)
  const { name = settings.agentId, description } = settings
  const entity = markRunnable({
    kind: 'agent',
    name,
    ...(description === undefined ? {} : { description }),
    tools: [],
    knowledge: false,
    sideEffects: true,
    timeoutMs: parseDuration(settings.timeout),
    run: (input, context) => call(input, context, context.entityId),
  } satisfies Runnable<'agent'>)
  return toolSource(entity, {
    outside: true,
    names: (key) => [key],
    open: async (key, context, { limits = noLimits }) => [
      { name: key, own: key, tool: await asTool(call, key, settings, context, limits.toolResult) },
    ],
  })
}

type Call = (input: RunInput, context: RunContext, place: string) => AsyncGenerator<string>

async function asTool(
  call: Call,
  key: string,
  settings: RemoteAgentSettings,
  context: RunContext,
  { recordBytes }: ToolResultLimits,
): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  const { agentId, description = `Asks the agent '${agentId}'.` } = settings
  return tool({
    description,
    inputSchema: await textInput('message', 'What to say to it, with all that it needs to know.'),
    async execute({ message }, { abortSignal = context.signal }) {
      let text = ''
      let bytes = 0
      const input: RunInput = { parts: [{ type: 'text', text: message }], text: message }
      for await (const piece of call(input, { ...context, signal: abortSignal }, `${context.entityId} ${key}`)) {
        text += piece
        bytes += Buffer.byteLength(piece) || 1
        if (bytes <= recordBytes) continue
        const most = shownBytes(recordBytes)
        const way = 'Ask it for less, or raise `server.limits.toolResult.record`'
        throw new AppError(
          'run_failed',
          `${whereIs(settings)}: its answer has more than ${most}, the limit \`toolResult.record\`. ${way}.`,
        )
      }
      return text
    },
  })
}

function createCall(settings: RemoteAgentSettings): Call {
  const { agentId, url, session = 'keep' } = settings
  const timeoutMs = parseDuration(settings.timeout) ?? defaultTimeoutMs
  const where = whereIs(settings)
  let opening: Promise<Client> | undefined
  const open = () => {
    opening ??= import('../../client/client.ts').then(({ createClient }) =>
      createClient({ url, apiKey: settings.apiKey, headers: settings.headers, a2aPrefix: settings.a2aPrefix }),
    )
    return opening
  }
  return async function* (input, context, place) {
    const { signal } = context
    const hops = hopsOf(context.metadata) + 1
    if (hops > maxHops) {
      throw new AppError(
        'run_failed',
        `${where} was not called: the request has already passed through ${hops} servers. Do they call each other in a circle?`,
      )
    }
    const contextId = session === 'new' ? undefined : sessionThere(context.sessionId, place, settings)
    try {
      const { a2a } = await open()
      const content = input.parts.map((part) =>
        part.type === 'text'
          ? { type: 'text' as const, content: part.text }
          : { type: 'data' as const, data: JSON.stringify(part.data) },
      )
      const headers = { [hopsHeader]: String(hops) }
      for await (const event of await a2a.stream({ agentId, content, contextId }, { signal, timeoutMs, headers })) {
        if (event.type === 'content') {
          if (typeof event.content !== 'string') throw new AppError('run_failed', 'it sent content that is not text')
          yield event.content
        }
        if (event.type === 'error') throw new AppError('run_failed', event.message)
      }
    } catch (error) {
      signal.throwIfAborted()
      // What the other server refuses is no fault of our client.
      const why = isAppError(error) && error.code === 'unauthorized' ? 'it refused the `apiKey`' : messageOf(error)
      throw new AppError('run_failed', `${where}: ${why}`, { cause: error })
    }
  }
}

function whereIs({ agentId, url }: RemoteAgentSettings): string {
  return `The remote agent '${agentId}' at ${new URL(url).host}`
}

/** Another one for each place that calls: two that waited for each other in one session would wait for ever. */
function sessionThere(sessionId: string, place: string, { url, agentId }: RemoteAgentSettings): string {
  const hash = createHash('sha256').update(JSON.stringify([sessionId, place, url, agentId]))
  return `remote:${hash.digest('base64url').slice(0, 32)}`
}

function address(value: unknown): string | undefined {
  return typeof value === 'string' && URL.canParse(value) && /^https?:/.test(value)
    ? undefined
    : "must be an address like 'http://127.0.0.1:8080'"
}

function textByName(value: unknown): string | undefined {
  return isObject(value) && Object.values(value).every((item) => typeof item === 'string')
    ? undefined
    : 'must be an object of texts'
}
