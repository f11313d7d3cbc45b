import type { ResolvedConfig } from '../../../config/types.ts'
import { shownBytes } from '../../../core/limits.ts'
import { checkFile, compactFiles, type FileState, storageFiles } from '../../../server/storage.ts'
import { createProgress } from '../../terminal/progress.ts'
import { type Finding, ok, warning, wrong } from './finding.ts'

/** Less free space is not reported. */
const tellFreeBytes = 16 * 1024 * 1024
const tellFreeShare = 0.2

/** Whether the database files can be opened; `whole` reads them completely. */
export async function* checkStorage(config: ResolvedConfig, whole: boolean): AsyncGenerator<Finding> {
  for (const file of await storageFiles(config)) {
    const state = await checkFile(file, whole)
    if (state.state === 'absent') continue
    if (state.state !== 'ok') yield wrong('storage', describeDamage(state), wayOut(state))
    else yield describeSound(state, whole)
  }
}

export async function* compactStorage(config: ResolvedConfig): AsyncGenerator<Finding> {
  const before: FileState[] = []
  for (const file of await storageFiles(config)) {
    const state = await checkFile(file, true)
    if (state.state === 'ok') before.push(state)
    else if (state.state !== 'absent') yield wrong('storage', describeDamage(state), wayOut(state))
  }
  const progress = createProgress()
  try {
    await compactFiles(config, before, (path, done, total) =>
      progress.update(megabytes(done), megabytes(total), `MB ${path}`),
    )
  } finally {
    progress.end()
  }
  for (const file of before) {
    const { bytes } = await checkFile(file, false)
    yield ok('storage', `${file.path}: ${shownBytes(file.bytes)} before, ${shownBytes(bytes)} now`)
  }
}

function describeSound({ path, bytes, freeBytes, counts }: FileState, whole: boolean): Finding {
  const counted = Object.entries(counts).map(([name, count]) => `, ${count} ${name}`)
  const message = `${path}: ${shownBytes(bytes)}, of which ${shownBytes(freeBytes)} are free${counted.join('')}${whole ? '; no damage' : ''}`
  if (freeBytes < tellFreeBytes || freeBytes < bytes * tellFreeShare) return ok('storage', message)
  return warning(
    'storage',
    message,
    'stop the server, then run agentserve doctor --compact to return the free space to the disk',
  )
}

function describeDamage({ state, path, problems }: FileState): string {
  const what = state === 'foreign' ? 'is not a database of agentserve' : 'is damaged'
  return `${path} ${what}: ${problems.join('; ')}`
}

function wayOut({ kind, state, path }: FileState): string {
  if (kind === 'search') return `delete ${path}; the next search rebuilds it`
  const restore = 'restore a backup with agentserve restore <file> --data <new folder>'
  if (kind === 'knowledge') return `${restore}, or move ${path} away and ingest your documents again`
  const aside = `move ${path} away and start without it`
  if (state === 'foreign') return `${restore}, or ${aside}`
  return `${restore}; or save what can be read with agentserve sessions export --all --output saved.jsonl, ${aside}, and import that file`
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10
}
