/** 128 random bits as text. Not `randomUUID`, which browsers have on https and on localhost only. */
export function newKey(): string {
  return Array.from(globalThis.crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
