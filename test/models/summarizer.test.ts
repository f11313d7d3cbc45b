import { MockLanguageModelV4 } from 'ai/test'
import { describe, expect, it, vi } from 'vitest'
import type { Message } from '../../src/core/message.ts'
import { offlineSummarizer, SummaryManager } from '../../src/models/summarizer.ts'

const { signal } = new AbortController()

function message(role: Message['role'], content: string): Message {
  return { message_id: 'm', run_id: 'r', role, parts: [{ type: 'text', text: content }], content, created_at: '' }
}

describe('offlineSummarizer', () => {
  const { summarize, name } = offlineSummarizer()

  it('gives an empty summary of nothing', async () => {
    expect(name).toBe('offline')
    expect(await summarize([], undefined, signal)).toBe('')
    expect(await summarize([message('user', ' ')], undefined, signal)).toBe('')
  })

  it('picks the sentences that carry most, in the order in which they were said', async () => {
    const filler = Array.from(
      { length: 40 },
      (_, index) => `Filler ${index} says hardly anything that matters here today.`,
    )
    const messages = [
      message('user', 'How do I set the server port in the config?'),
      message('assistant', `Set the port of the server in the config under address. ${filler.join(' ')}`),
    ]
    const summary = await summarize(messages, undefined, signal)
    expect(summary.length).toBeLessThanOrEqual(800)
    expect(summary.startsWith('How do I set the server port in the config? Set the port of the server')).toBe(true)
    expect(await summarize(messages, undefined, signal)).toBe(summary)
  })

  it('carries an earlier summary on and bounds one endless sentence', async () => {
    expect(await summarize([message('user', 'And now cats.')], 'They spoke about dogs.', signal)).toBe(
      'They spoke about dogs. And now cats.',
    )
    expect((await summarize([message('user', 'x'.repeat(5_000))], undefined, signal)).length).toBe(800)
  })

  const sentences = (count: number) =>
    Array.from({ length: count }, (_, index) => `Sentence ${index} tells of the matter ${index % 97}.`).join(' ')

  it('looks at the last 60,000 characters alone', async () => {
    const latest = sentences(5_000).slice(-60_000)
    const whole = [message('user', 'The very first words.'), message('assistant', `${sentences(50_000)}${latest}`)]
    const summary = await summarize(whole, undefined, signal)
    expect(summary).toBe(await summarize([message('assistant', latest)], undefined, signal))
  })

  it('lets others run while it works, and stops when it is told to', async () => {
    // Each look at the clock is 10 ms later, so that a fast machine yields too.
    let nowMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => (nowMs += 10))
    const stop = new AbortController()
    setImmediate(() => stop.abort(new Error('enough')))
    const stopped = expect(summarize([message('user', sentences(20_000))], undefined, stop.signal)).rejects
    await stopped.toThrow('enough').finally(() => clock.mockRestore())
  })
})

describe('SummaryManager', () => {
  it('summarises by its model, within 30 seconds unless told otherwise', async () => {
    const model = new MockLanguageModelV4({
      provider: 'p',
      modelId: 'm',
      doGenerate: {
        content: [{ type: 'text', text: ' About dogs. ' }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        },
        warnings: [],
      },
    })
    const manager = new SummaryManager({ model })
    expect(manager.timeoutMs).toBe(30_000)
    expect(manager.summarizer.name).toBe('p/m')
    expect(await manager.summarizer.summarize([message('user', 'Dogs?')], 'Earlier.', signal)).toBe('About dogs.')
    expect(JSON.stringify(model.doGenerateCalls[0]?.prompt)).toContain('Summary so far:\\nEarlier.\\n\\nuser: Dogs?')
  })

  it('refuses a wrong timeout and a wrong model', () => {
    expect(() => new SummaryManager({ model: 'ollama/x', timeout: 'soon' as '1s' })).toThrow(/timeout/)
    expect(() => new SummaryManager({ model: 'gpt' as 'a/b' })).toThrow(/is not a model/)
    expect(new SummaryManager({ model: 'ollama/x', timeout: '5s' }).timeoutMs).toBe(5_000)
  })
})
