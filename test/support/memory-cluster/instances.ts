import type { Instance, Peer } from '../../../src/core/cluster/cluster.ts'
import { AppError } from '../../../src/core/error.ts'

export interface InstanceRow extends Instance {
  key: number
  beats: number
  isDead: boolean
  hasLeft: boolean
}

/** The instances that ever joined, as the table of them. */
export class Instances {
  readonly #rows: InstanceRow[] = []

  join(self: Instance): InstanceRow {
    if (this.#find(self.owner) !== undefined) throw new AppError('conflict', `'${self.owner}' has joined already.`)
    const row = { ...self, key: this.#rows.length + 1, beats: 0, isDead: false, hasLeft: false }
    this.#rows.push(row)
    return row
  }

  get(key: number): InstanceRow | undefined {
    return this.#rows[key - 1]
  }

  /** Dead, or left. */
  isOver(owner: string): boolean {
    const row = this.#find(owner)
    return row !== undefined && (row.isDead || row.hasLeft)
  }

  /** Whether what the owner left unfinished may be taken: also that of one that never joined. */
  isGone(owner: string): boolean {
    return this.#find(owner) === undefined || this.isOver(owner)
  }

  peersOf(self: InstanceRow): Peer[] {
    return this.#rows
      .filter((row) => row !== self && !row.isDead && !row.hasLeft)
      .map(({ key, owner, address, version, entities, deadAfterMs, beats }) => {
        // All are of one version.
        const knows = Number.MAX_SAFE_INTEGER
        return { key, owner, address, version, entities, deadAfterMs, knows, beat: String(beats) }
      })
  }

  /** Dead and left ones that own one of these runs. */
  ownersAmong(owners: ReadonlySet<string>): number[] {
    return this.#rows.filter((row) => (row.isDead || row.hasLeft) && owners.has(row.owner)).map(({ key }) => key)
  }

  #find(owner: string): InstanceRow | undefined {
    return this.#rows.find((row) => row.owner === owner)
  }
}
