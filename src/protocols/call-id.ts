/* Ids of calls on the wire. They are made of those of the run and the call, so that a replay has the same ones. */

const ofRun = (runId: string) => runId.replace(/^run_/, '')

/** Models give calls of different runs the same ids; with the run in it, the answer finds its call. */
export function wireCallId(runId: string, callId: string): string {
  return `call_${ofRun(runId)}_${callId}`
}

/** Undefined for an id that is not ours. */
export function callOf(wireId: string): { runId: string; callId: string } | undefined {
  const match = /^call_([0-9a-z]{26})_(.+)$/s.exec(wireId)
  return match === null ? undefined : { runId: `run_${match[1]}`, callId: match[2] ?? '' }
}

/** How a request is called that has no `call_id` of its own. */
export function requestId({ call_id, seq }: { call_id?: string; seq: number }): string {
  return call_id ?? `request_${seq}`
}
