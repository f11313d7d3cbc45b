import type { CallToolResult, InputRequiredResult, Tool } from '@modelcontextprotocol/server'
import type { Scope } from '../core/access/scope.ts'
import { collectionPattern, collectionWords, knowledgeLimits } from '../core/knowledge/limits.ts'
import { type Argument, type Arguments, type GivenArguments, schemaOf } from './arguments.ts'
import { fetchDocument, search } from './documents.ts'
import { toolNames } from './names.ts'
import type { McpCatalog, McpPort } from './port.ts'
import { type CallHost, defaultWaitSeconds, type RunTools, runTools } from './runs.ts'

/** More agents than this share one tool: hosts give their model a few dozen tools at most. */
const mostAskTools = 16
const mostMessage = 1_000_000
const longestWaitSeconds = 600

export interface McpTool {
  definition: Tool
  /** What a key needs to see and call it. */
  scope: Scope
  takes: Arguments
  call(given: GivenArguments, port: McpPort, host: CallHost): Promise<CallToolResult | InputRequiredResult>
}

/** The tools by name, in the order in which they are listed: the same for the same catalog. */
export function toolsOf({ entities, knowledge }: McpCatalog, approveByTool: boolean): ReadonlyMap<string, McpTool> {
  const tools = [
    ...(knowledge ? knowledgeTools : []),
    ...(entities.length === 0 ? [] : [...askTools(entities, approveByTool), ...handleTools(approveByTool)]),
  ]
  return new Map(tools.map((tool) => [tool.definition.name, tool]))
}

const id = (description: string): Argument => ({ type: 'text', most: 128, required: true, description })
const runId = id('The run, as `run_id` of a result names it.')
const waitSeconds: Argument = {
  type: 'integer',
  from: 1,
  to: longestWaitSeconds,
  description: `How long to wait for the end, in seconds. Default: ${defaultWaitSeconds}. After that, call get_run.`,
}

function defineTool(
  definition: Omit<Tool, 'inputSchema'>,
  scope: Scope,
  takes: Arguments,
  call: McpTool['call'],
): McpTool {
  return { definition: { ...definition, inputSchema: schemaOf(takes) }, scope, takes, call }
}

const knowledgeTools = [
  defineTool(
    {
      name: 'search',
      title: 'Search the documents',
      description:
        'Searches the knowledge base for passages about a question. Get a whole document with fetch and its id.',
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    'knowledge:read',
    {
      query: { type: 'text', most: knowledgeLimits.query, required: true, description: 'A question, or words.' },
      limit: { type: 'integer', from: 1, to: knowledgeLimits.search, description: 'The most passages. Default: 10.' },
      collection: {
        type: 'text',
        most: 64,
        pattern: collectionPattern,
        says: `must be ${collectionWords}`,
        description: 'The collection of documents, when there are several.',
      },
    },
    (given, port, { signal }) => search(port, given, signal),
  ),
  defineTool(
    {
      name: 'fetch',
      title: 'Read a document',
      description: 'Gets the text of a document that search has found, by its id.',
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    'knowledge:read',
    { id: { ...id('The document, as `id` of a search result names it.'), most: knowledgeLimits.label } as Argument },
    (given, port, { signal }) => fetchDocument(port, given, signal),
  ),
]

const askArguments: Arguments = {
  message: { type: 'text', most: mostMessage, required: true, description: 'The question or task.' },
  session_id: {
    type: 'text',
    most: 128,
    pattern: /^[A-Za-z0-9._:-]+$/,
    says: 'may have letters, digits and . _ : - only',
    description: 'Continues a conversation: the `session_id` of an earlier result. Without it, a new one begins.',
  },
  wait_seconds: waitSeconds,
}

function askTools(entities: McpCatalog['entities'], approveByTool: boolean): McpTool[] {
  const sorted = entities.toSorted((one, other) => (one.id < other.id ? -1 : 1))
  const ids = sorted.map(({ id }) => id)
  const byName = toolNames(ids, 'ask_')
  if (sorted.length > mostAskTools) return [oneAskTool(sorted, approveByTool)]
  const names = new Map([...byName].map(([name, id]) => [id, name]))
  return sorted.map(({ id, name, description }) =>
    defineTool(
      {
        name: names.get(id) ?? '',
        title: name ?? id,
        description: description ?? `Asks ${name ?? id}.`,
        annotations: { readOnlyHint: false },
      },
      'run',
      askArguments,
      (given, port, host) => runTools(port, host, approveByTool).ask(id, given.text('message') ?? '', given),
    ),
  )
}

function oneAskTool(entities: McpCatalog['entities'], approveByTool: boolean): McpTool {
  const list = entities.map(({ id, description }) => `- ${id}${description === null ? '' : `: ${description}`}`)
  return defineTool(
    {
      name: 'ask',
      title: 'Ask an agent',
      description: `Asks an agent, team or workflow. There are:\n${list.join('\n')}`,
      annotations: { readOnlyHint: false },
    },
    'run',
    {
      agent: { type: 'text', most: 256, required: true, description: 'The id of the agent, team or workflow.' },
      ...askArguments,
    },
    (given, port, host) =>
      runTools(port, host, approveByTool).ask(given.text('agent') ?? '', given.text('message') ?? '', given),
  )
}

function handleTools(approveByTool: boolean): McpTool[] {
  const withRuns =
    (use: (tools: RunTools, given: GivenArguments) => Promise<CallToolResult | InputRequiredResult>): McpTool['call'] =>
    (given, port, host) =>
      use(runTools(port, host, approveByTool), given)
  return [
    defineTool(
      {
        name: 'get_run',
        title: 'Get a run',
        description: 'Gets the answer of a run that was still at work or waited for a person.',
        annotations: { readOnlyHint: true },
      },
      'run',
      { run_id: runId, wait_seconds: waitSeconds },
      withRuns((tools, given) => tools.get(given)),
    ),
    defineTool(
      {
        name: 'answer_run',
        title: 'Answer a question of a run',
        description: `Answers what a run asks for and waits for its end.${approveByTool ? '' : ' It can not approve anything: a person does that.'}`,
        annotations: { readOnlyHint: false },
      },
      'run',
      {
        run_id: runId,
        input: { type: 'anything', description: 'The answer: text, or what the schema of the question wants.' },
        ...(approveByTool && {
          approved: { type: 'flag' as const, description: 'Whether what waits for an approval may be done.' },
          reason: { type: 'text' as const, most: 1000, description: 'Why it may or may not be done.' },
        }),
        wait_seconds: waitSeconds,
      },
      withRuns((tools, given) => tools.answer(given)),
    ),
    defineTool(
      {
        name: 'cancel_run',
        title: 'Cancel a run',
        description: 'Stops a run that is at work or waits.',
        annotations: { readOnlyHint: false, destructiveHint: true },
      },
      'run',
      { run_id: runId },
      withRuns((tools, given) => tools.cancel(given)),
    ),
  ]
}
