import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Job, LoadMessage, Outcome } from './job.ts'

export interface LoadProcess {
  readonly pid: number
  /** `onBegun` and `onMeasured` mark the measured time. */
  run(job: Job, onBegun?: () => void, onMeasured?: () => void): Promise<Outcome>
  stop(): Promise<void>
}

/** A process of its own for the load, so that the client and this program don't wait for each other. */
export function startLoad(): LoadProcess {
  const child: ChildProcess = fork(join(import.meta.dirname, 'load.ts'))
  return {
    pid: child.pid ?? 0,
    run(job, onBegun, onMeasured) {
      return new Promise((resolve, reject) => {
        const failed = () => reject(new Error('the load process ended'))
        const take = (message: LoadMessage): void => {
          if (message.type === 'begun') onBegun?.()
          else if (message.type === 'measured') onMeasured?.()
          else {
            child.off('message', take)
            child.off('exit', failed)
            resolve(message.outcome)
          }
        }
        child.on('message', take)
        child.once('exit', failed)
        child.send(job)
      })
    },
    async stop() {
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}
