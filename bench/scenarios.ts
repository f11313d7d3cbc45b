import { type Cell, measure, type Target, type Times } from './cell.ts'
import type { Ask, Dialect, Method } from './dialect.ts'
import type { LoadProcess } from './load-process.ts'
import type { MeasuredProcess } from './measured-process.ts'

export interface Servers {
  echo: MeasuredProcess
  sse: MeasuredProcess
  yardstick: MeasuredProcess
  sdk: MeasuredProcess
  agentserve: MeasuredProcess
}

/** Rows that belong together; each is held against `bare` and `stored` at the same number of connections. */
export interface Table {
  title: string
  bare: string
  /** The least that a durable run costs. */
  stored?: string
  cells: Cell[]
}

const yardstick = 'bare node:http and SQLite'
const connectionCounts = [1, 32, 256]
const fragmentCount = 20
const messagesBefore = 100

export class Scenarios {
  readonly #servers: Servers
  readonly #load: LoadProcess
  readonly #times: Times

  constructor(servers: Servers, load: LoadProcess, times: Times) {
    this.#servers = servers
    this.#load = load
    this.#times = times
  }

  /** `sendMessage`, one fragment, a new session each; and with 20 fragments; and in sessions of 100 messages. */
  async sends(): Promise<Table> {
    const bare = this.#target('bare node:http', 'echo', 'send', 'echo', '1')
    const targets = [
      this.#target(yardstick, 'yardstick', 'send', 'echo', '1'),
      this.#target(`${yardstick}, 20 fragments`, 'yardstick', 'send', 'fragments', `${fragmentCount}`),
      this.#target('A2A SDK, in memory', 'sdk', 'send', 'echo', '1'),
      this.#target('A2A SDK, in memory, 20 fragments', 'sdk', 'send', 'fragments', `${fragmentCount}`),
      this.#target('agentserve, new session', 'agentserve', 'send', 'echo', '1'),
      this.#target('agentserve, new session, 20 fragments', 'agentserve', 'send', 'fragments', `${fragmentCount}`),
    ]
    const cells: Cell[] = []
    await this.#warm([bare, ...targets])
    for (const connections of connectionCounts) {
      for (const target of [bare, ...targets]) cells.push(await this.#measure(target, connections))
      cells.push(await this.#continued(connections))
    }
    return { title: '`sendMessage`', bare: bare.name, stored: yardstick, cells }
  }

  /** Each connection goes on with a session of its own that has 100 messages already, and its agent reads the latest 20. */
  async #continued(connections: number): Promise<Cell> {
    const sessions = `continued-${connections}`
    const earlier = this.#target('', 'agentserve', 'send', 'echo', 'An earlier message of this session.')
    const filling = { connections, sessions, warmUpMs: 0, measureMs: 0, requestsPerConnection: messagesBefore / 2 }
    const filled = await measure(this.#load, earlier, filling)
    if (filled.errors > 0) throw new Error(`the sessions could not be filled: ${filled.firstError}`)
    const target = this.#target('agentserve, session of 100 messages', 'agentserve', 'send', 'recall', 'And now?')
    return measure(this.#load, target, { ...this.#times, connections, sessions })
  }

  async streams(): Promise<Table> {
    const targets = this.#streamTargets()
    const cells: Cell[] = []
    await this.#warm(targets)
    for (const connections of connectionCounts) {
      for (const target of targets) cells.push(await this.#measure(target, connections))
    }
    return { title: '`streamMessage` of 20 fragments', bare: targets[0]?.name ?? '', stored: yardstick, cells }
  }

  /** Half of what each could do at 256 connections, arriving at an even rate. */
  async firstFragments(streams: Table): Promise<Cell[]> {
    const cells: Cell[] = []
    for (const target of this.#streamTargets()) {
      const capacity = streams.cells.find((cell) => cell.server === target.name && cell.connections === 256)
      const ratePerSecond = (capacity?.perSecond ?? 0) / 2
      cells.push(await measure(this.#load, target, { ...this.#times, connections: 256, ratePerSecond }))
    }
    return cells
  }

  /** A run of 500 fragments against one of 10,000, one at a time. */
  async longRuns(): Promise<{ fragments: number; cell: Cell }[]> {
    const rows = []
    for (const fragments of [500, 10_000]) {
      const target = this.#target('agentserve', 'agentserve', 'stream', 'fragments', `${fragments}`)
      rows.push({ fragments, cell: await this.#measure(target, 1) })
    }
    return rows
  }

  /** A server that has just started runs code that is not compiled yet, whatever it will cost later. */
  async #warm(targets: readonly Target[]): Promise<void> {
    for (const target of targets) {
      await measure(this.#load, target, { connections: 32, warmUpMs: 0, measureMs: this.#times.measureMs })
    }
  }

  #streamTargets(): Target[] {
    return [
      this.#target('bare SSE on node:http', 'sse', 'stream', 'fragments', `${fragmentCount}`),
      this.#target(yardstick, 'yardstick', 'stream', 'fragments', `${fragmentCount}`),
      this.#target('A2A SDK, in memory', 'sdk', 'stream', 'fragments', `${fragmentCount}`),
      this.#target('agentserve', 'agentserve', 'stream', 'fragments', `${fragmentCount}`),
    ]
  }

  #measure(target: Target, connections: number): Promise<Cell> {
    return measure(this.#load, target, { ...this.#times, connections })
  }

  #target(name: string, server: keyof Servers, method: Method, agentId: string, text: string): Target {
    const dialect: Dialect = server === 'sdk' ? 'sdk' : 'agentserve'
    const ask: Ask = { dialect, method, agentId, text }
    return { name, process: this.#servers[server], ask }
  }
}
