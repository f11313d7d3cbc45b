const firstBytes = 1 << 16

/** Collects bytes in one buffer, which grows. */
export function createByteWriter() {
  let bytes = new Uint8Array(firstBytes)
  let end = 0
  const makeRoom = (more: number) => {
    if (end + more <= bytes.length) return
    const larger = new Uint8Array(2 ** Math.ceil(Math.log2(end + more)))
    larger.set(bytes.subarray(0, end))
    bytes = larger
  }
  return {
    length: () => end,
    put(byte: number): void {
      makeRoom(1)
      bytes[end++] = byte
    },
    append(more: Uint8Array): void {
      makeRoom(more.length)
      bytes.set(more, end)
      end += more.length
    },
    /** A part of a text, which has to be ASCII. */
    copy(text: string, from: number, to: number): void {
      makeRoom(to - from)
      for (let at = from; at < to; at++) bytes[end++] = text.charCodeAt(at)
    },
    /** All bytes so far; begins again. */
    take(): Uint8Array<ArrayBuffer> {
      const all = bytes.slice(0, end)
      end = 0
      return all
    },
  }
}
