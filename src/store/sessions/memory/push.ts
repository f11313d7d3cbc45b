import type { PushConfig, PushDuty, PushStore } from '../../../core/push.ts'
import { copy, type MemoryState } from './rows.ts'

export interface PushRow {
  duty: PushDuty
  owner: string
  unsent: boolean
}

type Step = <T>(work: () => T) => Promise<T>

/** Push configs in memory. `isGone`: by default any other sender than the present process. */
export function pushStore(state: MemoryState, step: Step, isGone: (owner: string) => boolean = () => true): PushStore {
  const { pushConfigs } = state

  function take(row: PushRow, owner: string): PushDuty {
    row.duty.fence++
    row.owner = owner
    row.unsent = true
    return copy(row.duty)
  }

  return {
    savePushConfig: (config, owner, max) =>
      step(() => {
        if (!state.runs.has(config.run_id)) return 'missing'
        const ofRun = pushConfigs.get(config.run_id) ?? new Map<string, PushRow>()
        const before = ofRun.get(config.config_id)
        if (ofRun.size - (before === undefined ? 0 : 1) >= max) return 'full'
        const duty = { ...copy(config), fence: (before?.duty.fence ?? 0) + 1, failures: 0 }
        ofRun.set(config.config_id, { duty, owner, unsent: true })
        pushConfigs.set(config.run_id, ofRun)
        return copy(duty)
      }),
    listPushConfigs: (runId) =>
      step(() =>
        rowsOf(state, runId)
          .map(toConfig)
          .sort((one, other) => (one.config_id < other.config_id ? -1 : 1)),
      ),
    deletePushConfig: (runId, configId) => step(() => pushConfigs.get(runId)?.delete(configId) ?? false),
    takePushConfigs: (runId, owner) => step(() => rowsOf(state, runId).map((row) => take(row, owner))),
    adoptPushConfigs: (owner, limit) =>
      step(() => {
        const left = [...pushConfigs.values()].flatMap((ofRun) => [...ofRun.values()])
        const due = left.filter((row) => row.unsent && row.owner !== owner && isGone(row.owner))
        return due.slice(0, limit).map((row) => take(row, owner))
      }),
    settlePushConfig: ({ run_id, config_id, fence }, { failures, unsent }) =>
      step(() => {
        const row = pushConfigs.get(run_id)?.get(config_id)
        if (row?.duty.fence !== fence) return false
        row.duty.failures = failures
        row.unsent = unsent
        return true
      }),
  }
}

/** Call it when runs are deleted or have lost their content. */
export function deletePushConfigs(state: MemoryState, runIds: Iterable<string>): void {
  for (const runId of runIds) state.pushConfigs.delete(runId)
}

function rowsOf({ pushConfigs }: MemoryState, runId: string): PushRow[] {
  return [...(pushConfigs.get(runId)?.values() ?? [])]
}

function toConfig({ duty: { fence: _fence, failures: _failures, ...config } }: PushRow): PushConfig {
  return copy(config)
}
