import { Chalk } from 'chalk'

/** Colours of the terminal that a stream goes to; plain text where that is none, or where NO_COLOR asks for it. */
export type Paint = Pick<InstanceType<typeof Chalk>, 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'strikethrough'> & {
  readonly coloured: boolean
}

export function paintFor(stream: { isTTY?: boolean }, environment = process.env): Paint {
  const coloured = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb'
  const { bold, dim, red, green, yellow, strikethrough } = new Chalk({ level: coloured ? 1 : 0 })
  return { bold, dim, red, green, yellow, strikethrough, coloured }
}
