import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { z } from 'zod'
import { messageOf } from '../../core/error.ts'
import { choose, flag, isObject, mustBe, settings, text } from '../../schema/field.ts'

const pem = () => text('a PEM text or the path of a PEM file', true)

const fields = settings({
  /** Certificates of the authorities to trust, in place of those that Node trusts: a PEM text or the path of a file. */
  ca: pem().optional(),
  /** The client's certificate and its key. */
  cert: pem().optional(),
  key: pem().optional(),
  /** The name in the server's certificate. Default: the host of the address. */
  servername: text().optional(),
  /** Whether any certificate is accepted. */
  insecure: flag().default(false),
}).superRefine(({ ca, cert, key, servername, insecure }, context) => {
  const complain = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if ((cert === undefined) !== (key === undefined))
    complain(cert === undefined ? 'cert' : 'key', 'is missing: a certificate and its key belong together')
  for (const [name, value] of Object.entries({ ca, servername })) {
    if (insecure && value !== undefined) complain(name, 'has no effect with `insecure: true`: leave one of them out')
  }
})
type Tls = z.ZodType<boolean | z.output<typeof fields>, boolean | z.input<typeof fields>>

/** `true`: with a certificate that Node's authorities vouch for. */
export const tls = choose(
  (value) =>
    (isObject(value)
      ? fields
      : z.boolean(mustBe('true, false, or an object with ca, cert, key, servername, insecure'))) as Tls,
)
export type CheckedTls = z.output<typeof tls>

/** For `connect` of node:tls. */
export interface TlsOptions {
  ca?: string | undefined
  cert?: string | undefined
  key?: string | undefined
  servername?: string | undefined
  rejectUnauthorized: boolean
}

/** Reads the files. Undefined: complained; `field` is empty or begins with a dot. */
export function readTls(
  given: CheckedTls | undefined,
  root: string,
  complain: (field: string, message: string) => void,
): TlsOptions | undefined {
  if (typeof given !== 'object') return { rejectUnauthorized: true }
  const { insecure, servername } = given
  const texts: Pick<TlsOptions, 'ca' | 'cert' | 'key'> = {}
  for (const name of ['ca', 'cert', 'key'] as const) {
    const value = given[name]
    if (value === undefined) continue
    const read = readPem(value, root, name !== 'key')
    if ('problem' in read) {
      complain(`.${name}`, read.problem)
      return undefined
    }
    texts[name] = read.text
  }
  try {
    if (Object.keys(texts).length > 0) createSecureContext(texts)
  } catch (error) {
    complain('', `can't be used: ${messageOf(error)}`)
    return undefined
  }
  return { ...texts, ...(servername !== undefined && { servername }), rejectUnauthorized: !insecure }
}

const longestShown = 200

function readPem(value: string, root: string, mayShow: boolean): { text: string } | { problem: string } {
  if (isPem(value)) return { text: value }
  const path = resolve(root, value)
  const shown = mayShow && value.length <= longestShown && !value.includes('\n') ? ` '${path}'` : ''
  try {
    const text = readFileSync(path, 'utf8')
    return isPem(text) ? { text } : { problem: `is a file without a PEM text${shown && `:${shown}`}` }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unreadable'
    return { problem: `is neither a PEM text nor a file that can be read${shown && `:${shown}`} (${code})` }
  }
}

function isPem(text: string): boolean {
  return text.includes('-----BEGIN ')
}
