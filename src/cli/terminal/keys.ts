import { readFileSync } from 'node:fs'

/** Arrows and function keys. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: what the terminal sends.
const sequences = /\x1b(?:\[[0-?]*[ -/]*[@-~]|O.)?/g
/** More keys at once are a paste. */
const pastedFrom = 4

/** Reads single keys until the returned function is called. Ctrl-C and Ctrl-Z work. Undefined without a terminal. */
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
    // Without a shell to continue it, the process was not stopped.
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

/** The system stops a background job (`agentserve dev &`) that touches the terminal. Detected on Linux only. */
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
