import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { within } from '../runtime/abort.ts'
import { ConfigError } from './config-error.ts'
import { excerptOf } from './excerpt.ts'

const disposeMs = 5_000

/** The error for a config that never finishes loading, with its imports and, if there is only one, the waiting line. */
export function describeUnsettled(
  file: string,
  imported: readonly string[],
  waitedMs: number,
  files: string[],
): ConfigError {
  const waits = [...new Set([file, ...imported])].flatMap((path) => waitingLines(path).map((line) => ({ path, line })))
  const [only] = waits.length === 1 ? waits : []
  const others = imported.filter((path) => path !== file).map(name)
  const rest =
    others.length === 0
      ? ''
      : `, or in what it imports (${others.slice(0, 5).join(', ')}${others.length > 5 ? ', …' : ''})`
  return new ConfigError(
    `${name(file)}: has not finished loading after ${waitedMs / 1000} s. An await at the top level of the file${rest} does not end: give what it waits for a time limit, or wait for it in an agent or a tool.`,
    {
      file: only?.path ?? file,
      line: only?.line,
      excerpt: only === undefined ? undefined : excerptOf(only.path, only.line),
      files,
    },
  )
}

/** Calls the config's `dispose` and waits at most five seconds for it. */
export async function disposeWithin(dispose: (() => unknown) | undefined, file: string | undefined): Promise<void> {
  if (dispose === undefined) return
  await within(() => dispose(), {
    ms: disposeMs,
    late: () =>
      new ConfigError(
        `${file === undefined ? 'config' : name(file)}: dispose() has not ended after ${disposeMs / 1000} s and is left alone.`,
        { file },
      ),
  })
}

/** Lines with a top-level `await`, recognised by their missing indentation. */
function waitingLines(file: string): number[] {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    return lines.flatMap((line, at) => (/^(?:[^\s/*]|\S.*[^\w.])?\bawait\b/.test(line) ? [at + 1] : []))
  } catch {
    return []
  }
}

function name(file: string): string {
  return relative(process.cwd(), file) || file
}
