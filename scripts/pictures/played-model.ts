import type { ServerResponse } from 'node:http'
import { openScriptedServer } from '../../test/support/scripted-server.ts'

/** An OpenAI-compatible endpoint that answers with these pieces, each when `next` asks for it. */
export async function openPlayedModel(pieces: readonly string[]) {
  const { promise: asked, resolve: ask } = Promise.withResolvers<ServerResponse>()
  const server = await openScriptedServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    ask(response)
  })
  const rest = [...pieces]
  return {
    url: server.url,
    close: server.close,
    async next() {
      const response = await asked
      const content = rest.shift()
      const send = (data: object) =>
        response.write(`data: ${JSON.stringify({ id: '1', created: 1, model: 'm', ...data })}\n\n`)
      if (content !== undefined) send({ choices: [{ index: 0, delta: { content } }] })
      else {
        const usage = { prompt_tokens: 412, completion_tokens: 58, total_tokens: 470 }
        send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage })
        response.end('data: [DONE]\n\n')
      }
    },
  }
}
