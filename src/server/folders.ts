import { dirname, relative } from 'node:path'
import type { ResolvedConfig, ResolvedServerConfig } from '../config/types.ts'
import { timestamp } from '../core/time.ts'
import { version } from '../core/version.ts'
import type { ServerHint } from '../store/data-folder.ts'

/** The folders that this server locks while it is open. */
export function foldersOf({ server, dataFolder }: ResolvedConfig, program: boolean): Set<string> {
  const folders = new Set<string>()
  const { sessionStorage: storage, vectorDb } = server
  if (program) folders.add(dataFolder)
  if (typeof storage === 'object' && 'path' in storage) folders.add(dirname(storage.path))
  if (vectorDb?.type === 'lancedb' && vectorDb.baseUrl !== undefined) folders.add(vectorDb.baseUrl)
  return folders
}

/** Where small things are kept beside the sessions; undefined when these are not on disk. */
export function keptFolderOf({ server, dataFolder }: ResolvedConfig, program: boolean): string | undefined {
  const { sessionStorage: storage } = server
  if (program) return dataFolder
  return typeof storage === 'object' && 'path' in storage ? dirname(storage.path) : undefined
}

/** What commands need to find the server. */
export function toHint(server: ResolvedServerConfig, url: string, startedAtMs: number, secret: string): ServerHint {
  return {
    pid: process.pid,
    url,
    version,
    started_at: timestamp(startedAtMs),
    prefix: server.prefix,
    a2a_prefix: server.a2a.prefix,
    health_path: server.healthPath,
    mcp_path: server.mcp === false ? null : server.mcp.path,
    secret,
    auth: server.authKeys.length > 0 || undefined,
  }
}

/** The config file, relative to the project's folder. */
export function configName({ file, root }: ResolvedConfig): string | undefined {
  return file && relative(root, file)
}
