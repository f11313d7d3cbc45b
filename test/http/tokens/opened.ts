import { onTestFinished } from 'vitest'
import { json } from '../../../src/http/reply.ts'
import type { TokenSettings } from '../../../src/http/tokens/settings.ts'
import { createTokens } from '../../../src/http/tokens/tokens.ts'
import { audience, openIssuer, type TestIssuer } from '../../support/issuer.ts'
import { get, testKernel } from '../support.ts'

interface Body {
  caller?: string
  error: { code: string; message: string }
}

export interface Opened {
  issuer: TestIssuer
  ask(token: string, headers?: Record<string, string>): Promise<{ status: number; body: Body; retryAfter?: string }>
  /** Moves the clock. */
  pass(ms: number): void
  logged: string[]
  state(): 'ok' | 'failed'
}

export const minute = 60_000
export const start = Date.parse('2026-01-02T03:04:05.000Z')

export async function opened(settings: Partial<TokenSettings> = {}, alg = 'ES256'): Promise<Opened> {
  let now = start
  const clock = () => now
  const issuer = await openIssuer({ alg, clock })
  onTestFinished(() => issuer.stop())
  const logged: string[] = []
  const log = (about: object, message: string) => void logged.push(`${message} ${JSON.stringify(about)}`)
  const logger = { debug: log, info: log, warn: log, error: log }
  const usual = { issuer: issuer.url, audience: [audience], userClaim: 'sub', scopePrefix: '', clockSkew: 30_000 }
  const tokens = createTokens({ ...usual, ...settings }, { clock, logger: logger as never })
  onTestFinished(() => tokens.close())
  const who = get('/who', ({ caller, userId = null, scopes }) =>
    json({ caller, userId, scopes: scopes && [...scopes] }),
  )
  const kernel = testKernel([who], { tokens, clock, logger: logger as never, authKeys: [{ key: 'a-key-beside-it' }] })
  return {
    issuer,
    logged,
    state: () => tokens.state(),
    pass: (ms) => {
      now += ms
    },
    async ask(token, headers = { authorization: `Bearer ${token}` }) {
      const answer = await kernel.inject({ url: '/who', headers })
      const retryAfter = answer.headers['retry-after']
      return {
        status: answer.status,
        body: (await answer.json()) as Body,
        ...(retryAfter !== undefined && { retryAfter }),
      }
    },
  }
}

export const seconds = start / 1000
export const words = async (answer: ReturnType<Opened['ask']>) => {
  const { status, body } = await answer
  return [status, body.error?.code, body.error?.message]
}
