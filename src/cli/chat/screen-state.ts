export interface Entry {
  id: number
  kind: 'name' | 'user' | 'markdown' | 'note' | 'error'
  text: string
  /** Continues the entry before, which was cut. */
  joined: boolean
}

export interface OpenQuestion {
  /** Before the input. */
  prompt: string
  /** What is typed is not shown. */
  isSecret: boolean
  takesEmpty: boolean
  /** There is no run yet: the answers start it. */
  startsRun?: boolean | undefined
}

export interface Screen {
  entries: readonly Entry[]
  open: string
  openJoined: boolean
  activity: readonly string[]
  /** Start of the active run; undefined: no run is active. */
  busySince: number | undefined
  /** Output of the model calls that have ended. */
  tokens: number
  /** Of the model call under way. */
  streamedChars: number
  connectionLost: boolean
  question: OpenQuestion | undefined
  /** Messages that are sent when the run has ended. */
  queued: readonly string[]
  /** Why the queue is not sent by itself. */
  held: boolean
  /** A command of the chat is under way. */
  working: boolean
  /** The workflow takes a form, which Enter opens. */
  startsForm: boolean
  /** The last line of the reasoning; undefined: none is under way. */
  thinking: string | undefined
}

export const emptyScreen: Screen = {
  entries: [],
  open: '',
  openJoined: false,
  activity: [],
  busySince: undefined,
  tokens: 0,
  streamedChars: 0,
  connectionLost: false,
  question: undefined,
  queued: [],
  held: false,
  working: false,
  startsForm: false,
  thinking: undefined,
}
