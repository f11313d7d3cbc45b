import { createHash } from 'node:crypto'
import { AppError, invalid } from '../../core/error.ts'
import { type Fact, factText, longestFact, mostFacts, type UserMemory } from '../../core/memory/fact.ts'
import { isTry, type RunRecord } from '../../core/run.ts'
import { timestamp } from '../../core/time.ts'
import type { RunServices } from '../runs/run-services.ts'

/**
 * The memory of the run's user, who is known when it is used. A try keeps what it remembers and forgets to itself.
 * `patient` is around every use of the store.
 */
export function userMemory(
  { store, clock }: Pick<RunServices, 'store' | 'clock'>,
  run: RunRecord,
  patient: <T>(use: () => Promise<T>) => Promise<T>,
): UserMemory {
  const user = () => {
    if (run.user_id === null) throw invalid('This run has no user. Start it with a `user_id`.', 'user_id')
    return run.user_id
  }
  const stored: UserMemory = {
    list: () => patient(() => store.listFacts(user())),
    async remember(text) {
      const fact = toFact(text, run, timestamp(clock()))
      const saved = await patient(() => store.saveFact(user(), fact, mostFacts))
      if (saved === 'saved') return fact
      if (saved === 'full') throw full()
      if (saved === 'ended') throw new AppError('conflict', 'The run has ended, so nothing more is remembered.')
      return (await stored.list()).find(({ fact_id }) => fact_id === fact.fact_id) ?? fact
    },
    forget: (factId) => patient(() => store.deleteFact(user(), factId)),
  }
  return isTry(run) ? triedMemory(stored, (text) => toFact(text, run, timestamp(clock()))) : stored
}

function triedMemory(stored: UserMemory, make: (text: string) => Fact): UserMemory {
  let facts: Promise<Fact[]> | undefined
  const list = () => {
    facts ??= stored.list().catch((error: unknown) => {
      facts = undefined
      throw error
    })
    return facts
  }
  return {
    list: async () => [...(await list())],
    async remember(text) {
      const present = await list()
      const fact = make(text)
      const known = present.find(({ fact_id }) => fact_id === fact.fact_id)
      if (known !== undefined) return known
      if (present.length >= mostFacts) throw full()
      present.push(fact)
      return fact
    },
    async forget(factId) {
      const present = await list()
      const place = present.findIndex(({ fact_id }) => fact_id === factId)
      if (place >= 0) present.splice(place, 1)
      return place >= 0
    },
  }
}

function toFact(text: string, { run_id, entity_id }: RunRecord, at: string): Fact {
  const content = factText(text)
  if (content === '') throw invalid('A fact needs a text.', 'fact')
  if (content.length > longestFact) {
    throw invalid(`A fact has at most ${longestFact} characters; this one has ${content.length}. Shorten it.`, 'fact')
  }
  const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
  return { fact_id: `fact_${hash}`, content, agent_id: entity_id, run_id, created_at: at }
}

function full(): AppError {
  return new AppError('conflict', `The user has ${mostFacts} facts, which is the most. Forget one first.`)
}
