import { resolve } from 'node:path'
import type { CallToolResult } from '@ai-sdk/mcp'
import type { ToolSet } from 'ai'
import type { z } from 'zod'
import { AppError } from '../../core/error.ts'
import { checkSettings, wrong } from '../../schema/check.ts'
import { choose, is, list, settings, show, string, text } from '../../schema/field.ts'
import type { Defaults } from '../base/defaults.ts'
import { loadSdk } from '../base/sdk.ts'
import { toContent } from '../files/results.ts'
import { namesUnknown, unknownTool } from '../tools/names.ts'
import { type CheckPlace, toolSource } from '../tools/source.ts'
import { McpConnection, type McpToolDefinition } from './connection.ts'
import { type CheckedServer, isEndpoint, type McpServer, serverSettings } from './settings.ts'
import { hashTools } from './tool-hash.ts'
import { ToolRecord } from './tool-record.ts'

const names = () =>
  list(text("the server's own name of a tool"), "a list of the server's own names of tools").readonly()
const mcpOptions = settings({
  tools: list(string()).readonly().optional(),
  /** Which calls wait for approval: all, or those of these tools, by the server's own names. */
  needsApproval: choose(
    (value): z.ZodType<boolean | readonly string[], boolean | readonly string[]> =>
      Array.isArray(value)
        ? names()
        : is("true, false or a list of the server's own names of tools", (one) => typeof one === 'boolean'),
  ).optional(),
  /** The tools that need no approval, by the server's own names. Instead of `needsApproval`. */
  trusted: names().optional(),
})
export interface McpOptions extends z.input<typeof mcpOptions> {}

/**
 * The tools of an MCP server, as an entry of an agent's `tools`: `tools: { files: mcp('files') }` gives it
 * `files_read`, `files_write` and so on. A name refers to the config's `mcpServers`. Wrong settings throw
 * `invalid_request`.
 */
export function mcp(given: string | McpServer, options: McpOptions = {}): ToolSet[string] {
  if (given === '') throw wrong('', 'mcp() needs the name of a server, or how to start one')
  const server = typeof given === 'string' ? given : checkSettings('mcp()', serverSettings, given)
  checkSettings('mcp()', mcpOptions, options)
  if (options.needsApproval !== undefined && options.trusted !== undefined) {
    throw wrong(
      'trusted',
      'mcp() has `needsApproval` and `trusted`; remove one of them: all tools except the `trusted` ones need approval',
    )
  }
  const description = `Tools of the MCP server ${nameOf(server)}`
  const list = async (key: string, { logger, signal }: CheckPlace, { mcp }: Defaults, keep: boolean) => {
    if (mcp === undefined) throw wrong(`tools.${key}`, 'mcp() works in an agent that a server runs')
    const connection = mcp.get(server)
    const definitions = await connection.tools(logger, signal)
    const theirs = definitions.map(({ name }) => name)
    for (const setting of ['needsApproval', 'trusted'] as const) {
      const wanted = options[setting]
      const unknown = Array.isArray(wanted) ? wanted.find((name) => !theirs.includes(name)) : undefined
      if (unknown !== undefined) throw unknownTool(key, `\`${setting}\` of mcp()`, unknown, theirs)
    }
    const hashes = hashTools(definitions)
    const record = mcp.record(server)
    const changed = await record.changed(hashes, logger, keep)
    const only = options.tools ?? mcp.find(server)?.tools
    const chooser = options.tools === undefined ? `mcpServers.${server}` : 'mcp()'
    const unknown = only
      ?.filter((name) => !theirs.includes(name))
      .map((name) => namesUnknown(`\`tools\` of ${chooser}`, name, theirs))
    const chosen = definitions.filter(({ name }) => only === undefined || only.includes(name))
    const about = ({ name }: McpToolDefinition) => ({
      name: `${key}_${name}`,
      own: name,
      hash: hashes.get(name),
      asks: changed.has(name)
        ? `It has changed since it was first seen; \`agentserve doctor --accept-tools ${key}\` confirms it.`
        : undefined,
      needsApproval: asks(options, name),
    })
    return { connection, record, hashes, chosen, unknown: unknown ?? [], about }
  }
  let told = ''
  /** A server's tools may come and go, so a missing one fails no run. It is told once, until it is there. */
  const tell = (unknown: readonly string[], { logger }: CheckPlace) => {
    const reason = unknown.join(' ')
    if (reason !== '' && reason !== told)
      logger.warn({ mcp_server: nameOf(server), reason }, 'an agent is to use tools that an MCP server does not have')
    told = reason
  }
  return toolSource(
    { type: 'dynamic', description },
    {
      outside: true,
      claim: (defaults) => defaults.mcp?.claim(server),
      async open(key, context, defaults) {
        const { connection, chosen, unknown, about } = await list(key, context, defaults, true)
        tell(unknown, context)
        const toTool = await mcpTools(connection, context)
        return chosen.map((definition) => {
          const { needsApproval, ...known } = about(definition)
          return { ...known, tool: toTool(definition, needsApproval) }
        })
      },
      async describe(key, { mcp }) {
        const definitions = mcp?.get(server).knownTools
        if (definitions === undefined) return undefined
        const look = await toolLook()
        const only = options.tools ?? mcp?.find(server)?.tools
        return definitions
          .filter(({ name }) => only === undefined || only.includes(name))
          .map((definition) => ({
            name: `${key}_${definition.name}`,
            tool: look(definition, asks(options, definition.name)),
          }))
      },
      async check(key, at, defaults) {
        const { record, hashes, chosen, unknown, about } = await list(key, at, defaults, false)
        return {
          from: `the MCP server ${nameOf(server)}`,
          unknown,
          tools: chosen.map((definition) => ({ ...about(definition), tool: {} as ToolSet[string] })),
          accept: () => record.accept(hashes, at.logger),
        }
      },
    },
  )
}

