import { z } from 'zod'
import { timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'

export const Health = component(
  'Health',
  z.object({
    status: z.literal('ok'),
    service: z.literal('agentserve'),
    version: z.string(),
    started_at: timestamp(),
    uptime_seconds: z.number(),
  }),
)
export type Health = z.infer<typeof Health>

const check = z.enum(['ok', 'failed', 'off']).describe('`off` means not configured.')
export const Readiness = component(
  'Readiness',
  z.object({
    status: z.enum(['ready', 'starting', 'stopping', 'unavailable']),
    checks: z.object({
      storage: check,
      knowledge: check,
      issuer: z
        .enum(['ok', 'failed'])
        .exactOptional()
        .describe('Whether the keys of the issuer of tokens are known. Only with tokens; it does not change `status`.'),
    }),
  }),
)
export type Readiness = z.infer<typeof Readiness>
