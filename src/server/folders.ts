import { dirname, relative } from 'node:path'
import { needsKey } from '../config/needs-key.ts'
import type { ResolvedConfig } from '../config/types.ts'
import type { FolderOwner, ServerHint } from '../core/access/server-file.ts'

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
export function toHint(
  { server, file }: ResolvedConfig,
  owner: FolderOwner,
  place: Pick<ServerHint, 'url' | 'socket'>,
  secret: string,
): ServerHint {
  return {
    ...owner,
    ...place,
    config: file,
    prefix: server.prefix,
    a2a_prefix: server.a2a.prefix,
    health_path: server.healthPath,
    mcp_path: server.mcp === false ? null : server.mcp.path,
    secret,
    auth: needsKey(server) || undefined,
  }
}

/** The config file, relative to the project's folder. */
export function configName({ file, root }: ResolvedConfig): string | undefined {
  return file && relative(root, file)
}