function asks({ needsApproval = false, trusted }: McpOptions, name: string): boolean {
  if (trusted !== undefined) return !trusted.includes(name)
  return typeof needsApproval === 'boolean' ? needsApproval : needsApproval.includes(name)
}

function nameOf(server: string | CheckedServer): string {
  return typeof server === 'string' ? server : placeOf(server)
}

/** The server's name in lists and messages, without arguments and address parts that may hold a key. */
function placeOf(server: CheckedServer): string {
  if (isEndpoint(server)) return new URL(server.url).host
  const first = server.args?.find((argument) => !['-y', '--yes'].includes(argument))
  return first === undefined || first.startsWith('-') ? server.command : `${server.command} ${first}`
}

/** The server's location, without values that change or are secret. */
function placeIn(server: CheckedServer): object {
  if (isEndpoint(server)) return { url: server.url }
  return { command: server.command, args: server.args ?? [], cwd: server.cwd ?? '.' }
}

export interface McpServers {
  /** The settings of a server; undefined for a name that is not in the config. */
  find(server: string | CheckedServer): CheckedServer | undefined
  /** Keeps a server for this config, without starting it. Throws `invalid_request` for an unknown name. */
  claim(server: string | CheckedServer): void
  get(server: string | CheckedServer): McpConnection
  record(server: string | CheckedServer): ToolRecord
  /** Closes the servers that no other config has claimed. */
  close(): Promise<void>
}

/** All connections of this process: an unchanged server keeps running over a reload. */
const connections = new Map<string, { connection: McpConnection; holders: number }>()

/** Records of this process; those with a data folder are in files too. */
const records = new Map<string, ToolRecord>()

/**
 * The servers of a config. `named`: its `mcpServers`, each message limited to `messageBytes`. Tool hashes are kept in
 * `dataFolder`, or without one in this process. Throws `invalid_request` naming the key.
 */
