/** React chooses its build when it is loaded: the one for development takes twice the time at every frame. */
export async function importUi<T>(load: () => Promise<T>): Promise<T> {
  const { NODE_ENV: before } = process.env
  process.env.NODE_ENV = 'production'
  try {
    return await load()
  } finally {
    if (before === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = before
  }
}
