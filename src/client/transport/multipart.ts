/** Built as one buffer with a fixed boundary, so that a retry sends the same bytes. */
export async function toMultipart(form: FormData): Promise<{ bytes: Uint8Array; mediaType: string }> {
  const encoded = new Response(form)
  const bytes = new Uint8Array(await encoded.arrayBuffer())
  return { bytes, mediaType: encoded.headers.get('content-type') ?? 'multipart/form-data' }
}
