import { createHash } from 'node:crypto'
import type { ToolSet } from 'ai'
import type { z } from 'zod'
import type { A2AInput } from '../../client/a2a.ts'
import type { Client } from '../../client/client.ts'
import { hopsHeader, hopsOf, maxHops } from '../../core/access/hops.ts'
import { AppError, isAppError, messageOf } from '../../core/error.ts'
import type { DataEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import { shownBytes, type ToolResultLimits } from '../../core/limits.ts'
import { addToParts, type FilePart, lastDataOf, type Part, promptText, textOf } from '../../core/message.ts'
import { markRunnable, type RunContext, type RunInput, type Runnable } from '../../core/runnable.ts'
import { checkSettings } from '../../schema/check.ts'
import { address, duration, is, oneOf, settings as settingsOf, string, text, textByName } from '../../schema/field.ts'
import { loadSdk } from '../base/sdk.ts'
import { decodeBase64 } from '../files/inline.ts'
import { soundType } from '../files/model-files.ts'
import { noLimits } from '../limits/bounded.ts'
import { textTool } from './describe.ts'
import { toolSource } from './source.ts'
import { textInput } from './text-input.ts'

const remoteSettings = settingsOf({
  /** The other server, `http://host:8080`. */
  url: address(),
  /** The id of the agent, team or workflow on that server. */
  agentId: text(),
  /** Sent as a bearer token. */
  apiKey: is<string>('a text', (value) => typeof value === 'string', true).optional(),
  headers: textByName().optional(),
  name: string().optional(),
  /** Tells a model when to use it. */
  description: string().optional(),
  /** Until its answer begins (its model may load first), and of a background run; default 10 minutes. */
  timeout: duration().optional(),
  /** `keep` (default): one session there per session here; `new`: one per call. */
  session: oneOf(['keep', 'new']).default('keep'),
  /** The path of A2A on the other server; default `/api/v1/a2a`. */
  a2aPrefix: string().optional(),
})
export interface RemoteAgentSettings extends z.input<typeof remoteSettings> {}
type CheckedRemote = z.output<typeof remoteSettings>

type RemotePart = Exclude<A2AInput['content'], string>[number]

export type RemoteAgent = Runnable<'agent'> & ToolSet[string]

const defaultTimeoutMs = 600_000

/**
 * An agent of another server that speaks A2A. Its answer is streamed; a run that ends here is cancelled there. Connects
 * on the first run. Wrong settings throw `invalid_request` naming the key.
 */
export function remoteAgent(given: RemoteAgentSettings): RemoteAgent {
  const settings = checkSettings('remoteAgent()', remoteSettings, given)
  const call = createCall(settings)
  const { name = settings.agentId, description } = settings
  const entity = markRunnable({
    kind: 'agent',
    name,
    ...(description === undefined ? {} : { description }),
    tools: [],
    knowledge: false,
    sideEffects: true,
    timeoutMs: settings.timeout,
    run: (input, context) => call(input, context, context.entityId),
  } satisfies Runnable<'agent'>)
  return toolSource(entity, {
    outside: true,
    names: (key) => [key],
    describe: (key) => textTool(key, description ?? `Asks the agent '${settings.agentId}'.`, ...message),
    open: async (key, context, { limits = noLimits }) => [
      { name: key, own: key, tool: await asTool(call, key, settings, context, limits.toolResult) },
    ],
  })
}

type Call = (input: RunInput, context: RunContext, place: string) => AsyncGenerator<string | DataEvent | FilePart>

const message = ['message', 'What to say to it, with all that it needs to know.'] as const

async function asTool(
  call: Call,
  key: string,
  settings: CheckedRemote,
  context: RunContext,
  { recordBytes }: ToolResultLimits,
): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  const { agentId, description = `Asks the agent '${agentId}'.` } = settings
  return tool({
    description,
    inputSchema: await textInput(...message),
    async execute({ message }, { abortSignal = context.signal }) {
      const parts: Part[] = []
      let bytes = 0
      const input: RunInput = { parts: [{ type: 'text', text: message }], text: message }
      for await (const piece of call(input, { ...context, signal: abortSignal }, `${context.entityId} ${key}`)) {
        addToParts(parts, typeof piece === 'string' ? { type: 'text_delta', text: piece } : piece)
        bytes += Buffer.byteLength(typeof piece === 'string' ? piece : JSON.stringify(piece)) || 1
        if (bytes <= recordBytes) continue
        const most = shownBytes(recordBytes)
        const way = 'Ask it for less, or raise `server.limits.toolResult.record`'
        throw new AppError(
          'run_failed',
          `${whereIs(settings)}: its answer has more than ${most}, the limit \`toolResult.record\`. ${way}.`,
        )
      }
      if (parts.some(({ type }) => type === 'file'))
        return parts.map((part) => (part.type === 'data' ? part.data : part))
      return textOf(parts) === '' ? (lastDataOf(parts) ?? '') : promptText(parts)
    },
  })
}

