/** 128 random bits as text. Not `randomUUID`, which browsers have on https and on localhost only. */
export function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join('-')
}
