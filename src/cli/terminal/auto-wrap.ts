const off = '\x1b[?7l'
const on = '\x1b[?7h'

/** Lines are wrapped here, and a terminal that thinks a character wider than we do must not move what is below. */
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