function createCall(settings: CheckedRemote): Call {
  const { agentId, url, session, timeout: timeoutMs = defaultTimeoutMs } = settings
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
      const content: RemotePart[] = []
      for (const part of input.parts) content.push(await toRemotePart(part, context))
      const headers = { [hopsHeader]: String(hops) }
      const message = { agentId, content, contextId, markData: true }
      for await (const event of await a2a.stream(message, { signal, timeoutMs, headers })) {
        if (event.type === 'content') {
          if (typeof event.content !== 'string') throw new AppError('run_failed', 'it sent content that is not text')
          yield event.part === 'data' ? await toAnswer(parseData(event.content), context) : event.content
        }
        if (event.type === 'error') throw new AppError('run_failed', event.message)
      }
    } catch (error) {
      signal.throwIfAborted()
      // A limit of this run, which the files of the answer reached.
      if (isAppError(error) && error.code === 'run_limit') throw error
      // A refusal of the other server is no fault of our client.
      const why = isAppError(error) && error.code === 'unauthorized' ? 'it refused the `apiKey`' : messageOf(error)
      throw new AppError('run_failed', `${where}: ${why}`, { cause: error })
    }
  }
}

/** The dialect knows text and data: a file is data, with its content. */
async function toRemotePart(part: Part, { files }: RunContext): Promise<RemotePart> {
  if (part.type === 'text') return { type: 'text', content: part.text }
  if (part.type === 'data') return { type: 'data', data: JSON.stringify(part.data) }
  const { file_id, size: _size, url, ...file } = part
  if (file_id === undefined) return { type: 'data', data: JSON.stringify({ ...file, url }) }
  const bytes = await files.read(part)
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'data', data: JSON.stringify({ ...file, data }) }
}

/** Data that is a file part with its content or address is a file, which this run keeps. */
async function toAnswer(data: Json, { files }: RunContext): Promise<DataEvent | FilePart> {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || data.type !== 'file')
    return { type: 'data', data }
  const { media_type, name, data: content, url } = data
  const about = {
    media_type: soundType(typeof media_type === 'string' ? media_type : undefined) ?? 'application/octet-stream',
    ...(typeof name === 'string' && name !== '' && { name: name.slice(0, 255) }),
  }
  if (typeof content === 'string') {
    const bytes = decodeBase64(content)
    if (bytes === undefined) throw new AppError('run_failed', 'it sent a file that is not base64')
    return files.save({ ...about, bytes })
  }
  return typeof url === 'string' ? { type: 'file', ...about, url } : { type: 'data', data }
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new AppError('run_failed', 'it sent data that is not JSON', { cause })
  }
}

function whereIs({ agentId, url }: CheckedRemote): string {
  return `The remote agent '${agentId}' at ${new URL(url).host}`
}

/** Each caller gets its own session: two that wait for each other in one session would wait forever. */
function sessionThere(sessionId: string, place: string, { url, agentId }: CheckedRemote): string {
  const hash = createHash('sha256').update(JSON.stringify([sessionId, place, url, agentId]))
  return `remote:${hash.digest('base64url').slice(0, 32)}`
}
