import { z } from 'zod'
import { isSessionId } from '../core/id.ts'
import { runStatuses } from '../core/run.ts'
import type { Session as CoreSession, SessionOverview } from '../core/session.ts'
import { flag, id, jsonObject, moment, oneOf, said, text, timestamp } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { Cost, EntityKind, ModelUsage, RunStatus, Usage } from './event.ts'
import { listOf, pageQuery } from './list.ts'
import { Run } from './run.ts'
import { Summary } from './summary.ts'

export const sessionId = z
  .string(said('must be a string'))
  .refine(isSessionId, { error: 'must be 1 to 128 characters of A-Z a-z 0-9 . _ : -' })
  .meta({ pattern: '^[A-Za-z0-9._:-]{1,128}$' })

const owners = {
  agent_id: id().optional(),
  team_id: id().optional(),
  workflow_id: id().optional(),
  user_id: id().optional(),
}
const name = text(0, 1000)

export const CreateSessionRequest = component(
  'CreateSessionRequest',
  z.object({
    session_id: sessionId.optional(),
    ...owners,
    name: name.optional(),
    metadata: jsonObject().optional(),
    state: jsonObject().optional(),
  }),
)
export type CreateSessionRequest = z.input<typeof CreateSessionRequest>

/** A given field replaces the whole value; `null` clears it. */
export const UpdateSessionRequest = component(
  'UpdateSessionRequest',
  z.object({
    name: name.nullable().optional(),
    metadata: jsonObject().nullable().optional(),
    state: jsonObject().nullable().optional(),
  }),
)
export type UpdateSessionRequest = z.input<typeof UpdateSessionRequest>

const oneOwner = 'at least one of agent_id, team_id, workflow_id, user_id is required'
export const ReuseSessionRequest = component(
  'ReuseSessionRequest',
  z
    .object(owners)
    .refine((body) => Object.values(body).some((owner) => owner !== undefined), { error: oneOwner })
    .meta({ minProperties: 1 }),
)
export type ReuseSessionRequest = z.input<typeof ReuseSessionRequest>

const ids = z.array(z.string())
export const Session = component(
  'Session',
  z.object({
    session_id: z.string(),
    agent_id: z.string().nullable(),
    team_id: z.string().nullable(),
    workflow_id: z.string().nullable(),
    user_id: z.string().nullable(),
    name: z.string().nullable(),
    metadata: jsonObject().nullable(),
    state: jsonObject().nullable(),
    shared_with: z.object({ agent_ids: ids, team_ids: ids, workflow_ids: ids, user_ids: ids }),
    run_count: z.int(),
    runs: z.array(Run).describe('The newest 100 (10 in lists), oldest first.'),
    summary: Summary.nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
) satisfies z.ZodType<CoreSession>
export type Session = z.infer<typeof Session>

/** A session as lists and `GET /live` show it. */
export const SessionHead = component(
  'SessionHead',
  z.object({
    session_id: z.string(),
    name: z.string().nullable(),
    title: z
      .string()
      .nullable()
      .describe(
        'The first text of a user, or else the name of the first file, or else data as JSON; at most 120 characters in one line.',
      ),
    entity_id: z.string().nullable().describe("The last turn's; without turns, the owner of the session."),
    entity_kind: EntityKind.nullable(),
    user_id: z.string().nullable(),
    run_count: z.int(),
    status: RunStatus.nullable().describe('Of the last turn.'),
    waiting: z.int().describe('How many requests the last turn waits for.'),
    usage: Usage.nullable().describe('The sum over all turns.'),
    usage_by_model: z.array(ModelUsage),
    cost: Cost.nullable().describe('What `usage_by_model` costs by the prices of now. Null: a part is not known.'),
    forked_from: z.object({ session_id: z.string(), run_id: z.string().nullable() }).nullable(),
    created_at: timestamp(),
    updated_at: timestamp(),
  }),
) satisfies z.ZodType<SessionOverview>
export type SessionHead = z.infer<typeof SessionHead>

const total = z.int().exactOptional().describe('The number of sessions on all pages. With `total=true`.')
export const SessionList = component('SessionList', listOf('sessions', Session).extend({ total }))
export type SessionList = z.infer<typeof SessionList>

export const SessionHeadList = component('SessionHeadList', listOf('sessions', SessionHead).extend({ total }))
export type SessionHeadList = z.infer<typeof SessionHeadList>

export const ListedSessions = z.union([SessionList, SessionHeadList])

export const SessionDeleted = component(
  'SessionDeleted',
  z.object({ session_id: z.string(), deleted: z.literal(true) }),
)
export type SessionDeleted = z.infer<typeof SessionDeleted>

export const SessionsQuery = z.object({
  agent_id: text().optional(),
  team_id: text().optional(),
  workflow_id: text().optional(),
  user_id: text().optional(),
  status: oneOf(runStatuses).optional().describe('The status of the last turn.'),
  updated_before: moment.optional().describe('Only sessions that have not changed since this time (RFC 3339, UTC).'),
  view: oneOf(['head']).optional().describe('`head`: what a list shows, without runs, state and metadata.'),
  total: flag().default(false).describe('Count the sessions on all pages.'),
  ...pageQuery,
})

export const ForkSessionRequest = component(
  'ForkSessionRequest',
  z
    .object({
      run_id: text().optional().describe('The last run to copy. Default: the latest run that has ended.'),
      before_run_id: text()
        .optional()
        .describe('Instead of `run_id`: copy the turns before this one. The state is that from before it.'),
      session_id: sessionId.optional().describe('The name of the new session.'),
    })
    .refine(({ run_id, before_run_id }) => run_id === undefined || before_run_id === undefined, {
      error: "can't be combined with run_id",
      path: ['before_run_id'],
    }),
)
export type ForkSessionRequest = z.input<typeof ForkSessionRequest>

export const PruneSessionsRequest = component(
  'PruneSessionsRequest',
  z.object({ updated_before: moment.describe('Only sessions that have not changed since this time.'), ...owners }),
)
export type PruneSessionsRequest = z.input<typeof PruneSessionsRequest>

export const SessionsPruned = component(
  'SessionsPruned',
  z.object({
    deleted: z.int(),
    has_more: z.boolean().describe('Whether there are more sessions to delete. If so, repeat the request.'),
  }),
)
export type SessionsPruned = z.infer<typeof SessionsPruned>
