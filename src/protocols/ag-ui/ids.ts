import { callOf, wireCallId } from '../call-id.ts'

/*
 * Clients put messages and calls of all runs of a thread together by their ids, so those have the run's id in them, and the number
 * of the event with which they begin.
 */

export function messageIdOf(runId: string, seq: number): string {
  return `msg_${runId.replace(/^run_/, '')}_${seq}`
}

export function reasoningIdOf(runId: string, seq: number): string {
  return `rsn_${runId.replace(/^run_/, '')}_${seq}`
}

/** The run whose answer the message is part of; undefined for a message of another origin. */
export function runOfMessage(id: string): string | undefined {
  const match = /^(?:msg|rsn)_([0-9a-z]{26})_\d+$/.exec(id)
  return match === null ? undefined : `run_${match[1]}`
}

/** The message of a tool with the outcome of a call. */
export function resultIdOf(toolCallId: string): string {
  return `tool_${toolCallId}`
}

export function interruptIdOf(runId: string, requestId: string): string {
  return `${runId}/${requestId}`
}

/** Undefined for an id that is not ours. */
export function requestOfInterrupt(id: string): { runId: string; requestId: string } | undefined {
  const match = /^(run_[0-9a-z]{26})\/(.+)$/s.exec(id)
  return match === null ? undefined : { runId: match[1] ?? '', requestId: match[2] ?? '' }
}

const suffix = /#\d+$/

/**
 * `again`: the number of the event, for a call of an id that the run has used before. An id that ends like that by itself has a
 * number in any case, so that what is behind the last `#` is never the model's.
 */
export function toolCallIdOf(runId: string, callId: string, again?: number): string {
  const number = again ?? (suffix.test(callId) ? 0 : undefined)
  return number === undefined ? wireCallId(runId, callId) : `${wireCallId(runId, callId)}#${number}`
}

/** The call that `toolCallIdOf` has named; undefined for an id that is not ours. */
export function callOfId(toolCallId: string): ReturnType<typeof callOf> {
  return callOf(toolCallId.replace(suffix, ''))
}
