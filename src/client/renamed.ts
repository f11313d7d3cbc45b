import { AppError } from '../core/error.ts'
import type { RunsClient } from './runs.ts'

/** The methods of `runs` that have another name now: calling one tells it. */
const moved = {
  start: () => refuse('start', 'run'),
  background: () => refuse('background', 'background'),
  stream: () => refuse('stream', 'stream'),
}

export function withRenamed(runs: RunsClient): RunsClient {
  return Object.setPrototypeOf(runs, moved) as RunsClient
}

function refuse(old: string, name: string): never {
  throw new AppError('invalid_request', `client.runs.${old}() is now called client.agents.${name}(): rename it.`)
}
