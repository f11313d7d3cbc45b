import { count, duration, flag, list, match, settings } from '../../schema/field.ts'

/** `server.a2a.push`: push notifications of tasks. */
export const pushSettings = settings({
  /** Allow `http:` too, not only `https:`. */
  allowHttp: flag().default(false),
  /** Allow addresses that are not on the public internet. For tests. */
  allowPrivate: flag().default(false),
  /** The only hosts that are notified. Default: all. */
  hosts: list(match('a host as in an address, in small letters', /^[a-z0-9.:[\]-]+$/)).default([]),
  /** Configs of one task. Default 5. */
  configs: count().default(5),
  /** For the receiver's answer. Default 10 s. */
  timeout: duration(1, 'a time from 1 ms to 10 minutes', 600_000).prefault('10s'),
}).transform(({ timeout: timeoutMs, ...same }) => ({ ...same, timeoutMs }))
