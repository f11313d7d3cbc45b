/*
 * The package `openai`, as one shape that tests can use with each major version: what is used of it, since its types are only in
 * test/judges. The bodies of requests are not typed: they are OpenAI's own examples, and what the server makes of others is tested
 * elsewhere.
 */

/** The major versions of `openai` that must work with the server. */
export const versions = [4, 6, 7] as const
export type Version = (typeof versions)[number]

export type Body = Record<string, unknown>
export interface CallOptions {
  headers?: Record<string, string>
  signal?: AbortSignal
  maxRetries?: number
}

/** What a method returns: the answer, and on demand with its headers. */
export interface Asked<T> extends Promise<T> {
  withResponse(): Promise<{ data: T; response: Response }>
}
export interface Events<T> extends AsyncIterable<T> {
  controller: AbortController
}
/** What the `.stream()` helpers return. */
interface Helper<T> extends AsyncIterable<T> {
  abort(): void
}
interface Create<ANSWER, EVENT> {
  (body: Body & { stream: true }, options?: CallOptions): Asked<Events<EVENT>>
  (body: Body, options?: CallOptions): Asked<ANSWER>
}

export interface ToolCall {
  id: string
  type: 'function'
  function: { name: string; arguments: string; parsed_arguments?: unknown }
}
interface CompletionUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
}
/** Ours. */
interface Extra {
  run_id: string
  session_id: string
  sources: Body[]
}
export interface Completion {
  id: string
  object: string
  model: string
  choices: {
    message: { role: string; content: string | null; refusal: null; tool_calls?: ToolCall[]; parsed?: unknown }
    finish_reason: string
  }[]
  usage?: CompletionUsage
  agentserve?: Extra
}
export interface Chunk {
  id: string
  choices: { delta: { content?: string; reasoning_content?: string; tool_calls?: object[] }; finish_reason?: string }[]
  usage?: CompletionUsage | null
  agentserve?: Extra
}
interface CompletionHelper extends Helper<Chunk> {
  finalChatCompletion(): Promise<Completion>
}
/** Runs the functions of `tools` until there is an answer. */
interface ToolRunner {
  finalContent(): Promise<string | null>
}

export interface Item extends Body {
  type: string
  id: string
}
export interface ResponseObject extends Body {
  id: string
  status: string
  output: Item[]
  output_parsed?: unknown
  conversation: { id: string }
  usage: { input_tokens: number; output_tokens: number; total_tokens: number } | null
}
export interface ResponseEvent extends Body {
  type: string
  sequence_number: number
  delta?: string
  response?: ResponseObject
}
interface ResponseHelper extends Helper<ResponseEvent> {
  finalResponse(): Promise<ResponseObject>
}

interface Model {
  id: string
  object: string
  owned_by: string
}
interface Conversations {
  create(body: Body): Promise<Item>
  retrieve(id: string): Promise<Item>
  delete(id: string): Promise<Body>
}

export interface OpenAI {
  models: { list(): AsyncIterable<Model>; retrieve(id: string): Promise<Model> }
  completions: {
    create: Create<Completion, Chunk>
    stream(body: Body, options?: CallOptions): CompletionHelper
    parse(body: Body): Promise<Completion>
    runTools(body: Body): ToolRunner
  }
  responses: {
    create: Create<ResponseObject, ResponseEvent>
    stream(body: Body, options?: CallOptions): ResponseHelper
    parse(body: Body): Promise<ResponseObject>
    retrieve(id: string, query: Body & { stream: true }): Promise<Events<ResponseEvent>>
    retrieve(id: string, query?: Body): Promise<ResponseObject>
    cancel(id: string): Promise<ResponseObject>
    inputItems: { list(id: string): AsyncIterable<Item> }
  }
  /** Not in 4. */
  conversations: Conversations
}

interface Failure extends Error {
  status?: number
  code?: string | null
  param?: string | null
  type?: string
}
type ErrorClass = new (...given: never[]) => Failure

/** The classes of its errors. */
export interface OpenAIErrors {
  APIError: ErrorClass
  APIUserAbortError: ErrorClass
  AuthenticationError: ErrorClass
  BadRequestError: ErrorClass
  InternalServerError: ErrorClass
  NotFoundError: ErrorClass
}

type Completions = OpenAI['completions']
interface Client extends Omit<OpenAI, 'completions'> {
  chat: { completions: Completions }
  beta: { chat?: { completions: Completions } }
}
interface Package extends OpenAIErrors {
  default: new (options: { baseURL: string; apiKey: string; fetch?: typeof fetch }) => Client
}

function load(version: Version): Promise<Package> {
  const name = version === 7 ? 'openai' : `openai${version}`
  return import(name).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  })
}

/** A client of the server at `url`. `fetch`: instead of the network. */
export async function openOpenAI(
  version: Version,
  url: string,
  { apiKey = 'no-key', ...options }: { apiKey?: string; fetch?: typeof fetch } = {},
): Promise<OpenAI & { errors: OpenAIErrors }> {
  const errors = await load(version)
  const client = new errors.default({ baseURL: `${url}/v1`, apiKey, ...options })
  const { completions } = client.chat
  // In 4 the helpers are in beta.
  const helpers = version === 4 ? (client.beta.chat?.completions ?? completions) : completions
  return {
    errors,
    models: client.models,
    responses: client.responses,
    conversations: client.conversations,
    completions: {
      create: completions.create.bind(completions),
      stream: helpers.stream.bind(helpers),
      parse: helpers.parse.bind(helpers),
      runTools: helpers.runTools.bind(helpers),
    },
  }
}

/** What a promise is rejected with. */
export async function failureOf(promise: Promise<unknown>): Promise<Failure> {
  return promise.then(
    (value) => {
      throw new Error(`It did not fail: ${JSON.stringify(value)}`)
    },
    (error: unknown) => error as Failure,
  )
}

/** The text of an answer. */
export function textOf({ choices }: Completion): string {
  return choices[0]?.message.content ?? ''
}

/** The same of a response. Its own `output_text` comes from the SDK, and in 4 not everywhere. */
export function outputText({ output }: ResponseObject): string {
  const contents = output.flatMap(({ content }) => (content ?? []) as { type: string; text?: string }[])
  return contents.map(({ type, text }) => (type === 'output_text' ? text : '')).join('')
}
