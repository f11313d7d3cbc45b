import { invalidParams } from './error.ts'

/** Where a task is in a list: the latest status first. */
export interface TaskPlace {
  /** Of its status, in milliseconds. */
  time: number
  id: string
}

/** Where a page begins. Tasks are sorted in windows; the first one has the newest runs. */
export interface PagePlace {
  /** The window has the runs before this one. */
  before?: string | undefined
  /** The last run of the window, as its first page has seen it. */
  last?: string | undefined
  /** The last task of the page before. */
  after?: TaskPlace | undefined
}

export function comesBefore(one: TaskPlace, other: TaskPlace): boolean {
  return one.time === other.time ? one.id > other.id : one.time > other.time
}

export function writePageToken({ before = '', last = '', after }: PagePlace): string {
  return [before, last, after?.time ?? '', after?.id ?? ''].join('.').replace(/\.+$/, '')
}

const pattern = /^(?<before>[\w-]{0,64})(?:\.(?<last>[\w-]{1,64})\.(?<time>\d{1,15})\.(?<id>[\w-]{1,64}))?$/

export function readPageToken(token: string | undefined): PagePlace {
  if (token === undefined) return {}
  const { before, last, time, id } = pattern.exec(token)?.groups ?? {}
  if (before === undefined) throw invalidParams('pageToken is not one of this server', 'pageToken')
  const after = time === undefined || id === undefined ? undefined : { time: Number(time), id }
  return { before: before || undefined, last, after }
}
