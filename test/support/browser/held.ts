import { agent } from '../../../src/runnables/agent/agent.ts'

/** An agent that says one text, and the other when it is released. */
export function heldAgent(first: string, last: string) {
  let release: () => void = () => {}
  const held = agent({
    async *run() {
      yield first
      await new Promise<void>((resolve) => {
        release = resolve
      })
      yield last
    },
  })
  return { held, release: () => release() }
}
