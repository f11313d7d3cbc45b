import { existsSync, readFileSync } from 'node:fs'
import { basename, relative } from 'node:path'
import { ConfigError } from '../config-error.ts'
import { excerptOf } from '../excerpt.ts'
import { type CodePosition, positionInStack, toPath } from './stack-place.ts'
import { findSyntaxError } from './syntax-error.ts'

/** An error of a config's import as a ConfigError with the place in the user's code and what to do. */
export async function describeLoadError(
  error: unknown,
  file: string,
  files: ReadonlySet<string>,
): Promise<ConfigError> {
  if (error instanceof ConfigError) return error
  const place = (await findPlace(error, files)) ?? { file, line: undefined, column: undefined }
  const name = relative(process.cwd(), place.file) || place.file
  const where = place.line === undefined ? name : `${name}:${place.line}`
  return new ConfigError(`${where}: ${explain(error)}`, {
    file: place.file,
    line: place.line,
    excerpt: place.line === undefined ? undefined : excerptOf(place.file, place.line, place.column),
    files: [...files],
    cause: error,
  })
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return `threw ${String(error)}`
  const missing = missingImport(error)
  if (missing !== undefined) return missing.advice
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
    return `${error.message}. Node removes types and compiles nothing: write a const object for an enum, plain fields for parameter properties, modules for namespaces.`
  }
  if (/does not provide an export named/.test(error.message)) {
    return `${error.message}. If that is a type, write \`import type\`: Node removes types, and what is left must exist.`
  }
  if (/^(?:Cannot use import statement outside a module|Unexpected token 'export')$/.test(error.message)) {
    return `${error.message}: package.json says "type": "commonjs", which is what \`npm init\` writes. Write "type": "module" there.`
  }
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION') return `${error.message}. Node runs .ts, .mts, .cts and JavaScript.`
  return error.message
}

async function findPlace(error: unknown, files: ReadonlySet<string>): Promise<CodePosition | undefined> {
  if (!(error instanceof Error)) return undefined
  const missing = missingImport(error)
  if (missing !== undefined) return { file: missing.importer, line: lineOf(missing.importer, missing.words) ?? 1 }
  const unknown = /^Unknown file extension ".+" for (.+)$/.exec(error.message)?.[1]
  if (unknown !== undefined) return importOf(basename(unknown), files)
  const stack = error.stack ?? ''
  const head = /^(\S+):(\d+)\n/.exec(stack)
  if (head !== null) return { file: toPath(head[1] ?? ''), line: Number(head[2]) }
  const thrown = positionInStack(error, (file) => files.has(file))
  return thrown ?? (error instanceof SyntaxError ? await findSyntaxError(files) : undefined)
}

interface MissingImport {
  importer: string
  words: string
  advice: string
}

function missingImport(error: Error): MissingImport | undefined {
  const match = /^(?:Cannot find (module|package)|(Directory) import) '(.+?)' .*imported from (.+)$/s.exec(
    error.message,
  )
  if (match === null) return undefined
  const [, kind, directory, target = '', importer = ''] = match
  const words = basename(target)
  const place = { importer: toPath(importer), words }
  if (kind === 'package') {
    if (/^(?:@|~|\$lib)\//.test(target)) {
      const advice = `Node knows no paths of tsconfig.json: write '${target}' as a path, or as '#…' under \`imports\` of package.json.`
      return { ...place, advice }
    }
    return { ...place, advice: `The package '${target}' is not installed here: npm install ${target}` }
  }
  const path = toPath(target)
  if (directory !== undefined) {
    return { ...place, advice: `A folder can't be imported; name its file: '…/${words}/index.ts'.` }
  }
  const found = ['.ts', '.mts', '.js', '.mjs'].find((extension) => existsSync(path + extension))
  if (found !== undefined) {
    return { ...place, advice: `An import names its file whole: write '…/${words}${found}' instead of '…/${words}'.` }
  }
  const source = path.replace(/\.([mc]?)js$/, '.$1ts')
  if (source !== path && existsSync(source)) {
    return {
      ...place,
      advice: `There is no '${words}'; Node runs TypeScript as it stands: write '…/${basename(source)}'.`,
    }
  }
  return { ...place, advice: `There is no file '${relative(process.cwd(), path) || path}'.` }
}

/** The position of such an import in one of these files. */
function importOf(words: string, files: Iterable<string>): CodePosition | undefined {
  for (const file of files) {
    const line = lineOf(file, words)
    if (line !== undefined) return { file, line }
  }
  return undefined
}

function lineOf(file: string, words: string): number | undefined {
  try {
    const lines = readFileSync(file, 'utf8').split('\n')
    const index = lines.findIndex((line) => line.includes(`${words}'`) || line.includes(`${words}"`))
    return index < 0 ? undefined : index + 1
  } catch {
    return undefined
  }
}
