import type { PushVersion } from '../../core/push.ts'
import type { RunRecord } from '../../core/run.ts'

/** What one request tells. */
export interface NoticeBody {
  contentType: string
  body: string
  headers?: Record<string, string>
}

/**
 * The requests, in order, that tell the present state of a run. `isFirst`: this process has told the receiver nothing yet, so it
 * needs the whole state.
 */
export type Notice = (run: RunRecord, version: PushVersion, isFirst: boolean) => Promise<readonly NoticeBody[]>
