import { hash } from 'node:crypto'
import { AppError, notFound } from '../../../core/error.ts'
import { errorBody } from '../../../http/error.ts'
import { json, type Reply } from '../../../http/reply.ts'
import type { HttpRequest } from '../../../http/request.ts'
import type { ServicesOf } from '../handler.ts'
import { cardOf } from './card.ts'
import { A2AError } from './error.ts'
import type { OfficialSettings } from './official.ts'
import { urlsFor } from './urls.ts'
import { namedVersion } from './versions.ts'

/** The handlers that tell clients which agents there are. */
export function createDiscovery(servicesOf: ServicesOf, settings: OfficialSettings) {
  async function cardReply(request: HttpRequest, id: string): Promise<Reply> {
    const { registry } = await servicesOf(request)
    const { version, needsKey, tokenIssuer, pushNotifications } = settings
    const url = urlsFor(request, settings).agent(id)
    const facts = { info: registry.info(id), url, version, needsKey, tokenIssuer, pushNotifications }
    const body = Buffer.from(JSON.stringify(cardOf(facts, versionOf(request))))
    const etag = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`
    const reach = settings.needsKey && !settings.publicCard ? 'private' : 'public'
    const headers = { ETag: etag, 'Cache-Control': `${reach}, max-age=60`, Vary: 'A2A-Version' }
    if (isKnown(request.headers['if-none-match'], etag)) return { status: 304, headers }
    return { status: 200, headers, body: { kind: 'bytes', bytes: body, mediaType: 'application/json' } }
  }

  return {
    card: (request: HttpRequest) => cardReply(request, request.params.id ?? ''),

    async list(request: HttpRequest): Promise<Reply> {
      return json(await agentsFor(request))
    },

    /** At the origin: the card of the default agent, or of the only one. */
    async originCard(request: HttpRequest): Promise<Reply> {
      const { registry } = await servicesOf(request)
      const ids = registry.ids()
      const id = settings.defaultAgent ?? (ids.length === 1 ? ids[0] : undefined)
      if (id !== undefined && registry.find(id) !== undefined) return cardReply(request, id)
      const error =
        id === undefined
          ? new AppError(
              'agent_not_found',
              'No agent is the default one (server.a2a.defaultAgent). Each has its own card.',
            )
          : notFound('agent', id)
      return json({ ...errorBody(error, request.requestId), ...(await agentsFor(request)) }, 404)
    },
  }

  async function agentsFor(request: HttpRequest) {
    const { registry } = await servicesOf(request)
    const urls = urlsFor(request, settings)
    // With the slash, clients that look for the card below it find it.
    return { agents: registry.ids().map((id) => ({ id, url: `${urls.agent(id)}/`, card: urls.card(id) })) }
  }
}

/** A card is not refused for a version: it says which ones there are. */
function versionOf(request: HttpRequest) {
  try {
    return namedVersion(request)
  } catch (error) {
    if (error instanceof A2AError) return undefined
    throw error
  }
}

function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  return header.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag)
}
