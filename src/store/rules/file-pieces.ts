import { filePieceBytes } from '../../core/file.ts'

/** The name of a content: its SHA-256. Computed outside of the event loop. It never leaves the store. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)
  return Buffer.from(digest).toString('hex')
}

/** The pieces of a content; an empty one has one. */
export function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(bytes.byteLength / filePieceBytes))
  return Array.from({ length: count }, (_, piece) =>
    bytes.subarray(piece * filePieceBytes, (piece + 1) * filePieceBytes),
  )
}
