import { z } from 'zod'
import { isAppError } from '../../core/error.ts'
import { webhookEvents } from '../../core/triggers/webhook.ts'
import { checkedUrl } from '../../runtime/public-network.ts'
import { duration, flag, isAddress, list, oneOf, settings, sound, text } from '../../schema/field.ts'

const named = /^[A-Za-z0-9._-]{1,64}$/
const secretWords = "'whsec_' and base64 of 24 to 64 random bytes; make one with: openssl rand -base64 32"

/** The key in a secret as https://www.standardwebhooks.com writes it; undefined: it is none. */
function keyOf(secret: unknown): Buffer | undefined {
  const [, written] = typeof secret === 'string' ? (/^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []) : []
  const key = written === undefined ? undefined : Buffer.from(written, 'base64')
  return key !== undefined && key.length >= 24 && key.length <= 64 ? key : undefined
}

/** Secrets are never shown. */
const secret = () =>
  sound<string | string[]>((value) => {
    if (value === undefined) return `is missing; is a variable not set? It must be ${secretWords}`
    const all = Array.isArray(value) ? value : [value]
    return all.length > 0 && all.every((one) => keyOf(one) !== undefined) ? undefined : `must be ${secretWords}`
  }).transform((value) => (Array.isArray(value) ? value : [value]).flatMap((one) => keyOf(one) ?? []))

/** Its path may be a secret too. */
const url = () =>
  sound<string>((value) => {
    if (value === undefined) return 'is missing; is a variable not set? It must be an https address'
    if (typeof value !== 'string' || !isAddress(value)) return 'must be an https address'
    const { username, password } = new URL(value)
    return username === '' && password === '' ? undefined : 'must have no user and no password'
  })

/** Where ends and pauses of runs are told. */
const webhookFields = settings({
  url: url(),
  /** `whsec_` and base64. With several, messages are signed with each: for a change of the secret. */
  secret: secret(),
  /** Default: all. */
  events: list(oneOf(webhookEvents)).optional(),
  /** Ids of agents, teams and workflows. Default: all. */
  agents: list(text('the id of an agent, team or workflow')).optional(),
  /** Whether messages have what people and models said: input, output, metadata, errors, requests for approval. */
  contents: flag().default(false),
  /** Allow `http:` too, not only `https:`. */
  allowHttp: flag().default(false),
  /** Allow addresses that are not on the public internet. */
  allowPrivate: flag().default(false),
  /** For the receiver's answer, at most 30 s. Default 10 s. */
  timeout: duration(1, 'a time from 1 ms to 30 s', 30_000).prefault('10s'),
})
  .superRefine(({ url: address, allowHttp, allowPrivate }, context) => {
    try {
      checkedUrl(address, { allowHttp, allowPrivate })
    } catch (error) {
      if (!isAppError(error)) throw error
      const isOpen = address.startsWith('http:') && !allowHttp
      const message = isOpen
        ? 'is not encrypted: use https, or set allowHttp'
        : 'is not an address on the public internet: change it, or set allowPrivate'
      context.addIssue({ code: 'custom', path: ['url'], message })
    }
  })
  .transform(({ timeout: timeoutMs, secret: keys, ...same }) => ({ ...same, keys, timeoutMs }))

/** Webhooks by name. */
export const webhooks = () =>
  z
    .record(z.string(), webhookFields, { error: () => 'must be an object with one webhook per name' })
    .superRefine((given, context) => {
      for (const name of Object.keys(given)) {
        if (named.test(name)) continue
        const message = 'is not a name: write 1 to 64 of A-Z a-z 0-9 . _ -'
        context.addIssue({ code: 'custom', path: [name], message })
      }
    })
export type WebhookSettings = z.input<typeof webhookFields>
