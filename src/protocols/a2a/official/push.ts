import { isAppError } from '../../../core/error.ts'
import type { Notifications } from '../../../service/notifications/notifications.ts'
import type { NotificationTarget, ShownTarget } from '../../../service/notifications/target.ts'
import { A2AError, invalidParams, taskNotFound } from './error.ts'
import { findTask } from './find-task.ts'
import type { Call } from './operations.ts'
import { type Fields, field, isFields, readTaskId, textField } from './read.ts'
import type { Version } from './versions.ts'

/* The push configs of a task. Nobody gets their credentials and tokens back. */

const maxUrlLength = 4_096

function pushOf({ services }: Pick<Call, 'services'>): Notifications {
  if (services.notifications !== undefined) return services.notifications
  throw new A2AError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'This server sends no push notifications.')
}

/** Before the task of a message begins: throws when its config can't be kept. */
export async function checkPush(call: Call, config: Fields | undefined): Promise<NotificationTarget | undefined> {
  if (config === undefined) return undefined
  const push = pushOf(call)
  const target = readTarget(config, call.version)
  await push.check(target)
  return target
}

export async function createPush(call: Call): Promise<object> {
  const push = pushOf(call)
  const taskId = readTaskId(call.params, 'taskId')
  await findTask(call, taskId)
  const config = call.version === '1.0' ? call.params : field(call.params, 'pushNotificationConfig')
  if (!isFields(config)) throw invalidParams('pushNotificationConfig is required', 'pushNotificationConfig')
  return toConfig(await ofTask(taskId, push.set(taskId, readTarget(config, call.version))), call.version)
}

export async function getPush(call: Call): Promise<object> {
  const { taskId, id } = readNames(call)
  const configs = await listed(call, taskId)
  // A client of 0.3 may leave the id out.
  const found = id === undefined ? configs[0] : configs.find(({ config_id }) => config_id === id)
  if (found !== undefined) return toConfig(found, call.version)
  throw new A2AError('TASK_NOT_FOUND', `The task '${taskId}' has no push config${id === undefined ? '' : ` '${id}'`}.`)
}

export async function listPush(call: Call): Promise<object> {
  const { taskId } = readNames(call)
  const configs = (await listed(call, taskId)).map((config) => toConfig(config, call.version))
  return call.version === '1.0' ? { configs, nextPageToken: '' } : configs
}

/** May be repeated. */
export async function deletePush(call: Call): Promise<object | null> {
  const push = pushOf(call)
  const { taskId, id } = readNames(call)
  const name = call.version === '1.0' ? 'id' : 'pushNotificationConfigId'
  if (id === undefined) throw invalidParams(`${name} is required`, name)
  await findTask(call, taskId)
  await ofTask(taskId, push.delete(taskId, id))
  return call.version === '1.0' ? {} : null
}

async function listed(call: Call, taskId: string): Promise<ShownTarget[]> {
  const push = pushOf(call)
  await findTask(call, taskId)
  return ofTask(taskId, push.list(taskId))
}

/** A task that the caller may only read has no configs for the caller. */
async function ofTask<T>(taskId: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw isAppError(error) && error.code === 'run_not_found' ? taskNotFound(taskId) : error
  }
}

function readNames({ params, version }: Call): { taskId: string; id: string | undefined } {
  if (version === '1.0') return { taskId: readTaskId(params, 'taskId'), id: textField(params, 'id', 'id') }
  const name = 'pushNotificationConfigId'
  return { taskId: readTaskId(params), id: textField(params, name, name) }
}

function readTarget(config: Fields, version: Version): NotificationTarget {
  const url = textField(config, 'url', 'url', maxUrlLength)
  if (url === undefined) throw invalidParams('url is required', 'url')
  const authentication = field(config, 'authentication')
  if (authentication !== undefined && !isFields(authentication)) {
    throw invalidParams('authentication must be an object', 'authentication')
  }
  return {
    id: textField(config, 'id', 'id'),
    url,
    token: textField(config, 'token', 'token', maxUrlLength),
    authentication: authentication && readAuthentication(authentication),
    version,
  }
}

/** 0.3 has a list of schemes; the first one counts. */
function readAuthentication(given: Fields): NotificationTarget['authentication'] {
  const schemes = field(given, 'schemes')
  const scheme = Array.isArray(schemes) ? schemes[0] : field(given, 'scheme')
  const credentials = textField(given, 'credentials', 'authentication.credentials', maxUrlLength)
  if (scheme === undefined && credentials === undefined) return undefined
  if (typeof scheme === 'string') return { scheme, credentials }
  throw invalidParams("authentication.scheme must be a text such as 'Bearer'", 'authentication.scheme')
}

function toConfig({ run_id: taskId, config_id: id, url, scheme }: ShownTarget, version: Version): object {
  if (version === '1.0') return { taskId, id, url, ...(scheme !== null && { authentication: { scheme } }) }
  const authentication = scheme === null ? undefined : { schemes: [scheme] }
  return { taskId, pushNotificationConfig: { id, url, ...(authentication && { authentication }) } }
}
