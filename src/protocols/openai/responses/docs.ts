import { type DocResponse, jsonAnswer, type RouteDoc } from '../../../wire/document/route-doc.ts'
import {
  Conversation,
  ConversationDeleted,
  ConversationRequest,
  ResponseItems,
  ResponseItemsQuery,
  ResponseObject,
  ResponseQuery,
  ResponseRequest,
  ResponseStreamEvent,
} from '../../../wire/protocols/openai-responses.ts'
import { openaiRefused } from '../docs.ts'

const headers = {
  'X-Run-Id': 'The run.',
  'X-Session-Id': 'The session.',
  'X-Agentserve-Ignored': 'The fields of the request that the agent does not use.',
}
const either: DocResponse = {
  description: 'The response, or its stream.',
  content: { 'application/json': ResponseObject, 'text/event-stream': ResponseStreamEvent },
  headers,
}

export function responseDocs(prefix: string): RouteDoc[] {
  const responses = `${prefix}/responses`
  const conversations = `${prefix}/conversations`
  const ofResponse = { tag: 'OpenAI', scope: 'run', params: { response_id: 'The response.' } } as const
  const ofConversation = { tag: 'OpenAI', scope: 'sessions', params: { conversation_id: 'The session.' } } as const
  return [
    {
      tag: 'OpenAI',
      method: 'POST',
      path: responses,
      operationId: 'createOpenAIResponse',
      scope: 'run',
      summary: 'Create a response',
      description:
        'Runs an agent, team or workflow as `client.responses.create` and `.stream` of OpenAI expect it. Answers approvals ' +
        '(`mcp_approval_response`), functions of the caller and questions (`function_call_output`) of an earlier response too. ' +
        'Without `background` the run is cancelled 2 seconds after the client has left, unless it says `X-On-Disconnect: continue`.',
      headers: { 'X-On-Disconnect': '`continue`: the run continues when the client leaves.' },
      body: { required: true, content: { 'application/json': ResponseRequest } },
      responses: {
        200: either,
        ...openaiRefused(400, 401, 403, 404, 408, 409, 413, 415, 421, 429, 500, 503, 504, 507),
      },
    },
    {
      ...ofResponse,
      method: 'GET',
      path: `${responses}/:response_id`,
      operationId: 'getOpenAIResponse',
      summary: 'Get a response, or stream it again',
      query: ResponseQuery,
      responses: { 200: either, ...openaiRefused(400, 401, 403, 404, 421, 429, 500, 503) },
    },
    {
      ...ofResponse,
      method: 'POST',
      path: `${responses}/:response_id/cancel`,
      operationId: 'cancelOpenAIResponse',
      summary: 'Cancel a response',
      description: 'One that has ended stays as it is.',
      responses: {
        200: jsonAnswer('The response.', ResponseObject),
        ...openaiRefused(401, 403, 404, 408, 409, 413, 421, 429, 500, 503, 507),
      },
    },
    {
      ...ofResponse,
      method: 'GET',
      path: `${responses}/:response_id/input_items`,
      operationId: 'listOpenAIInputItems',
      summary: 'List the input of a response',
      query: ResponseItemsQuery,
      responses: {
        200: jsonAnswer('The items.', ResponseItems),
        ...openaiRefused(400, 401, 403, 404, 421, 429, 500, 503),
      },
    },
    {
      ...ofConversation,
      params: {},
      method: 'POST',
      path: conversations,
      operationId: 'createOpenAIConversation',
      summary: 'Create a conversation',
      body: { required: false, content: { 'application/json': ConversationRequest } },
      responses: {
        200: jsonAnswer('The conversation.', Conversation),
        ...openaiRefused(400, 401, 403, 408, 413, 415, 421, 429, 500, 503, 507),
      },
    },
    {
      ...ofConversation,
      method: 'GET',
      path: `${conversations}/:conversation_id`,
      operationId: 'getOpenAIConversation',
      summary: 'Get a conversation',
      responses: {
        200: jsonAnswer('The conversation.', Conversation),
        ...openaiRefused(401, 403, 404, 421, 429, 500, 503),
      },
    },
    {
      ...ofConversation,
      method: 'DELETE',
      path: `${conversations}/:conversation_id`,
      operationId: 'deleteOpenAIConversation',
      summary: 'Delete a conversation',
      responses: {
        200: jsonAnswer('It is deleted.', ConversationDeleted),
        ...openaiRefused(401, 403, 404, 408, 413, 421, 429, 500, 503, 507),
      },
    },
  ]
}
