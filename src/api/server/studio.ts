import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { AppError } from '../../core/error.ts'
import { bytes, type Reply } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { Route } from '../../http/router.ts'
import { once } from '../../runtime/once.ts'
import { type StudioFiles, type StudioPlaces, studioPage, studioPolicy } from '../../web/studio-page.ts'
import { PlainText, type RouteDoc } from '../../wire/document/route-doc.ts'
import { htmlReply } from './html.ts'

/** As the build leaves it beside the files (`scripts/studio/plugin.ts`). */
interface Manifest extends StudioFiles {
  files: string[]
}

const mediaTypes: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}
const unpacked = promisify(gunzip)
/** A file's name has a hash of its content. */
const forever = 'public, max-age=31536000, immutable'

/** The studio's page under every address below its path, and the files that it loads. */
export function studioRoutes(places: StudioPlaces): Route[] {
  const manifest = once(async () => JSON.parse((await readBuilt('manifest.json')).toString()) as Manifest)
  const page = async (): Promise<Reply> => htmlReply(studioPage(places, await manifest()), studioPolicy)

  async function asset(request: HttpRequest): Promise<Reply> {
    const { file = '' } = request.params
    const { files } = await manifest()
    if (!files.includes(file)) throw new AppError('route_not_found', `There is nothing at ${request.path}.`)
    const accepted = request.headers['accept-encoding']
    const coding = takes('br', accepted) ? 'br' : takes('gzip', accepted) ? 'gzip' : undefined
    const packed = await readBuilt(coding === 'br' ? `${file}.br` : `${file}.gz`)
    const content = coding === undefined ? await unpacked(packed) : packed
    const type = mediaTypes[file.slice(file.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    return bytes(content, type, {
      'Cache-Control': forever,
      Vary: 'Accept-Encoding',
      ...(coding !== undefined && { 'Content-Encoding': coding }),
    })
  }

  const { path } = places
  const same = { method: 'GET', scope: 'open' } as const
  return [
    { ...same, path: path || '/', handler: page },
    { ...same, path: `${path}/**`, handler: page },
    { ...same, path: `${path}/assets/:file`, handler: asset },
  ]
}

export function studioDocs(path: string): RouteDoc[] {
  const same = { method: 'GET', tag: 'Studio', scope: 'open', errors: [] } as const
  const html = { description: 'The page.', content: { 'text/html': PlainText } }
  const file = { description: 'The file.', content: { 'text/javascript': PlainText, 'text/css': PlainText } }
  return [
    {
      ...same,
      path: path || '/',
      operationId: 'getStudio',
      summary: 'The studio: sessions and runs in a browser',
      description: 'Every address below it is the same page.',
      responses: { 200: html },
    },
    {
      ...same,
      path: `${path}/assets/:file`,
      operationId: 'getStudioAsset',
      summary: 'Get a file of the studio',
      params: { file: 'The file name.' },
      responses: { 200: file },
      errors: ['route_not_found'],
    },
  ]
}

/** In the built program the files are beside it; from source they are where the build has put them. */
async function readBuilt(name: string): Promise<Buffer> {
  const places = ['./web/studio/', '../../../dist/web/studio/'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  )
  for (const place of places) {
    try {
      return await readFile(join(place, name))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  throw new AppError('route_not_found', 'The studio is not built here. Run `npm run build`.')
}

/** Whether a browser takes the coding: it names it, and not with `q=0`. */
function takes(coding: 'br' | 'gzip', accepted = ''): boolean {
  const rest = String.raw`\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))[\d.]+\s*)?(?:,|$)`
  return new RegExp(String.raw`(?:^|,)\s*${coding}${rest}`, 'i').test(accepted)
}
