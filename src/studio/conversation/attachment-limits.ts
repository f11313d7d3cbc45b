import { formatBytes, safeName } from '../parts/format.ts'

/** What servers take unless they are configured otherwise (`limits.fileSize`, `limits.run.files`, `maxRequestSize`). */
const usual = { fileBytes: 8 * 1024 * 1024, allBytes: 10 * 1024 * 1024, files: 10 }

/** The server decides; a browser may only hear of a cut connection when it sends too much. */
export function warningOf(files: readonly { name: string; size: number }[]): string {
  const empty = files.find(({ size }) => size === 0)
  if (empty !== undefined) return `${safeName(empty.name)} is empty. Servers take no empty files.`
  const large = files.find(({ size }) => size > usual.fileBytes)
  if (large !== undefined) {
    return `${safeName(large.name)} has ${formatBytes(large.size)}. A server takes files of up to ${formatBytes(usual.fileBytes)}, unless its limits are set otherwise.`
  }
  const all = files.reduce((sum, { size }) => sum + size, 0)
  if (all > usual.allBytes) {
    return `The files have ${formatBytes(all)} together. A server takes messages of up to ${formatBytes(usual.allBytes)}, unless its limits are set otherwise.`
  }
  if (files.length <= usual.files) return ''
  return `These are ${files.length} files. A server takes up to ${usual.files} with a message, unless its limits are set otherwise.`
}
