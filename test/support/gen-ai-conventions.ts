/*
 * The GenAI conventions of OpenTelemetry (semantic-conventions-genai 0.1.0) for the spans that agentserve makes: what each
 * must have, what it may have, and what is told only on request.
 */

export interface ConventionSpan {
  name: string
  /** INTERNAL is 0, CLIENT is 2, as in the SDK. */
  kind: number
  attributes: Record<string, unknown>
  status: { code: number }
}

interface Convention {
  kinds: readonly number[]
  /** `{attribute}` stands for its value; what is in brackets is absent with it. */
  name: (attributes: Record<string, unknown>) => string
  required: readonly string[]
  allowed: readonly string[]
}

const usage = [
  'gen_ai.usage.input_tokens',
  'gen_ai.usage.output_tokens',
  'gen_ai.usage.cache_read.input_tokens',
  'gen_ai.usage.cache_write.input_tokens',
  'gen_ai.usage.reasoning.output_tokens',
]
const request = ['max_tokens', 'temperature', 'top_p', 'top_k', 'seed', 'stop_sequences'].map(
  (name) => `gen_ai.request.${name}`,
)
export const contentAttributes = [
  'gen_ai.system_instructions',
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.tool.definitions',
  'gen_ai.tool.call.arguments',
  'gen_ai.tool.call.result',
  'gen_ai.retrieval.query.text',
  'gen_ai.retrieval.documents',
]

const invoke = (operation: string): Convention => ({
  kinds: [0],
  name: ({ 'gen_ai.agent.name': name }) => `${operation} ${name}`,
  required: ['gen_ai.agent.name', 'gen_ai.conversation.id'],
  allowed: ['gen_ai.agent.id', 'gen_ai.request.model', 'gen_ai.input.messages', 'gen_ai.output.messages', ...usage],
})

const conventions: Readonly<Record<string, Convention>> = {
  invoke_agent: invoke('invoke_agent'),
  invoke_workflow: invoke('invoke_workflow'),
  chat: {
    kinds: [2, 0],
    name: ({ 'gen_ai.request.model': model }) => `chat ${model}`,
    required: ['gen_ai.provider.name', 'gen_ai.request.model', 'gen_ai.conversation.id'],
    allowed: [
      'gen_ai.response.finish_reasons',
      'gen_ai.response.time_to_first_chunk',
      'gen_ai.system_instructions',
      'gen_ai.input.messages',
      'gen_ai.output.messages',
      'gen_ai.tool.definitions',
      ...usage,
      ...request,
    ],
  },
  execute_tool: {
    kinds: [0],
    name: ({ 'gen_ai.tool.name': tool }) => `execute_tool ${tool}`,
    required: ['gen_ai.tool.name', 'gen_ai.tool.call.id', 'gen_ai.tool.type'],
    allowed: ['gen_ai.conversation.id', 'gen_ai.tool.call.arguments', 'gen_ai.tool.call.result'],
  },
  retrieval: {
    kinds: [2],
    name: ({ 'gen_ai.data_source.id': source }) => (source === undefined ? 'retrieval' : `retrieval ${source}`),
    required: ['gen_ai.conversation.id'],
    allowed: [
      'gen_ai.data_source.id',
      'gen_ai.retrieval.top_k',
      'gen_ai.retrieval.query.text',
      'gen_ai.retrieval.documents',
    ],
  },
}

/** What of these spans is not as the conventions want it; steps, for which they have nothing, must say nothing in their name. */
export function againstConventions(spans: readonly ConventionSpan[]): string[] {
  return spans.flatMap(({ name, kind, attributes, status }) => {
    const complaints: string[] = []
    const has = (attribute: string) => attributes[attribute] !== undefined && attributes[attribute] !== ''
    const told = Object.keys(attributes).filter((attribute) => attribute.startsWith('gen_ai.'))
    if ((status.code === 2) !== has('error.type')) complaints.push(`${name}: error.type and status differ`)
    const operation = attributes['gen_ai.operation.name']
    if (operation === undefined) {
      if (!name.startsWith('step ')) complaints.push(`${name}: has no operation`)
      return complaints
    }
    const convention = conventions[String(operation)]
    if (convention === undefined) return [`${name}: the operation '${operation}' is unknown`]
    if (name !== convention.name(attributes)) complaints.push(`${name}: is named wrong`)
    if (!convention.kinds.includes(kind)) complaints.push(`${name}: is of kind ${kind}`)
    for (const one of convention.required) if (!has(one)) complaints.push(`${name}: lacks ${one}`)
    const known = new Set(['gen_ai.operation.name', ...convention.required, ...convention.allowed])
    for (const one of told) if (!known.has(one)) complaints.push(`${name}: has ${one}`)
    return complaints
  })
}
