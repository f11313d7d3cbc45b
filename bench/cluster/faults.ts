import { setTimeout as sleep } from 'node:timers/promises'
import type { Instance } from '../../test/support/cluster/instances.ts'
import type { PostgresServer } from '../../test/support/postgres/server.ts'
import type { FaultKind, PlannedFault } from './plan.ts'
import { rival } from './rival.ts'
import type { Troubles } from './troubles.ts'

export interface Stage {
  instances: readonly Instance[]
  postgres: PostgresServer
  schema: string
  /** Takes the room of the database's files away, and gives it back. Undefined: it can't be done here. */
  disk?: { fill(): Promise<void>; free(): Promise<void> }
  troubles: Troubles
  /** What the log of a process was, once it has ended. */
  onEnd(instance: Instance, log: string): void
}

/** When something happened to an instance, or to the database. */
export interface Happened {
  kind: FaultKind
  instance: string | undefined
  fromMs: number
  toMs: number
}

/** What a client waits for: a group of writes, and a transaction. */
const commits = /\bINTO run\b|^\s*COMMIT/i
const delayMs = 200

/** Lets everything of a plan happen. One thing at a time happens to an instance, and to the database. */
export async function playFaults(plan: readonly PlannedFault[], stage: Stage): Promise<Happened[]> {
  const beganMs = performance.now()
  const happened: Happened[] = []
  const turns = new Map<unknown, Promise<void>>()
  const inTurn = (of: unknown, work: () => Promise<void>): Promise<void> => {
    const turn = (turns.get(of) ?? Promise.resolve()).then(work)
    turns.set(of, turn)
    return turn
  }
  const play = async ({ kind, instance: number, ms }: PlannedFault) => {
    const instance = number === undefined ? undefined : stage.instances[number]
    const fromMs = performance.now()
    if (kind === 'rolling restart') {
      for (const each of stage.instances) await inTurn(each, () => restart(each, stage))
    } else {
      await inTurn(instance ?? stage.postgres, async () => {
        const end = stage.troubles.begin(kind, instance?.name)
        await (instance === undefined ? hurtDatabase(kind, ms, stage) : hurtInstance(kind, ms, instance, stage))
        end()
      })
    }
    happened.push({ kind, instance: instance?.name, fromMs: fromMs - beganMs, toMs: performance.now() - beganMs })
  }
  await Promise.all(
    plan.map(async (fault) => {
      await sleep(Math.max(0, fault.atMs - (performance.now() - beganMs)))
      await play(fault)
    }),
  )
  return happened
}

/** A server that has no database to write to when it is stopped gives up after its time, with another code. */
const gaveUp = 130

async function restart(instance: Instance, { onEnd, troubles }: Stage): Promise<void> {
  const fromMs = performance.now()
  const { stderr, code, signal } = await instance.stop()
  onEnd(instance, stderr)
  const mayGiveUp = code === gaveUp && troubles.isOfDatabase(fromMs, performance.now())
  if (code !== 0 && !mayGiveUp)
    throw new Error(`${instance.name} ended with ${code ?? signal} after SIGTERM: ${stderr.slice(-2_000)}`)
  await instance.start()
}

async function hurtInstance(kind: FaultKind, ms: number, instance: Instance, { onEnd }: Stage): Promise<void> {
  const { proxy, wakes, server } = instance
  const { child } = server
  switch (kind) {
    case 'kill':
      onEnd(instance, (await instance.kill()).stderr)
      await sleep(ms)
      return instance.start()
    case 'long stop':
    case 'short stop':
      child.kill('SIGSTOP')
      await sleep(ms)
      child.kill('SIGCONT')
      return
    case 'cut':
      proxy.cut()
      return
    case 'partition':
      await Promise.all([proxy.refuse(), wakes.refuse()])
      proxy.cut()
      wakes.cut()
      break
    case 'silence':
      proxy.stall()
      wakes.stall()
      break
    case 'half-open, server gone':
      proxy.cut('server')
      break
    case 'half-open, client gone':
      proxy.cut('client')
      break
    case 'delay':
      proxy.delay(delayMs)
      break
    case 'lost answer of a commit':
      await loseAnswers(instance, ms)
      break
    case 'no wake-ups':
      await wakes.refuse()
      wakes.cut()
      break
    case 'clock':
      child.kill('SIGUSR2')
      await sleep(ms)
      child.kill('SIGUSR2')
      return
    default:
      throw new Error(`${kind} is nothing that happens to an instance.`)
  }
  await sleep(ms)
  await Promise.all([proxy.heal(), wakes.heal()])
}

/** One after the other, so that what is sent again is lost again. */
async function loseAnswers({ proxy }: Instance, ms: number): Promise<void> {
  const endsAt = performance.now() + ms
  while (performance.now() < endsAt) await Promise.race([proxy.lose('answer', commits), sleep(ms)])
}

async function hurtDatabase(kind: FaultKind, ms: number, stage: Stage): Promise<void> {
  const { postgres, schema, disk } = stage
  switch (kind) {
    case 'restart of Postgres':
      return postgres.restart('immediate')
    case 'Postgres gone':
      await postgres.halt('immediate')
      await sleep(ms)
      return postgres.resume()
    case 'rival':
      return rival(postgres.adminUrl, schema, ms)
    case 'disk full':
      await disk?.fill()
      await sleep(ms)
      return disk?.free()
    default:
      throw new Error(`${kind} is nothing that happens to a database.`)
  }
}
