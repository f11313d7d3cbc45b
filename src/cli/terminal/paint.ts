import { Chalk } from 'chalk'

/** Colours of the terminal that a stream goes to; plain text where that is none, or where NO_COLOR asks for it. */
type Style = 'bold' | 'dim' | 'italic' | 'underline' | 'strikethrough' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta'

export type Paint = Pick<InstanceType<typeof Chalk>, Style> & {
  readonly coloured: boolean
}

export function paintFor(stream: { isTTY?: boolean }, environment = process.env): Paint {
  const coloured = stream.isTTY === true && !environment.NO_COLOR && environment.TERM !== 'dumb'
  return Object.assign(new Chalk({ level: coloured ? 1 : 0 }), { coloured })
}
