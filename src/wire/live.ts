import { z } from 'zod'
import { flag, integer, oneOf, text } from '../schema/request-field.ts'
import { component } from './document/component.ts'
import { RunEvent } from './event.ts'
import { KnowledgeStatus } from './knowledge.ts'
import { Me } from './me.ts'
import { Run } from './run.ts'
import { SessionHead } from './session.ts'

export const maxFollowed = 200
export const maxFollowedSessions = 20

export const LiveQuery = z.object({
  follow: text()
    .optional()
    .describe(
      `Runs whose events are sent too, at most ${maxFollowed}, separated by commas. \`<run id>:<seq>\` starts after that event.`,
    ),
  follow_sessions: text()
    .optional()
    .describe(
      `Sessions, at most ${maxFollowedSessions}, separated by commas. The events of each run that begins in one of them, or is under way, are sent too, from the first one on and after the run itself.`,
    ),
  children: flag().optional().describe('Whether the events of their child runs are sent too.'),
  include: oneOf(['prompts']).optional().describe('`prompts` includes the exact prompts of model calls.'),
})

/** Why a reader has to read its lists again. */
export const ResetReason = z.enum(['restarted', 'missed', 'behind', 'pruned', 'erased', 'shared', 'runs'])

const { version, mode, can, server_id } = Me.shape

/** An event of the live stream. */
export const LiveEvent = component(
  'LiveEvent',
  z.discriminatedUnion('type', [
    z.object({
      type: z.literal('hello'),
      server_id,
      version,
      mode,
      can,
      agents: integer(1).exactOptional().describe('The version of the agents that are served. Only for operators.'),
    }),
    z.object({ type: z.literal('session'), head: SessionHead }),
    z.object({ type: z.literal('session_deleted'), session_id: z.string() }),
    z.object({ type: z.literal('run'), run: Run }),
    z.object({ type: z.literal('run_event'), event: RunEvent }),
    z.object({
      type: z.literal('agents'),
      version: integer(1).describe('Increases with each reload.'),
      ok: z.boolean().describe('False: the agents from before are still served.'),
      error: z
        .object({
          message: z.string(),
          file: z.string().exactOptional(),
          line: z.int().exactOptional(),
          excerpt: z.string().exactOptional(),
        })
        .exactOptional(),
    }),
    z.object({ type: z.literal('knowledge'), status: KnowledgeStatus }),
    z.object({ type: z.literal('reset'), reason: ResetReason }),
  ]),
)
export type LiveEvent = z.infer<typeof LiveEvent>
