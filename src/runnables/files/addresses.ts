import { invalid } from '../../core/error.ts'
import type { FilePart } from '../../core/message.ts'
import type { ModelObject } from '../../core/model.ts'

/** Throws `invalid_request` for the address of a file that the model's provider does not accept. */
export async function assertAccepted(files: readonly FilePart[], model: ModelObject): Promise<void> {
  const supported = Object.entries((await (model as { supportedUrls?: Supported }).supportedUrls) ?? {})
  for (const { url, media_type: mediaType } of files) {
    if (url === undefined) continue
    const address = new URL(url).href
    if (supported.some(([type, patterns]) => fits(mediaType, type) && patterns.some((one) => matches(one, address))))
      continue
    throw invalid(
      `The model does not accept the address of a file of type ${mediaType}, and \`server.files.fetchUrls\` is off. Send the file itself.`,
      'input.parts',
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
