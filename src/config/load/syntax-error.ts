import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'

/** The position of a syntax error, in the file saved last first. V8 prints it only on the terminal of a process. */
export async function findSyntaxError(files: Iterable<string>): Promise<{ file: string; line: number } | undefined> {
  const savedAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  for (const file of [...files].sort((a, b) => savedAt(b) - savedAt(a))) {
    const line = await checkSyntax(file)
    if (line !== undefined) return { file, line }
  }
  return undefined
}

async function checkSyntax(file: string): Promise<number | undefined> {
  if (!/\.[mc]?[jt]s$/.test(file)) return undefined
  const text = file.endsWith('ts') ? await strip(file) : readFileSync(file, 'utf8')
  const type = /\.c[jt]s$/.test(file) ? 'commonjs' : 'module'
  const { stderr } = await runNode(['--check', `--input-type=${type}`, '-'], text)
  const place = /^\[stdin\]:(\d+)/m.exec(stderr)
  return place === null ? undefined : Number(place[1])
}

/** The file without its types, lines unchanged. In a child, because Node warns about this once per process. */
async function strip(file: string): Promise<string> {
  const code = `process.stdout.write(require('node:module').stripTypeScriptTypes(require('node:fs').readFileSync(0, 'utf8')))`
  return (await runNode(['--input-type=commonjs', '--eval', code], readFileSync(file, 'utf8'))).stdout
}

function runNode(args: string[], input: string): Promise<{ stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const options = { timeout: 5_000, env: { ...process.env, NODE_OPTIONS: '' }, maxBuffer: 16 * 1024 * 1024 }
    const child = execFile(process.execPath, args, options, (_error, stdout, stderr) => resolve({ stdout, stderr }))
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
}
