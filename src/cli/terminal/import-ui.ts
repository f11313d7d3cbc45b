/** Loads React's production build, which is chosen at import: the development build takes twice the time per frame. */
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
