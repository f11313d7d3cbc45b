/** The id of an item: made of the run and the event or call that it shows, so that a replay has the same one. */
export function itemId(prefix: string, runId: string, of: string | number): string {
  return `${prefix}_${runId.replace(/^run_/, '')}_${of}`
}

export function approvalId(runId: string, callId: string): string {
  return itemId('mcpr', runId, callId)
}

/** Undefined for an id that is not ours. */
export function approvedCall(id: string): { runId: string; callId: string } | undefined {
  const match = /^mcpr_([0-9a-z]{26})_(.+)$/s.exec(id)
  return match === null ? undefined : { runId: `run_${match[1]}`, callId: match[2] ?? '' }
}

/** The run that an item of any kind is of. */
export function runOfItem(id: string): string | undefined {
  const match = /^[a-z]{2,4}_([0-9a-z]{26})_/.exec(id)
  return match === null ? undefined : `run_${match[1]}`
}
