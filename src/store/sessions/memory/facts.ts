import type { Fact, FactStore } from '../../../core/memory/fact.ts'
import { copy, type MemoryState } from './rows.ts'

type Step = <T>(work: () => T) => Promise<T>

export function factStore(state: MemoryState, step: Step): FactStore {
  const { facts } = state
  return {
    listFacts: (userId) => step(() => [...(facts.get(userId)?.values() ?? [])].sort(inOrder).map(copy)),
    saveFact: (userId, fact, max) =>
      step(() => {
        if (state.runs.get(fact.run_id)?.record.status !== 'running') return 'ended'
        const ofUser = facts.get(userId) ?? new Map<string, Fact>()
        if (ofUser.has(fact.fact_id)) return 'known'
        if (ofUser.size >= max) return 'full'
        facts.set(userId, ofUser.set(fact.fact_id, copy(fact)))
        return 'saved'
      }),
    deleteFact: (userId, factId) => step(() => facts.get(userId)?.delete(factId) ?? false),
    deleteFacts: (userId) => step(() => deleteFacts(state, userId)),
  }
}

export function deleteFacts({ facts }: MemoryState, userId: string): number {
  const count = facts.get(userId)?.size ?? 0
  facts.delete(userId)
  return count
}

function inOrder(one: Fact, other: Fact): number {
  return placeOf(one) < placeOf(other) ? -1 : 1
}

function placeOf({ created_at: at, fact_id: id }: Fact): string {
  return `${at} ${id}`
}
