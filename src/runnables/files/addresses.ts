import { invalid } from '../../core/error.ts'
import type { FilePart, Part } from '../../core/message.ts'
import type { ModelObject } from '../../core/model.ts'

/** Throws `invalid_request` for the address of a file that the model's provider does not accept. */
export async function assertAccepted(
  parts: readonly Part[],
  model: () => Promise<ModelObject>,
  path: string,
): Promise<void> {
  const files = parts.filter((part) => part.type === 'file' && part.url !== undefined) as FilePart[]
  if (files.length === 0) return

  const supported = Object.entries((await ((await model()) as { supportedUrls?: Supported }).supportedUrls) ?? {})
  for (const { url, media_type: mediaType } of files) {
    if (url === undefined) continue
    const address = new URL(url).href
    if (supported.some(([type, patterns]) => fits(mediaType, type) && patterns.some((one) => matches(one, address))))
      continue
    throw invalid(
      `The model does not accept the address of a file of type ${mediaType}, and \`server.files.fetchUrls\` is off. Send the file itself.`,
      path,
    )
  }
}

type Supported = Readonly<Record<string, readonly RegExp[]>> | PromiseLike<Readonly<Record<string, readonly RegExp[]>>>

/** `type`: as providers write them, such as `image/*`. */
function fits(mediaType: string, type: string): boolean {
  if (type === '*' || type === '*/*') return true
  const known = type.toLowerCase().replace('*', '')
  return known.endsWith('/') ? mediaType.toLowerCase().startsWith(known) : mediaType.toLowerCase() === known
}

/** Without the state that a global pattern keeps. */
function matches({ source, flags }: RegExp, address: string): boolean {
  return new RegExp(source, flags.replace(/[gy]/g, '')).test(address)
}
