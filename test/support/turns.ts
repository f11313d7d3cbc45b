import { setImmediate as nextTurn } from 'node:timers/promises'

/** Lets everything else that is ready happen, so many times. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn()
}
