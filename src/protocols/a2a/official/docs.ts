import type { Access } from '../../../core/access/scope.ts'
import { refusals as common } from '../../../wire/document/refusals.ts'
import { AnyObject, type RouteDoc } from '../../../wire/document/route-doc.ts'
import { A2ARpcRequest, A2ASendRequest, A2ATaskQuery, A2ATasksQuery } from '../../../wire/protocols/a2a-tasks.ts'
import { restType } from './error.ts'

const standard = 'See docs/a2a.md and the specification at a2a-protocol.org.'
const version = { 'A2A-Version': 'The version of A2A: `1.0` or `0.3`.' }
const streamed = 'Server-sent events: the task, then its updates.'

const refusals: Readonly<Record<number, string>> = {
  ...common,
  400: 'The request is wrong, or the task does not allow it.',
  404: 'There is no such agent or task.',
  500: 'Internal error.',
  503: 'The server cannot accept work now.',
}

const bodies: Readonly<Record<string, typeof A2ARpcRequest | typeof A2ASendRequest>> = {
  callA2AAgent: A2ARpcRequest,
  sendToA2AAgent: A2ASendRequest,
  streamToA2AAgent: A2ASendRequest,
}

const queries: Readonly<Record<string, RouteDoc['query']>> = {
  listTasksOfA2AAgent: A2ATasksQuery,
  getTaskOfA2AAgent: A2ATaskQuery,
}

type Row = [method: RouteDoc['method'], path: string, operationId: string, summary: string, description?: string]

/** For the OpenAPI document. Their shapes are A2A's, so the document does not repeat them. */
export function officialDocs(a2aPrefix: string, publicCard: boolean): RouteDoc[] {
  const agents = `${a2aPrefix}/agents`
  const agent = `${agents}/:id`
  const cardScope = publicCard ? 'open' : 'any'
  const docsOf = (scope: Access, type: string, rows: readonly Row[]) =>
    rows.map(([method, path, operationId, summary, description = standard]): RouteDoc => {
      const streams = summary.includes('tream')
      const content = streams ? { 'text/event-stream': AnyObject, [type]: AnyObject } : { [type]: AnyObject }
      const body = bodies[operationId]
      return {
        ...{ method, path, operationId, summary, description, scope, params: paramsOf(path) },
        tag: 'Official A2A',
        headers: version,
        ...(queries[operationId] && { query: queries[operationId] }),
        ...(body && { body: { required: true, content: { 'application/json': body, [restType]: body } } }),
        responses: { 200: { description: streams ? streamed : 'The answer.', content }, ...refused(path, type) },
        ...(isDiscovery(path, method) && { errors: ['agent_not_found'] as const }),
      }
    })
  return [
    ...docsOf('any', 'application/json', [
      [
        'GET',
        agents,
        'listA2AAgents',
        'List the agents that A2A clients can call',
        'With the address of each and of its card.',
      ],
    ]),
    ...docsOf(cardScope, 'application/json', [
      ['GET', agent, 'getCardOfA2AAgent', 'Get the card of an agent'],
      ['GET', `${agent}/.well-known/agent-card.json`, 'getWellKnownCardOfA2AAgent', 'Get the card of an agent'],
      ['GET', '/.well-known/agent-card.json', 'getCardOfDefaultA2AAgent', 'Get the card of the default agent'],
      [
        'GET',
        `${agent}/.well-known/agent.json`,
        'getOldCardOfA2AAgent',
        'Get the card of an agent, as early clients do',
      ],
      [
        'GET',
        '/.well-known/agent.json',
        'getOldCardOfDefaultA2AAgent',
        'Get the card of the default agent, as early clients do',
      ],
    ]),
    ...docsOf('run', 'application/json', [
      [
        'POST',
        agent,
        'callA2AAgent',
        'Call an agent with JSON-RPC; may stream',
        `A2A 1.0 (\`SendMessage\`, \`GetTask\` …) and 0.3 (\`message/send\`, \`tasks/get\` …). \`ListTasks\` also needs the scope \`sessions\`. ${standard}`,
      ],
    ]),
    ...docsOf('run', restType, [
      ['POST', `${agent}/message\\:send`, 'sendToA2AAgent', 'Send a message and wait for the task'],
      ['POST', `${agent}/message\\:stream`, 'streamToA2AAgent', 'Send a message and stream the task'],
    ]),
    ...docsOf(['run', 'sessions'], restType, [
      ['GET', `${agent}/tasks`, 'listTasksOfA2AAgent', 'List tasks, newest first'],
    ]),
    ...docsOf('run', restType, [
      ['GET', `${agent}/tasks/:task`, 'getTaskOfA2AAgent', 'Get a task, or stream it with `:subscribe`'],
      ['POST', `${agent}/tasks/:task`, 'changeTaskOfA2AAgent', 'Cancel a task, or stream it'],
      ['GET', `${agent}/extendedAgentCard`, 'getExtendedCardOfA2AAgent', 'Get the extended card: there is none'],
      ...pushRows(`${agent}/tasks/:task/pushNotificationConfigs`),
    ]),
  ]
}

function isDiscovery(path: string, method: string): boolean {
  return method === 'GET' && /(?:agents|:id|\.json)$/.test(path)
}

/** What HTTP refuses keeps its status over JSON-RPC; all else is 200 there. */
function refused(path: string, type: string): RouteDoc['responses'] {
  if (isDiscovery(path, 'GET') && !path.endsWith(':id')) return {}
  const content = { [type]: AnyObject }
  return Object.fromEntries(Object.entries(refusals).map(([status, description]) => [status, { description, content }]))
}

function paramsOf(path: string): Record<string, string> {
  return {
    ...(path.includes(':id') && { id: 'The agent, team or workflow.' }),
    ...(path.includes('/:task') && {
      task: 'The task, which is a run. `:cancel` or `:subscribe` follows its id to do that.',
    }),
    ...(path.includes('/:config') && { config: 'The push notification.' }),
  }
}

function pushRows(path: string): Row[] {
  const off = `Needs \`server.a2a.push\`. ${standard}`
  return [
    ['GET', path, 'listPushOfA2AAgent', 'List the push notifications of a task', off],
    ['POST', path, 'createPushOfA2AAgent', 'Ask for push notifications of a task', off],
    ['GET', `${path}/:config`, 'getPushOfA2AAgent', 'Get a push notification, without its credentials', off],
    ['DELETE', `${path}/:config`, 'deletePushOfA2AAgent', 'End a push notification', off],
  ]
}
