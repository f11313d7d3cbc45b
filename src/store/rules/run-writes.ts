import { eventText } from '../../core/event.ts'
import type { Message } from '../../core/message.ts'
import type { RunBatch, RunEnd, RunStart } from '../../core/run-write.ts'
import { jsonSize } from '../../runtime/json-size.ts'

export interface BeginRun {
  runId: string
  fence: number
  at: string
}

/** A write that a run waits for. */
export type RunWrite =
  | { kind: 'start'; start: RunStart }
  | { kind: 'begin'; begin: BeginRun }
  | { kind: 'append'; batch: RunBatch }
  | { kind: 'finish'; end: RunEnd }

export function runIdOf(write: RunWrite): string {
  switch (write.kind) {
    case 'start':
      return write.start.run.run_id
    case 'begin':
      return write.begin.runId
    case 'append':
      return write.batch.run_id
    case 'finish':
      return write.end.run_id
  }
}

/** From this size on, a statement is built in several ticks, and written alone. */
const largeCharacters = 1024 * 1024

export function isLarge(write: RunWrite): boolean {
  return charactersOf(write) >= largeCharacters
}

/** Approximate size of a write, without the parts that are always short. */
export function charactersOf(write: RunWrite): number {
  switch (write.kind) {
    case 'start':
      return (
        inMessages(write.start.run.messages) +
        inValue(write.start.run.metadata) +
        inValue(write.start.run.given) +
        inValue(write.start.state)
      )
    case 'finish':
      return inMessages(write.end.messages) + inValue(write.end.state)
    case 'append':
      return write.batch.events.reduce((sum, event) => sum + inValue(eventText(event) ?? event), 0)
    case 'begin':
      return 0
  }
}

function inMessages(messages: readonly Message[]): number {
  let characters = 0
  for (const { parts } of messages)
    for (const part of parts)
      characters += inValue(part.type === 'text' ? part.text : part.type === 'data' ? part.data : null)
  return characters
}

function inValue(value: unknown): number {
  return jsonSize(value, largeCharacters)
}
