import { MockLanguageModelV4 } from 'ai/test'
import { notFound } from '../../src/core/error.ts'
import type { EmittedEvent } from '../../src/core/event.ts'
import type { Json } from '../../src/core/json.ts'
import type { Knowledge, SearchHit } from '../../src/core/knowledge/knowledge.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Message, Part } from '../../src/core/message.ts'
import type { RunContext, Runnable, SessionFiles } from '../../src/core/runnable.ts'
import type { Summary } from '../../src/core/summary.ts'
import { partsOf, type StreamPart, toStream } from '../../src/runnables/again/answer-stream.ts'

export interface FakeContext extends RunContext {
  queries: unknown[]
}

export function fakeContext(
  options: {
    hits?: SearchHit[]
    history?: Message[]
    summary?: Summary
    entities?: Record<string, Runnable>
    signal?: AbortSignal
    entityId?: string
  } = {},
): FakeContext {
  const queries: unknown[] = []
  const search = async (query: unknown) => {
    queries.push(query)
    return { results: options.hits ?? [], mode: 'hybrid' as const }
  }
  return {
    queries,
    runId: 'run_1',
    sessionId: 'ses_1',
    entityId: options.entityId ?? 'main',
    userId: null,
    user: { id: null, facts: [], remember: nothing, forget: nothing },
    metadata: {},
    state: {},
    signal: options.signal ?? new AbortController().signal,
    fence: 'run_1:1',
    logger: silentLogger,
    knowledge: options.hits === undefined ? undefined : ({ search } as unknown as Knowledge),
    history: async (runs = 20) => (runs === 0 ? [] : (options.history ?? [])),
    summary: async () => options.summary,
    answers: [],
    files: noFiles,
    entity(id) {
      const entity = options.entities?.[id]
      if (entity === undefined) throw new Error(`no ${id}`)
      return entity
    },
    recorded: async () => {},
    async child() {
      throw new Error('nothing runs inside a run here')
    },
    findChild: async () => undefined,
    cancelChild: async () => {},
    maxAsks: 16,
    emit: async () => {},
    pause() {},
  }
}

const noFiles: SessionFiles = {
  read: async ({ file_id }) => {
    throw notFound('file', file_id ?? '')
  },
  find: async () => undefined,
  findFetched: async () => undefined,
  save: async ({ bytes, ...part }) => ({ type: 'file', ...part, file_id: 'file_1', size: bytes.byteLength }),
}

export function hit(content: string, more: Partial<SearchHit> = {}): SearchHit {
  return {
    chunk_id: 'chk_1',
    document_id: 'doc_1',
    content,
    source: 'docs/guide.md',
    metadata: {},
    chunk_index: 0,
    chunk_size: 1000,
    chunk_overlap: 100,
    chunker_type: 'markdown',
    start_offset: 0,
    end_offset: content.length,
    line_start: 1,
    score: 0.9,
    ...more,
  }
}

export async function collect(entity: Runnable, input: string | Part[], context: RunContext = fakeContext()) {
  const parts: Part[] = typeof input === 'string' ? [{ type: 'text', text: input }] : input
  const events: EmittedEvent[] = []
  let error: unknown
  try {
    const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('')
    for await (const emission of entity.run({ parts, text }, context)) {
      events.push(typeof emission === 'string' ? { type: 'text_delta', text: emission } : emission)
    }
  } catch (caught) {
    error = caught
  }
  const text = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('')
  const of = <T extends EmittedEvent['type']>(type: T) =>
    events.filter((event): event is Extract<EmittedEvent, { type: T }> => event.type === type)
  return { events, text, error, of, types: events.map(({ type }) => type) }
}

const usage = { input_tokens: 7, output_tokens: 3 }

/** An answer that is streamed in these pieces. */
export function answer(...pieces: string[]): StreamPart[] {
  const whole = partsOf({ text: 'text', usage })
  return whole.flatMap((part): StreamPart[] =>
    part.type === 'text-delta' ? pieces.map((delta) => ({ ...part, delta })) : [part],
  )
}

export function callTool(name: string, input: Json): StreamPart[] {
  return partsOf({ tool_calls: [{ name, input, call_id: `use-${name}` }], usage })
}

/** A model that plays these answers, one a call. */
export function scripted(...answers: StreamPart[][]): MockLanguageModelV4 {
  let turn = 0
  return new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'one',
    doStream: async () => toStream(answers[turn++] ?? []),
  })
}

async function nothing(): Promise<never> {
  throw new Error('nothing is remembered here')
}
