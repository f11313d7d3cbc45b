/** The versions of AG-UI's client that must work with the server. CopilotKit 1.75 has the older one. */
export const versions = ['0.0.59', '1.0.0'] as const
export type Version = (typeof versions)[number]

export interface AgUiEvent {
  type: string
  [field: string]: unknown
}

export interface AgUiMessage {
  id: string
  role: string
  content?: unknown
  toolCalls?: { id: string; function: { name: string; arguments: string } }[]
  toolCallId?: string
}

export interface Interrupt {
  id: string
  reason: string
  message?: string
  toolCallId?: string
  responseSchema?: object
  metadata?: Record<string, unknown>
}

export interface RunParameters {
  runId?: string
  tools?: object[]
  context?: object[]
  forwardedProps?: object
  resume?: { interruptId: string; status: 'resolved' | 'cancelled'; payload?: unknown }[]
}

interface Subscriber {
  onEvent?: (params: { event: AgUiEvent }) => void
}

interface RunInput {
  threadId: string
  runId: string
  protocolVersion?: string
}

interface AgentOptions {
  url: string
  threadId?: string
  headers?: Record<string, string>
  initialMessages?: object[]
  initialState?: object
  fetch?: (url: string, init: RequestInit) => Promise<Response>
}

/** What both versions have, as far as the tests use it. */
declare class HttpAgent {
  constructor(options: AgentOptions)
  url: string
  threadId: string
  headers: Record<string, string>
  messages: AgUiMessage[]
  state: Record<string, unknown>
  pendingInterrupts: Interrupt[]
  fetch: (url: string, init: RequestInit) => Promise<Response>
  addMessage(message: object): void
  setMessages(messages: object[]): void
  setState(state: object): void
  runAgent(parameters?: RunParameters, subscriber?: Subscriber): Promise<{ result: unknown }>
  connectAgent(parameters?: RunParameters, subscriber?: Subscriber): Promise<unknown>
  abortRun(): void
  protected connect(input: RunInput): unknown
}

interface Package {
  HttpAgent: typeof HttpAgent
  runHttpRequest(request: () => Promise<Response>): unknown
  transformHttpEventStream(events: unknown): unknown
}

/** The names are no literals, so that the types of the repository need no judges. */
function load<T>(name: string): Promise<T> {
  return import(name).catch((cause: unknown) => {
    throw new Error('The judges are not installed: npm run judges', { cause })
  }) as Promise<T>
}

/** Throws for an event that is not of AG-UI 1.0. */
export async function eventParser(): Promise<(event: unknown) => unknown> {
  const { EventSchema } = await load<{ EventSchema: { parse(event: unknown): unknown } }>('@ag-ui/core/schemas')
  return (event) => EventSchema.parse(event)
}

/** An agent as a page holds it. `events`: those of its last run, as they passed the client's checks. */
export async function openAgent(version: Version, options: AgentOptions) {
  const { HttpAgent, runHttpRequest, transformHttpEventStream } = await load<Package>(
    version === '1.0.0' ? '@ag-ui/client' : 'agui0',
  )
  class RecordingAgent extends HttpAgent {
    events: AgUiEvent[] = []
    /** `HttpAgent` has no way to find a thread again. */
    protected override connect({ threadId, runId, protocolVersion }: RunInput) {
      const query = new URLSearchParams({ runId, ...(protocolVersion !== undefined && { protocolVersion }) })
      const url = `${this.url}/threads/${encodeURIComponent(threadId)}?${query}`
      return transformHttpEventStream(runHttpRequest(() => this.fetch(url, { headers: this.headers })))
    }
    override runAgent(parameters?: RunParameters) {
      return super.runAgent(parameters, this.#recorder())
    }
    override connectAgent(parameters?: RunParameters) {
      return super.connectAgent(parameters, this.#recorder())
    }
    say(content: unknown, id: string = crypto.randomUUID()) {
      this.addMessage({ id, role: 'user', content })
      return this
    }
    /** The event with which the last run ended. */
    get end(): AgUiEvent | undefined {
      return this.events.at(-1)
    }
    #recorder(): Subscriber {
      this.events = []
      return { onEvent: ({ event }) => void this.events.push(event) }
    }
  }
  return new RecordingAgent(options)
}

export type Agent = Awaited<ReturnType<typeof openAgent>>

/** One line a message: `assistant: It is cold. [weather {"city":"Ghent"}]`. */
export function outlineOf(messages: readonly AgUiMessage[]): string[] {
  return messages.map(({ role, content, toolCalls = [] }) => {
    const text = typeof content === 'string' ? content : content === undefined ? '' : JSON.stringify(content)
    const calls = toolCalls.map(({ function: called }) => `[${called.name} ${called.arguments}]`)
    return [`${role}:`, text, ...calls].filter((piece) => piece !== '').join(' ')
  })
}