export function createMcpServers(
  named: Readonly<Record<string, unknown>>,
  root: string,
  messageBytes: number,
  dataFolder?: string,
): McpServers {
  const servers = new Map<string, CheckedServer>()
  for (const [name, server] of Object.entries(named)) {
    servers.set(name, checkSettings('an MCP server', serverSettings, server))
  }
  const held = new Set<string>()
  let closed = false
  const settingsOf = (server: string | CheckedServer) => (typeof server === 'string' ? servers.get(server) : server)
  const hold = (server: string | CheckedServer): McpConnection => {
    const settings = settingsOf(server)
    if (settings === undefined) {
      const known = servers.size === 0 ? 'it has none' : `it has ${[...servers.keys()].join(', ')}`
      throw wrong('', `There is no MCP server ${show(server)} in \`mcpServers\`; ${known}`)
    }
    if (closed) throw new AppError('run_failed', 'The MCP servers of this config have been closed.')
    const name = nameOf(server)
    const key = JSON.stringify([name, resolve(root), settings, messageBytes])
    const entry = connections.get(key) ?? {
      connection: new McpConnection(name, settings, root, messageBytes),
      holders: 0,
    }
    connections.set(key, entry)
    if (!held.has(key)) {
      held.add(key)
      entry.holders++
      entry.connection.forgive()
    }
    return entry.connection
  }
  return {
    find: settingsOf,
    claim: (server) => void hold(server),
    get: hold,
    record(server) {
      const name = nameOf(server)
      // A server of the config is identified by its name, so that new settings are no new server.
      const identity =
        dataFolder === undefined
          ? JSON.stringify([name, resolve(root), settingsOf(server)])
          : JSON.stringify(typeof server === 'string' ? { name } : placeIn(server))
      const key = JSON.stringify([dataFolder ?? null, identity])
      const record = records.get(key) ?? new ToolRecord(name, identity, dataFolder)
      records.set(key, record)
      return record
    },
    async close() {
      closed = true
      const closing: Promise<void>[] = []
      for (const key of held) {
        const entry = connections.get(key)
        if (entry === undefined || --entry.holders > 0) continue
        connections.delete(key)
        closing.push(entry.connection.close())
      }
      held.clear()
      await Promise.all(closing)
    },
  }
}

async function mcpTools(connection: McpConnection, { logger, signal }: CheckPlace) {
  const { dynamicTool } = await loadSdk()
  const look = await toolLook()
  return (definition: McpToolDefinition, needsApproval: boolean): ToolSet[string] =>
    dynamicTool({
      ...look(definition, needsApproval),
      execute: async (input, { abortSignal = signal }) =>
        outputOf(await connection.call(definition.name, (input ?? {}) as Record<string, unknown>, logger, abortSignal)),
      toModelOutput: ({ output }) => toModelOutput(output),
    })
}

async function toolLook() {
  const { jsonSchema } = await loadSdk()
  return ({ description, inputSchema }: McpToolDefinition, needsApproval: boolean) => ({
    ...(description === undefined ? {} : { description }),
    needsApproval,
    inputSchema: jsonSchema(schemaOf(inputSchema)),
  })
}

function schemaOf(inputSchema: McpToolDefinition['inputSchema']) {
  return { ...inputSchema, type: 'object' as const, properties: inputSchema.properties ?? {} } as Parameters<
    typeof import('ai').jsonSchema
  >[0]
}

/** Only texts become one text, only data stays data; a result marked as an error is thrown. */
function outputOf(result: CallToolResult): unknown {
  const { content, structuredContent } = result
  const parts = Array.isArray(content) ? (content as { type: string; text?: string }[]) : undefined
  const texts = parts?.map(({ type, text }) => (type === 'text' ? text : undefined))
  const text = texts?.every((part) => part !== undefined) ? texts.join('\n') : undefined
  if (result.isError === true) throw new Error(text ?? JSON.stringify(content))
  if (parts?.length === 0 && structuredContent !== undefined) return structuredContent
  return text ?? result
}

type ModelOutput = Awaited<ReturnType<NonNullable<ToolSet[string]['toModelOutput']>>>

/** Files stay files for the model; everything else becomes text. */
function toModelOutput(output: unknown): ModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  const { content } = (output ?? {}) as { content?: unknown }
  if (!Array.isArray(content)) return { type: 'text', value: JSON.stringify(output) }
  return { type: 'content', value: content.map(toContent) }
}
