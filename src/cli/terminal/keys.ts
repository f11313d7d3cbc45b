import { readFileSync } from 'node:fs'

/** Arrows and function keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal sends.
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?/g
/** Nobody types so many keys at once. */
const pastedFrom = 4

/**
 * Reads single keys from the terminal until the function it returns is called. Ctrl-C and Ctrl-Z do what they do
 * elsewhere. Undefined where there is no terminal to read from.
 */
export function readKeys(onKey: (key: string) => void): (() => void) | undefined {
  const { stdin } = process
  if (!stdin.isTTY || !process.stderr.isTTY || isInBackground()) return undefined
  let closed = false
  const onData = (data: string) => {
    const keys = data.replace(sequences, '')
    if (keys.length > pastedFrom) return
    for (const key of keys) {
      if (key === '\x03') process.emit('SIGINT', 'SIGINT')
      else if (key === '\x1a') suspend()
      else onKey(key)
    }
  }
  const suspend = () => {
    if (process.platform === 'win32') return
    stdin.setRawMode(false)
    process.kill(0, 'SIGTSTP')
    // Where no shell could continue it, the system does not stop it either.
    setImmediate(resume)
  }
  const resume = () => {
    if (!closed && !isInBackground()) stdin.setRawMode(true)
  }
  process.on('SIGCONT', resume)
  stdin.setRawMode(true)
  stdin.setEncoding('utf8').on('data', onData).resume()
  return () => {
    closed = true
    process.off('SIGCONT', resume)
    stdin.off('data', onData).pause()
    stdin.setRawMode(false)
  }
}

/** A job in the background (`agentserve dev &`) is stopped by the system when it touches the terminal. Known on Linux only. */
function isInBackground(): boolean {
  try {
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return foreground !== group
  } catch {
    return false
  }
}
