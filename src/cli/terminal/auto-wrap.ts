const off = '\x1b[?7l'
const on = '\x1b[?7h'

/** Turns line wrap off: a character drawn wider than expected must not move the lines below. */
export async function withoutAutoWrap<T>(stdout: NodeJS.WriteStream, work: () => Promise<T>): Promise<T> {
  const restore = () => void stdout.write(on)
  process.on('exit', restore)
  stdout.write(off)
  try {
    return await work()
  } finally {
    restore()
    process.off('exit', restore)
  }
}
