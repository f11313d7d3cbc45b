import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** The user of Postgres' programs and files. Empty, which is the user of the tests, unless that is root. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? findAccount() : {}

/** Postgres refuses to run as root, and as a user that has no account. Nobody is the usual one. */
function findAccount() {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
    .map(([, , uid, gid]) => ({ uid: Number(uid), gid: Number(gid) }))
    .filter(({ uid, gid }) => uid > 0 && gid > 0)
  return accounts.find(({ uid }) => uid === 65_534) ?? accounts[0] ?? {}
}

/** Postgres' programs see nothing of the caller's environment, in which PGDATA or PGOPTIONS may be set. */
export const environment = { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' }

/** Rejects with what the program has said, except with its input. */
export function runProgram(path: string, parameters: readonly string[], user: typeof owner, input = ''): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(path, parameters, { ...user, cwd: '/', env: environment, stdio: 'pipe' })
    let said = ''
    const listen = (text: Buffer) => {
      said += text
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('error', reject)
    child.once('close', (code) => {
      // In single-user mode a failed statement does not fail the program.
      if (code === 0 && !/\b(?:ERROR|FATAL|PANIC):/.test(said)) resolve()
      else reject(new Error(`${path} ended with ${code}: ${said.slice(-2_000)}`))
    })
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}
