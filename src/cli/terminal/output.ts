import { isDiskFull } from '../../runtime/whole-file.ts'
import { terminalJson } from './text.ts'

/** Prints data: the only writer to stdout. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

export function printJson(value: unknown): void {
  print(terminalJson(value))
}

let divertedTo: ((text: string) => void) | undefined

/** Prints everything except data, on stderr. */
export function say(text: string): void {
  if (divertedTo !== undefined) divertedTo(text)
  else process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Until the returned function is called, `to` gets what is said: a screen that is drawn can't be written over. */
export function divertSaid(to: (text: string) => void): () => void {
  divertedTo = to
  return () => {
    divertedTo = undefined
  }
}

/** Prints data of any length: resolves when stdout takes more. */
export async function write(text: string): Promise<void> {
  if (process.stdout.write(text)) return
  await new Promise<void>((resolve) => {
    const done = () => {
      process.stdout.off('drain', done).off('close', done)
      resolve()
    }
    process.stdout.on('drain', done).on('close', done)
  })
}

let isHungUp = false

/** The terminal is gone: nothing that is printed from now on, and no key, is of any effect. */
export function stopWriting(): void {
  isHungUp = true
  process.stdin.on('error', () => {}).destroy()
}

function reportStdout(error: Error): void {
  const reason = isDiskFull(error) ? 'its disk is full. Free some space' : error.message
  process.stderr.write(`The output can't be written: ${reason}.\n`)
}

/** A closed reader (`| head`) ends the program without an error; one that takes nothing for another reason fails it. */
export function leaveQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (isHungUp) return
      if (error.code === 'EPIPE') process.exit(0)
      if (stream === process.stdout) reportStdout(error)
      process.exit(1)
    })
  }
}
