import type { OpenServer } from '../../server.ts'

/**
 * Starts a server and waits until it serves; an abort stops it meanwhile, for waiting for a database can take long. `ended` settles
 * when the server has. Rejects with the abort's reason, or with why it can't start.
 */
export async function untilReady(server: OpenServer, signal: AbortSignal): Promise<{ ended: Promise<void> }> {
  const ended = server.start()
  ended.catch(() => {})
  const stop = () => void server.shutdown({ deadline: 0 })
  signal.addEventListener('abort', stop, { once: true })
  try {
    await Promise.race([server.ready, ended])
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', stop)
  }
  return { ended }
}
