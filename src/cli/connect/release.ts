import { releasePath } from '../../core/access/folder-paths.ts'
import type { ServerHint } from '../../core/access/server-file.ts'
import { commandKeyFor } from '../../core/access/server-proof.ts'
import { transportTo } from './running-server.ts'
import { addressed, targetAt } from './target.ts'

/** Asks the command that owns a folder to let go of it. It may need the folder until its end; one that is gone needs no asking. */
export async function askToRelease(running: ServerHint, signal: AbortSignal): Promise<void> {
  const target = targetAt(running, commandKeyFor(running.secret), transportTo(running))
  try {
    const request = {
      method: 'POST',
      url: releasePath,
      headers: {},
      signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]),
    }
    const answer = await target.send(addressed(request, target))
    for await (const _ of answer.body);
  } catch {
    signal.throwIfAborted()
  } finally {
    await target.close()
  }
}
