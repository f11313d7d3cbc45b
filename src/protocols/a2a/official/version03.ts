import type { Json, JsonObject } from '../../../core/json.ts'
import {
  type Artifact,
  endsStream,
  type Message,
  type Part,
  type Task,
  type TaskStatus,
  type Update,
} from './shapes.ts'

/* The same objects as A2A 0.3 has them: each names its `kind`. */

export function toTask03({ artifacts, history, status, ...task }: Task) {
  return {
    kind: 'task',
    ...task,
    status: toStatus(status),
    ...(artifacts && { artifacts: artifacts.map(toArtifact) }),
    ...(history && { history: history.map(toMessage) }),
  }
}

export function toUpdate03(update: Update) {
  if ('task' in update) return toTask03(update.task)
  if ('artifactUpdate' in update) {
    const { artifact, ...rest } = update.artifactUpdate
    return { kind: 'artifact-update', ...rest, artifact: toArtifact(artifact) }
  }
  const { status, ...rest } = update.statusUpdate
  return { kind: 'status-update', ...rest, status: toStatus(status), final: endsStream(status.state) }
}

function toStatus({ state, message, timestamp }: TaskStatus) {
  const name = state.slice('TASK_STATE_'.length).toLowerCase().replaceAll('_', '-')
  return { state: name, ...(message && { message: toMessage(message) }), timestamp }
}

function toMessage({ role, parts, ...rest }: Message) {
  return { kind: 'message', ...rest, role: role === 'ROLE_USER' ? 'user' : 'agent', parts: parts.map(toPart) }
}

function toArtifact({ parts, ...rest }: Artifact) {
  return { ...rest, parts: parts.map(toPart) }
}

function toPart({ text, raw, url, data, filename, mediaType }: Part) {
  if (text !== undefined) return { kind: 'text', text }
  if (raw === undefined && url === undefined) return toDataPart(data ?? null)
  const content = raw === undefined ? { uri: url } : { bytes: raw }
  const file = { ...content, ...(filename !== undefined && { name: filename }), mimeType: mediaType }
  return { kind: 'file', file }
}

/** Data is an object in 0.3; of anything else the SDK's translation makes the same one. */
function toDataPart(data: Json): JsonObject {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return { kind: 'data', data }
  return { kind: 'data', data: { value: data }, metadata: { data_part_compat: true } }
}
