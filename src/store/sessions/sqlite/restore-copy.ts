import type { SessionCopy, SessionHead, SessionRecord } from '../../../core/session.ts'
import { UsageSums } from '../../rules/usage-rows.ts'
import type { Connection } from '../../sqlite/connection.ts'
import { beginCopy, type Counted, finishCopy, writeAtOnce, writeStep } from './copies.ts'
import { copySteps } from './hidden/copy-steps.ts'
import type { Removal } from './hidden/removal.ts'
import type { HiddenSessions } from './schema/hidden.ts'
import { hideTry } from './writing/keep-try.ts'

export interface RestoreOptions {
  hidden: HiddenSessions
  removal: Removal
  work: <T>(work: (writer: Connection) => Promise<T>, characters?: number) => Promise<T>
}

/**
 * Writes a copy in steps; each begins when the one before is durable. On failure it removes what it has written. `instead`: the
 * try that goes with the last step.
 */
export async function restoreInSteps(
  { hidden, removal, work }: RestoreOptions,
  copy: SessionCopy,
  head: () => SessionHead,
  instead: string | undefined,
): Promise<SessionRecord> {
  const id = copy.session.session_id
  await removal.finished(id)
  const steps = copySteps(copy.runs)
  let isBegun = false
  let taken: string | undefined
  const finishing = async (writer: Connection, finish: (head: SessionHead) => Promise<SessionRecord>) => {
    if (instead === undefined) return finish(head())
    const tried = await hideTry(writer, instead)
    taken = tried.hidden
    hidden.add(tried.hidden)
    const { session, ...rest } = head()
    return finish({ ...rest, session: tried.state === null ? session : { ...session, state: JSON.parse(tried.state) } })
  }
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
        const made = await work(
          (writer) => finishing(writer, (last) => writeAtOnce(writer, last, present)),
          present.characters,
        )
        if (taken !== undefined) removal.add([taken])
        return made
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
    const made = await work((writer) => finishing(writer, (last) => finishCopy(writer, last, counted)))
    hidden.delete(id)
    if (taken !== undefined) removal.add([taken])
    return made
  } catch (error) {
    if (taken !== undefined) hidden.delete(taken)
    if (isBegun) removal.add([id])
    throw error
  } finally {
    await steps.return(undefined)
  }
}
