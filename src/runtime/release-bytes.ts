/**
 * Gives the memory of bytes back at once; they are empty afterwards. Left to the collector, bytes are its main reason to
 * collect, which stops the thread. A part of a larger buffer is left as it is.
 */
export function releaseBytes({ buffer, byteLength }: Uint8Array | Uint16Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0)
}
