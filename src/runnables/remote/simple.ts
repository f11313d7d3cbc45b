import type { A2AInput } from '../../client/a2a.ts'
import type { Client } from '../../client/client.ts'
import { AppError, isAppError } from '../../core/error.ts'
import type { DataEvent } from '../../core/event.ts'
import type { Json } from '../../core/json.ts'
import type { FilePart, Part } from '../../core/message.ts'
import type { RunContext } from '../../core/runnable.ts'
import { decodeBase64 } from '../files/inline.ts'
import type { Talk } from './call.ts'
import { fileAbout, type RemoteEmission } from './parts.ts'

export interface SimpleSettings {
  url: string
  agentId: string
  apiKey?: string | undefined
  headers?: Record<string, string> | undefined
  a2aPrefix?: string | undefined
  timeoutMs: number
}

type RemotePart = Exclude<A2AInput['content'], string>[number]

/** Talks to an agent in our own dialect of A2A. Connects on the first run. */
export function simpleTalk({ agentId, timeoutMs, ...server }: SimpleSettings) {
  let opening: Promise<Client> | undefined
  const open = () => {
    opening ??= import('../../client/create.ts').then(({ createClient }) => createClient(server))
    return opening
  }
  return async function* ({ input, context, headers, session }: Talk): AsyncGenerator<RemoteEmission> {
    try {
      const { a2a } = await open()
      const content: RemotePart[] = []
      for (const part of input.parts) content.push(await toRemotePart(part, context))
      const message = { agentId, content, contextId: session, markData: true }
      for await (const event of await a2a.stream(message, { signal: context.signal, timeoutMs, headers })) {
        if (event.type === 'content') {
          if (typeof event.content !== 'string') throw new AppError('run_failed', 'it sent content that is not text')
          yield event.part === 'data' ? await toAnswer(parseData(event.content), context) : event.content
        }
        if (event.type === 'error') throw new AppError('run_failed', event.message)
      }
    } catch (error) {
      // A refusal of the other server is no fault of our client.
      if (isAppError(error) && error.code === 'unauthorized') {
        throw new AppError('run_failed', 'it refused the `apiKey`', { cause: error })
      }
      throw error
    }
  }
}

/** The dialect knows text and data: a file is data, with its content. */
async function toRemotePart(part: Part, { files }: RunContext): Promise<RemotePart> {
  if (part.type === 'text') return { type: 'text', content: part.text }
  if (part.type === 'data') return { type: 'data', data: JSON.stringify(part.data) }
  const { file_id, size: _size, url, ...file } = part
  if (file_id === undefined) return { type: 'data', data: JSON.stringify({ ...file, url }) }
  const bytes = await files.read(part)
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
  return { type: 'data', data: JSON.stringify({ ...file, data }) }
}

/** Data that is a file part with its content or address is a file, which this run keeps. */
async function toAnswer(data: Json, { files }: RunContext): Promise<DataEvent | FilePart> {
  if (typeof data !== 'object' || data === null || Array.isArray(data) || data.type !== 'file')
    return { type: 'data', data }
  const { media_type, name, data: content, url } = data
  const about = fileAbout(media_type, name)
  if (typeof content === 'string') {
    const bytes = decodeBase64(content)
    if (bytes === undefined) throw new AppError('run_failed', 'it sent a file that is not base64')
    return files.save({ ...about, bytes })
  }
  return typeof url === 'string' ? { type: 'file', ...about, url } : { type: 'data', data }
}

function parseData(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    throw new AppError('run_failed', 'it sent data that is not JSON', { cause })
  }
}
