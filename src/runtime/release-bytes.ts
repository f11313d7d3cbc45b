/**
 * Frees the memory of bytes at once; they are empty afterwards. Large buffers left to the GC trigger major collections,
 * which stop the thread. A view of a larger buffer is left unchanged.
 */
export function releaseBytes({ buffer, byteLength }: Uint8Array | Uint16Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
