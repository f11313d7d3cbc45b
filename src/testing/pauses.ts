import type { RunEvent } from '../core/event.ts'
import type { CallAnswer, Waiting, WaitingKind } from '../core/run.ts'
import { answerTo, kindOf, openRequests } from '../core/waiting.ts'
import type { TestAnswer } from './project.ts'

/** What a run asked for when it paused, and what was answered. Ids are left out: those of child runs are new each time. */
export interface SavedRequest {
  kind: WaitingKind
  tool?: string
  prompt: string
  answer: SavedAnswer
}

type SavedAnswer = { [K in keyof CallAnswer]?: Exclude<CallAnswer[K], undefined> }

/** The pauses of a run that were answered, in order. */
export function pausesOf(events: readonly RunEvent[]): SavedRequest[][] {
  return events.flatMap((event, place) => {
    if (event.type !== 'run_resumed' || event.from !== 'input_required') return []
    const requests = openRequests(events.slice(0, place))
    return [
      requests.map((request) => ({
        kind: kindOf(request),
        ...(request.tool !== undefined && { tool: request.tool }),
        prompt: request.prompt,
        answer: withoutUndefined(answerTo(request.call_id, event)),
      })),
    ]
  })
}

function withoutUndefined(answer: CallAnswer): SavedAnswer {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== undefined))
}

/** The saved answers to what waits now; undefined when it is not what waited then. */
export function answersTo(waiting: readonly Waiting[], saved: readonly SavedRequest[]): TestAnswer | undefined {
  if (waiting.length !== saved.length) return undefined
  const left = [...saved]
  let given: TestAnswer = {}
  for (const request of waiting) {
    const place = left.findIndex((one) => isSame(one, request))
    const [found] = place === -1 ? [] : left.splice(place, 1)
    if (found === undefined) return undefined
    const { call_id: callId } = request
    if (callId === undefined) given = { ...given, ...pick(found.answer) }
    else given.answers = { ...given.answers, [callId]: found.answer }
  }
  return given
}

function pick({ approved, input }: SavedAnswer): TestAnswer {
  return { ...(approved !== undefined && { approved }), ...(input !== undefined && { input }) }
}

function isSame(one: SavedRequest, { kind, tool, prompt }: Waiting): boolean {
  return one.kind === kind && one.tool === tool && one.prompt === prompt
}

/** What a person reads of the requests. */
export function told(requests: readonly Pick<Waiting, 'kind' | 'tool' | 'prompt'>[]): string[] {
  return requests.map(({ kind, tool, prompt }) => `${kind}${tool === undefined ? '' : ` of ${tool}`}: ${prompt}`)
}
