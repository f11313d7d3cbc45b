import type { Notice, NoticeBody } from '../../../service/notifications/notice.ts'
import type { Sessions } from '../../../service/services.ts'
import { fileReader } from '../../files.ts'
import { restType } from './error.ts'
import { contentMap } from './follow.ts'
import { endsStream, type Task, type Update } from './shapes.ts'
import { answerParts, toTask } from './task.ts'
import { fileAddress, type UrlSettings } from './urls.ts'
import { toTask03 } from './version03.ts'

export interface NoticeSettings extends Pick<UrlSettings, 'prefix' | 'publicUrl'> {
  sessions: Pick<Sessions, 'file'>
  /** How much content of files a notification may have. */
  fileBytes: number
}

/**
 * A run as push notifications tell it: in 1.0 first the task, then its whole answer and its status; in 0.3 the task each time.
 * Neither has the messages that the task got, nor an answer before it is whole.
 */
export function createNotice({ sessions, fileBytes, ...urls }: NoticeSettings): Notice {
  const fileUrl = fileAddress(urls.publicUrl ?? '', urls.prefix)
  return async (run, version, isFirst) => {
    const contents = await contentMap(answerParts(run), fileReader(sessions, run.session_id), fileBytes)
    const whole = toTask(run, { historyLength: 0, artifacts: true, contents, fileUrl })
    const { artifacts, ...bare } = whole
    const task = endsStream(whole.status.state) ? whole : bare
    if (version === '0.3') return [{ contentType: 'application/json', body: JSON.stringify(toTask03(task)) }]
    return isFirst ? [toBody({ task })] : updatesOf(task).map(toBody)
  }
}

function updatesOf({ id: taskId, contextId, status, artifacts = [] }: Task): Update[] {
  return [
    ...artifacts.map((artifact) => ({
      artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true },
    })),
    { statusUpdate: { taskId, contextId, status } },
  ]
}

function toBody(update: Update): NoticeBody {
  return { contentType: restType, body: JSON.stringify(update) }
}
