import { Chalk } from 'chalk'
import { isDumb } from './has-terminal.ts'

/** Styles for the terminal of a stream; plain text without one, or with NO_COLOR. */
type Style =
  | 'bold'
  | 'dim'
  | 'italic'
  | 'underline'
  | 'strikethrough'
  | 'inverse'
  | 'red'
  | 'green'
  | 'yellow'
  | 'cyan'
  | 'magenta'

export type Paint = Pick<InstanceType<typeof Chalk>, Style> & {
  readonly coloured: boolean
}

export function paintFor(stream: { isTTY?: boolean }, environment = process.env): Paint {
  const coloured = stream.isTTY === true && !environment.NO_COLOR && !isDumb(environment)
  return Object.assign(new Chalk({ level: coloured ? 1 : 0 }), { coloured })
}
