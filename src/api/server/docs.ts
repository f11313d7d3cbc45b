import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { credentialOf } from '../../core/access/security-scheme.ts'
import { AppError } from '../../core/error.ts'
import { bytes, empty } from '../../http/reply.ts'
import type { HttpRequest } from '../../http/request.ts'
import { docsPage, docsScript, swaggerFiles } from '../../web/docs-page.ts'
import { pageStyle } from '../../web/page-style.ts'
import { PlainText } from '../../wire/document/route-doc.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { matches } from '../route/etag.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { htmlReply } from './html.ts'

const route = routesAbout('Server', 'open')

/** Swagger UI uses inline styles and data: icons. Everything else must come from this server. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

interface Asset {
  bytes: Uint8Array
  etag: string
  mediaType: string
}

/** The interactive documentation: a page around Swagger UI, with all assets from this server. */
export function docsRoutes({ studioPath, tokenIssuer }: ApiSettings): DocumentedRoute[] {
  return [
    route('GET', '/docs', 'getDocs', {
      summary: 'Interactive documentation',
      responses: { 200: { description: 'The page.', content: { 'text/html': PlainText } } },
      errors: [],
      handle: () => htmlReply(docsPage(studioPath, credentialOf(tokenIssuer)), policy),
    }),
    route('GET', '/docs/assets/:file', 'getDocsAsset', {
      summary: 'Get a file of the documentation page',
      params: { file: 'The file name.' },
      responses: {
        200: { description: 'The file.', content: { 'text/javascript': PlainText, 'text/css': PlainText } },
        304: { description: 'Not changed.' },
      },
      errors: ['route_not_found'],
      handle: (request) => assetReply(request),
    }),
  ]
}

async function assetReply(request: HttpRequest) {
  const asset = await findAsset(pathId(request, 'file'))
  if (asset === undefined) throw new AppError('route_not_found', `There is nothing at ${request.path}.`)
  const headers = { ETag: asset.etag, 'Cache-Control': 'no-cache' }
  if (matches(request.headers['if-none-match'], asset.etag)) return empty(304, headers)
  return bytes(asset.bytes, asset.mediaType, headers)
}

async function findAsset(file: string): Promise<Asset | undefined> {
  const own = file === 'docs.js' ? docsScript : file === 'page.css' ? pageStyle : undefined
  if (own === undefined && !swaggerFiles.includes(file)) return undefined
  const content = own === undefined ? await readSwaggerFile(file) : Buffer.from(own)
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  const mediaType = file.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8'
  return { bytes: content, etag, mediaType }
}

/** In the built program the files are beside it; from source they are in the installed package. */
async function readSwaggerFile(file: string): Promise<Uint8Array> {
  try {
    return await readFile(fileURLToPath(new URL(`./web/${file}`, import.meta.url)))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    const manifest = createRequire(import.meta.url).resolve('swagger-ui-dist/package.json')
    return await readFile(join(dirname(manifest), file))
  }
}
