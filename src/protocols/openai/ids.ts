/* Ids on the wire are made of those of runs and calls, so that a replay has the same ones. */

const ofRun = (runId: string) => runId.replace(/^run_/, '')

/** Of a chat completion: each stretch of a run is one. */
export function completionId(runId: string, stretch = 1): string {
  return `chatcmpl-${ofRun(runId)}${stretch > 1 ? `_${stretch}` : ''}`
}

export function responseId(runId: string, stretch = 1): string {
  return `resp_${ofRun(runId)}${stretch > 1 ? `_${stretch}` : ''}`
}

export interface StretchId {
  runId: string
  /** From 1. */
  stretch: number
}

/** The stretch that a response is; undefined for what is no id of ours. */
export function stretchOfResponse(id: string): StretchId | undefined {
  const match = /^resp_([0-9a-z]{26})(?:_([1-9]\d{0,5}))?$/.exec(id)
  if (match === null || match[2] === '1') return undefined
  return { runId: `run_${match[1]}`, stretch: Number(match[2] ?? 1) }
}
