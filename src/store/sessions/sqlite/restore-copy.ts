import type { SessionCopy, SessionHead, SessionRecord } from '../../../core/session.ts'
import { UsageSums } from '../../rules/usage-rows.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { beginCopy, type Counted, finishCopy, writeAtOnce, writeStep } from './copies.ts'
import { copySteps } from './hidden/copy-steps.ts'
import type { Removal } from './hidden/removal.ts'
import type { HiddenSessions } from './schema/hidden.ts'

export interface RestoreOptions {
  hidden: HiddenSessions
  removal: Removal
  work: <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>
}

/** Writes a copy in steps; each begins when the one before is durable. On failure it removes what it has written. */
export async function restoreInSteps(
  { hidden, removal, work }: RestoreOptions,
  copy: SessionCopy,
  head: () => SessionHead,
): Promise<SessionRecord> {
  const id = copy.session.session_id
  await removal.finished(id)
  const steps = copySteps(copy.runs)
  let isBegun = false
  try {
    let { value: step } = await steps.next()
    const counted: Counted = { turns: 0, usage: new UsageSums() }
    for (;;) {
      const { value: following, done } = await steps.next()
      const present = step
      if (present === undefined) throw new Error('A copy has at least one step.')
      counted.turns += present.turns
      counted.usage.addAll(present.usage)
      if (done && !isBegun) {
        return await work((writer) => writeAtOnce(writer, head(), present), present.characters)
      }
      if (!isBegun) {
        await work(async (writer) => {
          await beginCopy(writer, id)
          hidden.add(id)
          isBegun = true
        })
      }
      await work((writer) => writeStep(writer, id, present), present.characters)
      if (done) break
      step = following
    }
    const made = await work((writer) => finishCopy(writer, head(), counted))
    hidden.delete(id)
    return made
  } catch (error) {
    if (isBegun) removal.add([id])
    throw error
  } finally {
    await steps.return(undefined)
  }
}
