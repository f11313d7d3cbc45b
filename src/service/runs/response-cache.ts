import { createHash, randomUUID } from 'node:crypto'
import type { EmittedEvent } from '../../core/event.ts'
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
import { timestamp } from '../../core/time.ts'
import type { RunServices } from './run-services.ts'

const eventPage = 500

/**
 * The runnable for one run, with a response cache: repeats the recorded text and sources of the same question, or answers and
 * caches that. Sets `cache_hit` on the run. When the store fails, the run continues without the cache.
 */
export function answerFromCache(
  runnable: Runnable,
  cache: AnswerCache,
  { store, clock, logger }: Pick<RunServices, 'store' | 'clock' | 'logger'>,
  run: RunRecord,
): Runnable {
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
      // The store uses it once the run is recorded as completed.
      await store.cacheAnswer({ key, run_id: runId, expires_at: timestamp(clock() + cache.ttlMs) })
    } catch (error) {
      logger.warn({ error, run_id: runId }, 'an answer could not be cached')
    }
  }

  return {
    ...runnable,
    async *run(input: RunInput, context: RunContext): AsyncGenerator<Emission> {
      const key = await keyOf(runnable, cache, input, context)
      const recorded = await find(key)
      if (recorded !== undefined) {
        run.cache_hit = true
        // The same input passed its checks before, or its answer would not be cached.
        context[inputCheck]?.passInput(input.parts)
        yield* recorded
        return
      }
      const before = await changeable(cache, context)
      let isOwn = false
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
        // A file belongs to its session.
        if (typeof emission !== 'string' && ['input_required', 'file'].includes(emission.type)) isOwn = true
        yield emission
      }
      // A change of the session's state or the user's facts or a person's decision can't be repeated, so such an answer is not cached.
      if (!isOwn && !refused && (await changeable(cache, context)) === before) await keep(key)
    },
  }
}

async function changeable(cache: AnswerCache, context: RunContext): Promise<string> {
  return JSON.stringify([context.state, await factsFor(cache, context)])
}

/** Undefined where they don't matter. */
async function factsFor({ facts }: AnswerCache, { userId, userMemory }: RunContext): Promise<string[] | undefined> {
  if (facts !== true || userId === null) return undefined
  return (await userMemory?.list())?.map(({ content }) => content)
}

/** Undefined when parts of the answer have been deleted. */
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
    // Absent without any, so that the key of other questions stays the same.
    facts: await factsFor(cache, context),
    caller: context.given,
  }
  return createHash('sha256').update(JSON.stringify(question)).digest('base64url')
}

const versions = new WeakMap<Runnable, string>()

/** A runnable without a version gets a random one per object: neither a reload nor a restart gives a stale answer. */
function versionOf(runnable: Runnable): string {
  let version = versions.get(runnable)
  if (version === undefined) {
    version = randomUUID()
    versions.set(runnable, version)
  }
  return version
}
