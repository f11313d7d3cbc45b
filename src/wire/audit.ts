import { z } from 'zod'
import { auditActions, auditObjectKinds, type AuditEntry as CoreAuditEntry } from '../core/access/audit.ts'
import { id, jsonObject, moment, oneOf, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { listOf, pageQuery } from './list.ts'

export const AuditQuery = z.object({
  action: oneOf(auditActions).optional().describe('What was done.'),
  caller: text(1, 1024)
    .optional()
    .describe('The id of a key, `jwt:` and the user of a token, `anonymous` or `server`.'),
  user_id: id().optional().describe('The user that the key or token belongs to.'),
  object_id: id().optional().describe('What it was done to.'),
  outcome: text(1, 100).optional().describe('`ok`, or the code of an error.'),
  since: moment.optional().describe('The first moment that counts (RFC 3339, UTC).'),
  until: moment.optional().describe('The first moment that no longer counts.'),
  ...pageQuery,
})

export const AuditEntry = component(
  'AuditEntry',
  z.object({
    entry_id: z.string(),
    at: timestamp(),
    action: z.enum(auditActions),
    caller: z
      .string()
      .describe('The id of a key, `jwt:` and the user of a token, `anonymous` without keys, or `server`.'),
    user_id: z.string().nullable().describe('The user that the key or token belongs to.'),
    object_kind: z.enum(auditObjectKinds).nullable(),
    object_id: z.string().nullable(),
    outcome: z
      .string()
      .nullable()
      .describe('`ok`, or the code of an error. Null: it is under way, or its server ended before it was done.'),
    request_id: z.string().nullable(),
    server_id: z.string().describe('Of one life of a server, as in `GET /me`.'),
    detail: jsonObject().nullable().describe('Counts, ids and filters. No contents.'),
  }),
) satisfies z.ZodType<CoreAuditEntry>
export type AuditEntry = z.infer<typeof AuditEntry>

export const AuditEntryList = component('AuditEntryList', listOf('entries', AuditEntry))
export type AuditEntryList = z.infer<typeof AuditEntryList>
