import { terminalJson } from './text.ts'

/** Data goes here, and nothing else does. */
export function print(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** One value, one line. */
export function printJson(value: unknown): void {
  print(terminalJson(value))
}

/** Everything that is not data. */
export function say(text: string): void {
  process.stderr.write(text.endsWith('\n') ? text : `${text}\n`)
}

/** Resolves when stdout takes more: for output whose length nobody knows. */
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

/** A reader that has gone (`| head`) ends the program quietly. */
export function leaveQuietlyOnClosedPipe(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      process.exit(error.code === 'EPIPE' ? 0 : 1)
    })
  }
}
