import { relative } from 'node:path'
import { ConfigError } from '../config/config-error.ts'
import type { ResolvedConfig, ResolvedServerConfig } from '../config/types.ts'
import { findMeeting, fixedPath, type Meeting, type RouteGroup } from '../http/meeting.ts'

/** Throws a ConfigError that names both settings when two of them lead to the same path. */
export function assertNoClash(
  groups: readonly RouteGroup[],
  server: ResolvedServerConfig,
  file: ResolvedConfig['file'],
): void {
  const meeting = findMeeting(groups)
  if (meeting === undefined) return
  const name = file === undefined ? 'config' : relative(process.cwd(), file) || file
  const path = meeting.settings.find((setting) => setting !== fixedPath) ?? fixedPath
  const message = explain(meeting, server)
  throw new ConfigError(`${name}: ${message}.`, { file, details: [{ path, message }] })
}

function explain({ settings: [one, other], paths: [first, second] }: Meeting, server: ResolvedServerConfig): string {
  if (one === fixedPath || other === fixedPath) {
    const setting = one === fixedPath ? other : one
    return `${shown(setting, server)} leads to '${second}', which is always taken: change it`
  }
  const [a, b] = [shown(one, server), shown(other, server)]
  return first === second
    ? `${a} and ${b} both lead to '${first}': change one of them`
    : `${a} leads to '${first}' and ${b} to '${second}', which one request can mean: change one of them`
}

function shown(setting: string, server: ResolvedServerConfig): string {
  const given = givenFor(setting, server)
  return given === undefined ? setting : `${setting} ('${given || '/'}')`
}

function givenFor(setting: string, server: ResolvedServerConfig): string | undefined {
  const { prefix, healthPath, a2a, openai, mcp, studio } = server
  const values: Record<string, string | undefined> = {
    'server.prefix': prefix,
    'server.healthPath': healthPath,
    'server.a2a.prefix': a2a.prefix,
    'server.openai.prefix': openai === false ? undefined : openai.prefix,
    'server.mcp.path': mcp === false ? undefined : mcp.path,
    'server.studio.path': studio === false ? undefined : studio.path,
  }
  return values[setting]
}

/** The settings that paths come from, to see whether they have changed. */
export function pathsOf(server: ResolvedServerConfig): string {
  const { prefix, healthPath, a2a, openai, mcp, studio, chat, agUi, knowledgeApi } = server
  return JSON.stringify([prefix, healthPath, a2a.prefix, openai, mcp, studio, chat, agUi, knowledgeApi])
}
