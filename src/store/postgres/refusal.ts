import { isAppError, messageOf } from '../../core/error.ts'
import { classify } from './failure.ts'

export interface Refusal {
  /** What is wrong and what to do. Has no part of the address but what the caller and the database said. */
  message: string
  /** Whether it may be over in a moment, without anybody's help. */
  passes: boolean
}

const setting = 'server.storage.url or AGENTSERVE_DATABASE_URL'
/** For an address that leads to a pooler. */
export const usePooled = "Set `connections: 'pooled'` beside the address, and `listenUrl` to one that leads past it"

/** Why a connection could not be opened, or the tables not be used. `place` names the database, for people. */
export function explainRefusal(error: unknown, place: string): Refusal {
  // The store tells its callers nothing of the database's own words.
  const found = isAppError(error) && error.cause !== undefined ? error.cause : error
  if (isAppError(found)) return { message: found.message, passes: false }
  const code = String((found as { code?: unknown } | undefined)?.code ?? '')
  const said = messageOf(found)
  const way = byCode[code]?.(said) ?? (byCode[code.slice(0, 2)] ?? byMessage(said, code))?.(said)
  if (way !== undefined) return { message: `The database at ${place} ${way}.`, passes: false }
  if (classify(found) === 'full')
    return { message: `The database at ${place} has no space left: free some there.`, passes: true }
  const reason = reasons[code] ?? reasonOf(said)
  if (reasons[code] !== undefined || ['away', 'again'].includes(classify(found)))
    return {
      message: `The database at ${place} can't be reached: ${reason}. Start it, or correct ${setting}.`,
      passes: true,
    }
  return { message: `The database at ${place} can't be used: ${reason}.`, passes: false }
}

type Way = (said: string) => string

/** What follows the name of the database, by SQLSTATE or its class. */
const byCode: Readonly<Record<string, Way>> = {
  '28P01': () => `refuses the user or the password: correct ${setting}`,
  '28': (said) =>
    /no encryption/.test(said)
      ? 'accepts only encrypted connections: set server.storage.tls to true'
      : `refuses the user: ${said}`,
  '3D000': () => `does not exist: create it, or correct ${setting}`,
  '42501': (said) =>
    `gives this role too few rights (${said}): \`agentserve storage prepare --print\` prints what another role must execute`,
}

function byMessage(said: string, code: string): Way | undefined {
  if (/unsupported startup parameter/.test(said)) return () => `is behind a pooler. ${usePooled}`
  if (/client password must be a string/.test(said)) return () => `asks for a password: add it to ${setting}`
  if (/does not support SSL/.test(said))
    return () =>
      'offers no TLS: turn it on there, or set server.storage.tls to false if nobody else can read the connection'
  if (/establishing an SSL connection|not an answer of Postgres/.test(said))
    return () => `does not speak the protocol of Postgres: correct the host and port in ${setting}`
  if (/CERT|^ERR_(?:TLS|SSL)|ISSUER|LEAF_SIGNATURE/.test(code)) return () => certificateWay(code, said)
  return undefined
}

function certificateWay(code: string, said: string): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'has a certificate for another name: connect to that name, or set it as server.storage.tls.servername'
  if (code === 'CERT_HAS_EXPIRED') return 'has a certificate that has expired: renew it'
  if (/SELF_SIGNED|ISSUER|LEAF_SIGNATURE/.test(code))
    return `has a certificate of an unknown authority (${code}): set server.storage.tls.ca to the certificate of that authority`
  return `and this program agree on no TLS: ${said}`
}

function reasonOf(said: string): string {
  if (/timeout/i.test(said)) return 'no answer came'
  return /terminated/.test(said) ? 'it closed the connection' : said.replace(/\.$/, '')
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOENT: 'no socket is there',
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'its name could not be looked up',
  ETIMEDOUT: 'no answer came',
  EHOSTUNREACH: 'no way leads to the host',
  ENETUNREACH: 'no way leads to the host',
  ECONNRESET: 'it closed the connection',
  '25006': 'it takes no writes, as a standby or for this role',
  '53300': 'all its connections are taken',
  '55P03': 'others hold a lock that is needed',
  '57014': 'a statement took too long',
  '57P01': 'it is stopping',
  '57P02': 'it is stopping',
  '57P03': 'it is starting or stopping',
}
