import { z } from 'zod'
import type { JsonObject } from '../../core/json.ts'
import type { RunRecord } from '../../core/run.ts'

/* What a later version may add to the runs of a copy. It is kept, so that a later version finds it again. */

/** An event of a type that is unknown here. The name of the type is a line of event streams, so it must be a word. */
export const LaterEvent = z.object({
  type: z.string().regex(/^[a-z]\w{0,63}$/i, { error: 'must be the type of an event' }),
})

/** Whether the record of a run has room for a field that is unknown here. `path`: in the line. */
export function isAddition(type: string, path: string): boolean {
  return type === 'run' && path.startsWith('run.') && !/^run\.messages\.\d+\.[^.]+$/.test(path)
}

/** The run of a line with all that the line has, also what its schema does not know. */
export function asRead<RUN extends RunRecord>({ run }: { run: RUN }, line: unknown): RUN {
  const read = Object.entries((line as { run: JsonObject }).run)
  const known = read.filter(([name]) => Object.hasOwn(run, name))
  const later = read.filter(([name]) => !Object.hasOwn(run, name))
  const whole = { ...run, ...Object.fromEntries(known) }
  return later.length === 0 ? whole : { ...whole, later: Object.fromEntries(later) }
}
