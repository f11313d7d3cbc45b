import type { RunRecord } from '../../../core/run.ts'
import type { CachedAnswer } from '../../../core/store.ts'
import { copy, type MemoryState } from './rows.ts'

export function cacheAnswer(state: MemoryState, { key, run_id, expires_at }: CachedAnswer, now: string): void {
  if (!state.runs.has(run_id)) return
  state.answers.delete(key)
  state.answers.set(key, { key, run_id, expires_at })
  // The oldest come first: expired answers are dropped as new ones are added.
  for (const [oldest, answer] of state.answers) {
    if (answer.expires_at > now && state.runs.has(answer.run_id)) return
    state.answers.delete(oldest)
  }
}

export function readAnswer(state: MemoryState, key: string, now: string): RunRecord | undefined {
  const answer = state.answers.get(key)
  if (answer === undefined || answer.expires_at <= now) return undefined
  const record = state.runs.get(answer.run_id)?.record
  return record?.status === 'completed' ? copy(record) : undefined
}
