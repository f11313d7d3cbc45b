import { createHash, randomUUID } from 'node:crypto'
import type { EmittedEvent } from '../../core/event.ts'
import type { Logger } from '../../core/logger.ts'
import { addToParts, type Part } from '../../core/message.ts'
import type { RunRecord } from '../../core/run.ts'
import {
  type AnswerCache,
  type Emission,
  type InputCheck,
  inputCheck,
  type RunContext,
  type RunInput,
  type Runnable,
} from '../../core/runnable.ts'
import type { SessionStore } from '../../core/store.ts'
import type { Clock } from '../../core/time.ts'
import { timestamp } from '../../core/time.ts'

const eventPage = 500

export interface ResponseCacheOptions {
  store: SessionStore
  clock: Clock
  logger: Logger
  /** The run that is to be answered; `cache_hit` is set on it. */
  run: RunRecord
}

/**
 * The runnable for one run: gives the recorded answer to the same question, text and sources as they came, else answers
 * and remembers. A store that fails here costs only the caching.
 */
export function answerFromCache(runnable: Runnable, cache: AnswerCache, options: ResponseCacheOptions): Runnable {
  const { store, clock, logger, run } = options
  const runId = run.run_id

  async function find(key: string): Promise<EmittedEvent[] | undefined> {
    try {
      const recorded = await store.findCached(key)
      return recorded && (await readAnswer(store, recorded))
    } catch (error) {
      logger.warn({ error, run_id: runId }, 'the response cache could not be read')
      return undefined
    }
  }

  async function keep(key: string): Promise<void> {
    try {
      // It counts once the run is recorded as completed.
      await store.cacheAnswer({ key, run_id: runId, expires_at: timestamp(clock() + cache.ttlMs) })
    } catch (error) {
      logger.warn({ error, run_id: runId }, 'an answer could not be kept for the response cache')
    }
  }

  return {
    ...runnable,
    async *run(input: RunInput, context: RunContext): AsyncGenerator<Emission> {
      const key = await keyOf(runnable, cache, input, context)
      const recorded = await find(key)
      if (recorded !== undefined) {
        run.cache_hit = true
        // It has passed the same checks before, or it would not have been kept.
        context[inputCheck]?.passInput(input.parts)
        yield* recorded
        return
      }
      const before = JSON.stringify(context.state)
      let asked = false
      let refused = false
      const check = context[inputCheck]
      const watching: InputCheck = {
        passInput: (parts) => check?.passInput(parts),
        refuseInput(parts) {
          refused = true
          check?.refuseInput(parts)
        },
      }
      for await (const emission of runnable.run(input, { ...context, [inputCheck]: watching })) {
        if (typeof emission !== 'string' && emission.type === 'input_required') asked = true
        yield emission
      }
      // What it does to the session's state is part of the answer, and could not be done again; nor could what a person decides.
      if (!asked && !refused && JSON.stringify(context.state) === before) await keep(key)
    },
  }
}

/** Undefined when not all of it is there any more. */
async function readAnswer(store: SessionStore, recorded: RunRecord): Promise<EmittedEvent[] | undefined> {
  const answer: EmittedEvent[] = []
  const parts: Part[] = []
  for (let after = 0; ; ) {
    const page = await store.readEvents(recorded.run_id, after, eventPage)
    for (const event of page) {
      if (event.type === 'text_delta') {
        answer.push({ type: 'text_delta', text: event.text })
      } else if (event.type === 'data') {
        answer.push({ type: 'data', data: event.data })
      } else if (event.type === 'source') {
        const { run_id, seq, at, ...source } = event
        answer.push(source)
      }
      addToParts(parts, event)
    }
    const last = page.at(-1)
    if (last === undefined) break
    after = last.seq
  }
  const said = recorded.messages.find((message) => message.role === 'assistant')?.parts ?? []
  return JSON.stringify(parts) === JSON.stringify(said) ? answer : undefined
}

async function keyOf(runnable: Runnable, cache: AnswerCache, input: RunInput, context: RunContext): Promise<string> {
  const history = await context.history(cache.runs)
  const summary = await context.summary()
  const { userId, metadata, state, entityId } = context
  const question = {
    entityId,
    version: cache.version ?? versionOf(runnable),
    parts: input.parts,
    history: history.map(({ role, parts }) => ({ role, parts })),
    summary: summary?.content,
    user: cache.shared === true ? undefined : userId,
    given: cache.reads === 'prompt' ? null : { metadata, state },
  }
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url')
}

const versions = new WeakMap<Runnable, string>()

/** Of an object whose behaviour can't be compared: itself, so that neither a reload nor a restart gives a stale answer. */
function versionOf(runnable: Runnable): string {
  let version = versions.get(runnable)
  if (version === undefined) {
    version = randomUUID()
    versions.set(runnable, version)
  }
  return version
}
