import type { ToolSet } from 'ai'
import type { z } from 'zod'
import { AppError } from '../../core/error.ts'
import { shownBytes, type ToolResultLimits } from '../../core/limits.ts'
import { addToParts, lastDataOf, type Part, promptText, textOf } from '../../core/message.ts'
import { markRunnable, type RunContext, type RunInput, type Runnable } from '../../core/runnable.ts'
import { checkSettings } from '../../schema/check.ts'
import {
  address,
  duration,
  is,
  list,
  oneOf,
  settings as settingsOf,
  string,
  text,
  textByName,
} from '../../schema/field.ts'
import { askEntity } from '../base/ask-scope.ts'
import { contextHere } from '../base/run-context.ts'
import { loadSdk } from '../base/sdk.ts'
import { noLimits } from '../limits/bounded.ts'
import { type Call, createCall } from '../remote/call.ts'
import { hashOf } from '../remote/objects.ts'
import { peerTalk } from '../remote/peer.ts'
import { simpleTalk } from '../remote/simple.ts'
import { textTool } from './describe.ts'
import { toolSource } from './source.ts'
import { textInput } from './text-input.ts'

const remoteSettings = settingsOf({
  /** With `agentId` an agentserve, `http://host:8080`; without it any A2A server, by whose card the agent is found. */
  url: address().optional(),
  /** In place of `url`: the address of the agent's card itself. */
  card: address().optional(),
  /** The id of the agent, team or workflow on an agentserve, which is then called in our own dialect. */
  agentId: text().optional(),
  /** Sent as a bearer token. */
  apiKey: is<string>('a text', (value) => typeof value === 'string', true).optional(),
  headers: textByName().optional(),
  /** Other origins than that of `url` or `card` to which a card may point; they get the key too. */
  origins: list(address()).optional(),
  name: string().optional(),
  /** Tells a model when to use it. */
  description: string().optional(),
  /** Until its answer begins (its model may load first), and of a background run; default 10 minutes. */
  timeout: duration().optional(),
  /** `keep` (default): one session there per session here; `new`: one per call. */
  session: oneOf(['keep', 'new']).default('keep'),
  /** The path of A2A on an agentserve; default `/api/v1/a2a`. */
  a2aPrefix: string().optional(),
}).superRefine(({ url, card, agentId, a2aPrefix, origins }, context) => {
  const issue = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (url === undefined && card === undefined) issue('url', 'is missing; give the address of the server, or `card`')
  if (url !== undefined && card !== undefined) issue('card', 'takes the place of `url`: give one of them')
  if (card !== undefined && agentId !== undefined) issue('agentId', 'is not needed: the `card` is that of one agent')
  if (agentId === undefined && a2aPrefix !== undefined) issue('a2aPrefix', 'is only for a server with `agentId`')
  const { username = '', password = '' } = URL.parse(card ?? url ?? '') ?? {}
  if (agentId === undefined && username + password !== '')
    issue(card === undefined ? 'url' : 'card', 'must not have a user or a password: use `headers`')
  if (agentId !== undefined && origins !== undefined) issue('origins', 'is only for an agent that is found by its card')
})
export interface RemoteAgentSettings extends z.input<typeof remoteSettings> {}
type CheckedRemote = z.output<typeof remoteSettings>

export type RemoteAgent = Runnable<'agent'> & ToolSet[string]

const defaultTimeoutMs = 600_000

/**
 * An agent of another server that speaks A2A. Its answer is streamed; a run that ends here is cancelled there. Connects
 * on the first run. Found by its card, it may wait for input, and then its run waits here too. Wrong settings throw
 * `invalid_request` naming the key.
 */
export function remoteAgent(given: RemoteAgentSettings): RemoteAgent {
  const settings = checkSettings('remoteAgent()', remoteSettings, given)
  const { agentId, description, timeout } = settings
  const { call, name, where } = toCall(settings)
  const entity = markRunnable({
    kind: 'agent',
    name,
    ...(description === undefined ? {} : { description }),
    tools: [],
    knowledge: false,
    sideEffects: true,
    timeoutMs: timeout,
    run: (input, context) => call(input, context, context.entityId),
  } satisfies Runnable<'agent'>)
  const shown = description ?? `Asks the agent '${name}'.`
  return toolSource(entity, {
    outside: true,
    names: (key) => [key],
    describe: (key) => textTool(key, shown, ...message),
    open: async (key, context, { limits = noLimits }) => {
      if (agentId === undefined)
        return [{ name: key, own: key, isInside: true, tool: await asRun(entity, key, shown, context) }]
      const tool = await asTool({ call, key, where, description: shown, context, limits: limits.toolResult })
      return [{ name: key, own: key, tool }]
    },
  })
}

const message = ['message', 'What to say to it, with all that it needs to know.'] as const

function toCall(settings: CheckedRemote): { call: Call; name: string; where: string } {
  const { url, card, agentId, apiKey, headers, a2aPrefix, session, timeout: timeoutMs = defaultTimeoutMs } = settings
  const place = card ?? url ?? ''
  const { host, pathname } = new URL(place)
  const name = settings.name ?? agentId ?? (pathname === '/' ? host : host + pathname.replace(/\/$/, ''))
  const server = { apiKey, headers, timeoutMs }
  if (agentId !== undefined) {
    const where = `The remote agent '${agentId}' at ${host}`
    const talk = simpleTalk({ ...server, url: place, agentId, a2aPrefix })
    return { name, where, call: createCall({ where, session, target: [place, agentId] }, talk) }
  }
  const where = settings.name === undefined ? `The remote agent at ${host}` : `The remote agent '${name}' at ${host}`
  const origins = (settings.origins ?? []).map((one) => new URL(one).origin)
  const target = hashOf(JSON.stringify([place, settings.name]))
  const talk = peerTalk({ ...server, where, target, address: place, isExact: card !== undefined, origins })
  return { name, where, call: createCall({ where, session, target: [place] }, talk) }
}

interface ToolOptions {
  call: Call
  key: string
  where: string
  description: string
  context: RunContext
  limits: ToolResultLimits
}

async function asTool({ call, key, where, description, context, limits }: ToolOptions): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  const { recordBytes } = limits
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
          `${where}: its answer has more than ${most}, the limit \`toolResult.record\`. ${way}.`,
        )
      }
      return resultOf(parts)
    },
  })
}

/** As a run inside the run of the agent, which can wait. */
async function asRun(
  entity: Runnable,
  key: string,
  description: string,
  context: RunContext,
): Promise<ToolSet[string]> {
  const { tool } = await loadSdk()
  return tool({
    description,
    inputSchema: await textInput(...message),
    async execute({ message }) {
      const { ask } = contextHere(context)
      if (ask === undefined) throw new AppError('run_failed', `'${key}' can't be asked here.`)
      const { run } = await askEntity(ask, key, entity, message)
      return resultOf(run.messages.flatMap(({ role, parts }) => (role === 'assistant' ? parts : [])))
    },
  })
}

function resultOf(parts: readonly Part[]) {
  if (parts.some(({ type }) => type === 'file')) return parts.map((part) => (part.type === 'data' ? part.data : part))
  return textOf(parts) === '' ? (lastDataOf(parts) ?? '') : promptText(parts)
}
