import { AppError } from '../../core/error.ts'

export const manifestName = 'manifest.json'
export const maxManifestBytes = 64 * 1024
export const sessionsName = 'agentserve.db'
const format = 'agentserve-backup'
const version = 1

export interface ManifestMember {
  name: string
  schema_version: number
  size: number
  sha256: string
}

export interface Manifest {
  format: typeof format
  version: typeof version
  /** The version of agentserve that wrote it. */
  agentserve: string
  created_at: string
  members: ManifestMember[]
}

const folderName = '[A-Za-z0-9][A-Za-z0-9_-]{0,63}'
const knowledgeName = new RegExp(`^knowledge/(tenant-${folderName}/)?(database-${folderName}/)?knowledge\\.db$`)

export function isKnowledgeName(name: string): boolean {
  return knowledgeName.test(name)
}

export function createManifest(agentserve: string, createdAt: string, members: ManifestMember[]): Manifest {
  return { format, version, agentserve, created_at: createdAt, members }
}

/** Throws `invalid_request` unless it is a manifest of this version that names each database once. */
export function parseManifest(text: string): Manifest {
  const manifest = parse(text)
  if (manifest?.format !== format) throw refused('it has no manifest')
  if (manifest.version !== version)
    throw refused(`its version is ${String(manifest.version)}: a newer agentserve reads it`)
  const { agentserve, created_at, members } = manifest
  if (
    typeof agentserve !== 'string' ||
    typeof created_at !== 'string' ||
    !Array.isArray(members) ||
    !members.every(isMember)
  )
    throw refused('its manifest is malformed')
  const names = members.map(({ name }) => name)
  if (names.some((name) => name !== sessionsName && !isKnowledgeName(name))) throw refused('it names unknown files')
  if (new Set(names).size < names.length) throw refused('it names a file twice')
  if (names.length === 0) throw refused('it is empty')
  return createManifest(agentserve, created_at, members)
}

function parse(text: string): Partial<Record<keyof Manifest, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function isMember(value: unknown): value is ManifestMember {
  if (typeof value !== 'object' || value === null) return false
  const { name, schema_version, size, sha256 } = value as Partial<Record<keyof ManifestMember, unknown>>
  const numbers = [schema_version, size].every((number) => Number.isSafeInteger(number) && (number as number) >= 0)
  return numbers && typeof name === 'string' && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
}

function refused(reason: string): AppError {
  return new AppError('invalid_request', `The file is not a backup that this agentserve can restore: ${reason}.`)
}
