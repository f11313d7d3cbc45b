import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { AppError } from '../../core/error.ts'
import { parseGitAddress } from '../../core/knowledge/git-address.ts'
import type { IngestOutcome } from '../../core/knowledge/knowledge.ts'
import type { RemoteSource } from '../../core/knowledge/remote-source.ts'
import { fetchRepository, type Repository, type RepositoryFile } from '../../sources/git/repository.ts'
import { ingestOne, toOutcome } from '../../sources/ingest.ts'
import { advice, type Fetched, type FetchOptions } from './fetched.ts'

/** Callers of the knowledge base have equal turns: repositories are one. */
const caller = 'repositories'
const filesPerQuestion = 100
const maxFileBytes = 20_000_000
const usualLimit = 20_000

interface ReadFile {
  source: string
  path: string
  bytes: Buffer
  hash: string
}

/** Ingests what has changed in a repository. Failures of files are told, others are thrown. */
export async function fetchGit(source: RemoteSource, root: string, options: FetchOptions): Promise<Fetched> {
  const { url, limit = usualLimit, allowHttp, allowPrivate } = source
  const { folder, signal } = options
  const address = parseGitAddress(url)
  if (typeof address === 'string') throw new AppError('invalid_request', `The source ${address}.`)
  const rules = { allowHttp, allowPrivate, advice }
  const cache = folder === undefined ? undefined : join(folder, 'git')
  const repository = await fetchRepository({ address, rules, root, cache, signal })
  const fetched: Fetched = { documents: new Set(), ingested: 0, failures: [], isComplete: false }
  const tell = ({ source: document, error }: IngestOutcome) => {
    fetched.documents.add(document)
    if (error === undefined) fetched.ingested++
    else fetched.failures.push(error.message)
  }
  try {
    const files = repository.files.slice(0, limit)
    for (let at = 0; at < files.length; at += filesPerQuestion) {
      const group = files.slice(at, at + filesPerQuestion)
      for await (const outcome of ingestGroup(repository, group, address.prefix, options)) tell(outcome)
    }
    fetched.isComplete = files.length > 0 && files.length === repository.files.length
    if (files.length < repository.files.length)
      fetched.failures.push(`It has ${repository.files.length} files, and the limit is ${limit}.`)
    if (files.length === 0)
      fetched.failures.push(`It has no files to ingest${address.folder && ` in ${address.folder}`}.`)
  } finally {
    await repository.close()
  }
  return fetched
}

async function* ingestGroup(
  repository: Repository,
  files: readonly RepositoryFile[],
  prefix: string,
  { knowledge, settings, onDocument, signal }: FetchOptions,
): AsyncGenerator<IngestOutcome> {
  const read: ReadFile[] = []
  for (const file of files) {
    signal.throwIfAborted()
    const source = `${prefix}${file.path}`
    const problem = file.bytes === 0 ? 'it is empty' : file.bytes > maxFileBytes ? 'it has more than 20 MB' : undefined
    if (problem === undefined) {
      const bytes = await repository.read(file)
      read.push({ source, path: file.path, bytes, hash: createHash('sha256').update(bytes).digest('hex') })
    } else yield failed(source, `${source} can't be read: ${problem}.`)
  }
  const questions = read.map(({ source, path, hash }) => ({ ...settings, source, name: path, content_hash: hash }))
  const answers = await knowledge.ingestMany(questions, signal, caller)
  for (const [index, { source, path, bytes }] of read.entries()) {
    const answer = answers[index]
    await onDocument(source)
    if (answer !== undefined && answer.outcome !== 'needed') yield answer
    else {
      const isAboutFile = () => !signal.aborted
      yield await ingestOne({ isAboutFile }, source, async () => {
        const input = { ...settings, source, name: path, content: bytes }
        return toOutcome(source, await knowledge.ingest(input, signal, caller))
      })
    }
  }
}

function failed(source: string, message: string): IngestOutcome {
  return {
    source,
    outcome: 'failed',
    document_id: null,
    chunk_count: 0,
    error: { code: 'unreadable_document', message },
  }
}
