export interface FormFile {
  bytes: Uint8Array | Blob
  name: string
  mediaType: string | undefined
}

/** Built as one buffer with a fixed boundary, so that a retry sends the same bytes. */
export async function toMultipart(
  fields: Readonly<Record<string, string>>,
  files: readonly FormFile[],
): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.set(name, value)
  for (const { bytes, name, mediaType = '' } of files) {
    const content = bytes instanceof Blob ? bytes : new Uint8Array(bytes)
    form.append('file', new Blob([content], { type: mediaType }), name)
  }
  const encoded = new Response(form)
  const bytes = new Uint8Array(await encoded.arrayBuffer())
  return { bytes, mediaType: encoded.headers.get('content-type') ?? 'multipart/form-data' }
}
