import { Socket } from 'node:net'

/** For the library, whose listener throws when data are not what Postgres sends: that would end the process. */
export class CarefulSocket extends Socket {
  override emit(event: string | symbol, ...values: unknown[]): boolean {
    if (event !== 'data') return super.emit(event as string, ...values)
    try {
      return super.emit(event, ...values)
    } catch (cause) {
      this.destroy(new Error('The data are not an answer of Postgres.', { cause }))
      return true
    }
  }
}
