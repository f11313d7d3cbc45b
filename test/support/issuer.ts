import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose'

export type IssuerAnswer = (request: IncomingMessage, response: ServerResponse) => void

export interface TokenOptions {
  /** The signature's algorithm; default that of the key. */
  alg?: string
  kid?: string | undefined
  typ?: string
  /** Default: that of the issuer at the time. */
  key?: CryptoKey | Uint8Array
}

/** An OpenID Connect provider on loopback, with keys that change when it is told to. */
export interface TestIssuer {
  url: string
  /** Signs for `team` and an hour by default; a claim that is undefined is left out. */
  sign(claims?: Record<string, unknown>, options?: TokenOptions): Promise<string>
  /** Only `kept` old keys stay published. */
  rotate(kept?: number): Promise<void>
  publicKeyText(): Promise<string>
  /** Answers in place of the usual ones, by path. */
  answers: Map<string, IssuerAnswer>
  /** How often each path was asked for. */
  asked: Map<string, number>
  /** Stops listening; `start` listens on the same port again. */
  stop(): Promise<void>
  start(): Promise<void>
}

export const configurationPath = '/.well-known/openid-configuration'
export const keysPath = '/keys'
export const audience = 'team'

const newKeyOf = async (alg: string, kid: string) => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  const jwk: JWK = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }
  return { privateKey, publicKey, jwk }
}

export async function openIssuer({ alg = 'ES256', clock = Date.now } = {}): Promise<TestIssuer> {
  const keys = [await newKeyOf(alg, 'key-0')]
  let made = 1
  const answers = new Map<string, IssuerAnswer>()
  const asked = new Map<string, number>()
  let url = ''
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const own = answers.get(path)
    if (own !== undefined) return own(request, response)
    if (path === configurationPath) return sendJson(response, { issuer: url, jwks_uri: url + keysPath })
    if (path === keysPath) return sendJson(response, { keys: keys.map(({ jwk }) => jwk) })
    response.writeHead(404).end()
  })
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  url = `http://127.0.0.1:${port}`
  const current = () => keys[0] as (typeof keys)[number]
  return {
    url,
    answers,
    asked,
    sign(claims = {}, options = {}) {
      const seconds = Math.floor(clock() / 1000)
      const usual: JWTPayload = { iss: url, aud: audience, sub: 'ann', iat: seconds, exp: seconds + 3600 }
      const kid = 'kid' in options ? options.kid : current().jwk.kid
      const header = { alg: options.alg ?? alg, ...(kid !== undefined && { kid }) }
      return new SignJWT(JSON.parse(JSON.stringify({ ...usual, ...claims })))
        .setProtectedHeader({ ...header, ...(options.typ !== undefined && { typ: options.typ }) })
        .sign(options.key ?? current().privateKey)
    },
    async rotate(kept = 0) {
      keys.splice(kept)
      keys.unshift(await newKeyOf(alg, `key-${made++}`))
    },
    publicKeyText: () => exportSPKI(current().publicKey),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
    start: () => listen(port),
  }
}

export function sendJson(response: ServerResponse, value: unknown, type = 'application/json'): void {
  response.writeHead(200, { 'content-type': type }).end(JSON.stringify(value))
}
