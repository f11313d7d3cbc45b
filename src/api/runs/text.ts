import { publicAddress } from '../../core/access/public-address.ts'
import { invalid, isAppError } from '../../core/error.ts'
import { isTurn } from '../../core/run.ts'
import { text } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { Pace } from '../../runtime/yield.ts'
import type { Services } from '../../service/services.ts'
import { PlainText } from '../../wire/document/route-doc.ts'
import { parseQuery } from '../../wire/parse.ts'
import { type RunDetail, RunTextQuery } from '../../wire/run.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { maySeePrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toRunDetail } from './answer.ts'
import { toSentEvent } from './stream.ts'
import { RunMarkdown } from './text/markdown.ts'
import { toCurl, toTypeScript, toUseChat } from './text/request.ts'

const route = routesAbout('Runs')

const programs = { curl: toCurl, typescript: toTypeScript, 'use-chat': toUseChat }

export function runTextRoutes(settings: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', `${settings.prefix}/runs/:id/text`, 'getRunText', {
      scope: 'run',
      summary: 'Get a run as text',
      description:
        'As Markdown for a model: what was asked, each step, and the answer, with the exact prompts if the key has the scope `prompts`. Or as what asks the same once more, without the key.',
      params: { id: 'The run.' },
      query: RunTextQuery,
      responses: {
        200: { description: 'The text.', content: { 'text/markdown': PlainText, 'text/plain': PlainText } },
      },
      errors: ['run_not_found'],
      handle: async (request, services) => {
        const id = pathId(request)
        const run = toRunDetail(await services.runs.get(id), services.costs)
        const { as } = parseQuery(RunTextQuery, request.query)
        if (as === 'markdown')
          return text(await markdownOf(run, request, services, settings), 'text/markdown; charset=utf-8')
        if (as === 'use-chat' && !settings.chat)
          throw invalid(
            'Nothing is served to useChat: `server.chat` is off in the config. Turn it on, or ask for another form.',
            'as',
          )
        return text(
          programs[as]({
            run,
            address: publicAddress(request, settings.publicUrl),
            prefix: settings.prefix,
            needsKey: settings.authRequired,
            isLater: await isLaterTurn(run, services),
          }),
        )
      },
    }),
  ]
}

async function markdownOf(
  run: RunDetail,
  request: HttpRequest,
  { runs, costs }: Services,
  { publicUrl, studioPath }: ApiSettings,
): Promise<string> {
  const { run_id: id, session_id: sessionId } = run
  const prompts = maySeePrompts(request)
  const recorded = await runs.recordedEvents(id, AbortSignal.any([request.signal, request.deadline]))
  const markdown = new RunMarkdown()
  const pace = new Pace()
  for await (const batch of prompts ? runs.withPrompts(id, recorded) : recorded) {
    for (const event of batch) {
      markdown.add(toSentEvent(event, false, costs), prompts ? event : undefined)
      await pace.step()
    }
  }
  const path = `/s/${encodeURIComponent(sessionId)}/r/${encodeURIComponent(id)}`
  const link = studioPath === undefined ? undefined : publicAddress(request, publicUrl) + studioPath + path
  return pace.through(markdown.toText(run, { prompts, link }))
}

/** Whether it asks something in a conversation, which is gone on with when it is asked once more. */
async function isLaterTurn(run: RunDetail, { sessions }: Services): Promise<boolean> {
  if (!isTurn(run)) return false
  try {
    const { runs } = await sessions.history(run.session_id, 1, false, { before: run.run_id })
    return runs.length > 0
  } catch (error) {
    // The session, or what came before, is not the caller's.
    if (isAppError(error) && (error.code === 'session_not_found' || error.code === 'run_not_found')) return false
    throw error
  }
}
