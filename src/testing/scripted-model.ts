import { MockLanguageModelV4 } from 'ai/test'
import {
  type CallOptions,
  partsOf,
  type ScriptedAnswer,
  toGenerated,
  toStream,
} from '../runnables/again/answer-stream.ts'

export type { ScriptedAnswer } from '../runnables/again/answer-stream.ts'

/** One call of the model, as a script function gets it. */
export interface ModelCall {
  /** From 1. */
  number: number
  /** The latest message of the user, as text. */
  text: string
  prompt: CallOptions['prompt']
  tools: string[]
}

type Answer = string | ScriptedAnswer
export type Script = (call: ModelCall) => Answer | Promise<Answer>

export interface ScriptedModel extends MockLanguageModelV4 {
  /** The calls so far. */
  readonly calls: readonly ModelCall[]
}

/**
 * A model that needs no network. It returns one of these answers per call, or the result of the function. A call after the
 * last answer fails. Texts are streamed word by word.
 */
export function scriptedModel(...script: readonly Answer[] | [Script]): ScriptedModel {
  const calls: ModelCall[] = []
  const [first] = script
  const answerTo = async (options: CallOptions): Promise<ScriptedAnswer> => {
    options.abortSignal?.throwIfAborted()
    const call: ModelCall = {
      number: calls.length + 1,
      text: lastUserText(options.prompt),
      prompt: options.prompt,
      tools: (options.tools ?? []).map(({ name }) => name),
    }
    calls.push(call)
    const answer = typeof first === 'function' ? await first(call) : (script as readonly Answer[])[call.number - 1]
    if (answer === undefined) {
      throw new Error(`The script has ${script.length} answers, and this is call ${call.number}: '${call.text}'.`)
    }
    const full = typeof answer === 'string' ? { text: answer } : answer
    assertNames(full)
    if (full.error !== undefined) throw full.error
    return full
  }
  const model = new MockLanguageModelV4({
    provider: 'scripted',
    modelId: 'scripted',
    doStream: async (options) => toStream(partsOf(await answerTo(options))),
    doGenerate: async (options) => toGenerated(partsOf(await answerTo(options))),
  })
  return Object.defineProperty(model, 'calls', { value: calls }) as ScriptedModel
}

const renamed = { toolCalls: 'tool_calls', finishReason: 'finish_reason' }

function assertNames(answer: ScriptedAnswer): void {
  for (const [old, name] of Object.entries(renamed)) {
    if (old in answer) throw new Error(`scriptedModel(): \`${old}\` is now called \`${name}\`: rename it.`)
  }
}

export function lastUserText(prompt: CallOptions['prompt']): string {
  const message = prompt.findLast(({ role }) => role === 'user')
  const content = message?.role === 'user' ? message.content : []
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n')
}
