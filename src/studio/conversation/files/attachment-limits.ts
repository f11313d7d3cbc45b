import { formatBytes } from '../../../core/text/format.ts'
import { safeName } from '../../parts/format.ts'

/** What servers take unless they are configured otherwise (`limits.fileSize`, `limits.run.files`, `maxRequestSize`). */
const usual = { fileBytes: 8 * 1024 * 1024, allBytes: 10 * 1024 * 1024, files: 10 }

/** The server decides; a browser may only hear of a cut connection when it sends too much. */
export function warningOf(files: readonly { name: string; size: number }[]): string {
  const empty = files.find(({ size }) => size === 0)
  if (empty !== undefined) return `${safeName(empty.name)} is empty. Servers take no empty files.`
  const all = files.reduce((sum, { size }) => sum + size, 0)
  const isUsual =
    files.length <= usual.files && all <= usual.allBytes && files.every(({ size }) => size <= usual.fileBytes)
  return isUsual
    ? ''
    : `By default a server takes ${usual.files} files of ${formatBytes(usual.fileBytes)}, and ${formatBytes(usual.allBytes)} together.`
}
