import { openScriptedServer } from '../scripted-server.ts'

export interface WatchedModel {
  url: string
  /** How many times it was called. */
  calls(): number
  /** The names of the models that were asked for. */
  asked(): string[]
  close(): Promise<void>
}

interface Prompt {
  model: string
  messages: readonly { role: string; content?: unknown }[]
  tools?: readonly unknown[]
}

/**
 * An OpenAI-compatible model that books for 4 where it may, or for as many as the instructions say (`For 7.`), and then says
 * the word that they name (`Say hours.`).
 */
export async function openWatchedModel(): Promise<WatchedModel> {
  const server = await openScriptedServer(({ body }, response) => {
    const { messages, tools = [] } = JSON.parse(body) as Prompt
    const told = JSON.stringify(messages.filter(({ role }) => role === 'system' || role === 'developer'))
    const seats = Number(/For (\d+)\./.exec(told)?.[1] ?? 4)
    const isFirst = tools.length > 0 && messages.at(-1)?.role !== 'tool'
    const delta = isFirst
      ? {
          tool_calls: [
            {
              index: 0,
              id: 'call_1',
              type: 'function',
              function: { name: 'book', arguments: JSON.stringify({ seats }) },
            },
          ],
        }
      : { content: `It is open: ${/Say (\w+)\./.exec(told)?.[1] ?? 'nothing'}.` }
    const send = (data: object) =>
      response.write(`data: ${JSON.stringify({ id: '1', created: 1, model: 'scripted', ...data })}\n\n`)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    send({ choices: [{ index: 0, delta: { role: 'assistant', ...delta } }] })
    const usage = { prompt_tokens: 30, completion_tokens: 10, total_tokens: 40 }
    send({ choices: [{ index: 0, delta: {}, finish_reason: isFirst ? 'tool_calls' : 'stop' }], usage })
    response.end('data: [DONE]\n\n')
  })
  return {
    url: server.url,
    calls: () => server.seen.length,
    asked: () => server.seen.map(({ body }) => (JSON.parse(body) as Prompt).model),
    close: server.close,
  }
}
