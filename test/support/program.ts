import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
export const bin = join(root, 'bin/agentserve.js')

/** A project of its own in a temporary folder, in which `agentserve` can be imported. */
export interface Project {
  folder: string
  /** The program that its commands run, when it is not this repository's. */
  bin?: string
  write(path: string, text: string): Promise<void>
  read(path: string): Promise<string>
  copy(from: string, to: string): Promise<void>
  remove(): Promise<void>
}

export async function createProject(files: Record<string, string> = {}): Promise<Project> {
  const folder = await mkdtemp(join(tmpdir(), 'agentserve-'))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/agentserve'), 'dir')
  for (const name of ['zod', 'ai'])
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name), 'dir')
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }\n')
  const project: Project = {
    folder,
    async write(path, text) {
      await mkdir(join(folder, path, '..'), { recursive: true })
      await writeFile(join(folder, path), text)
    },
    read: (path) => readFile(join(folder, path), 'utf8'),
    copy: (from, to) => cp(from, join(folder, to), { recursive: true }),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
  for (const [path, text] of Object.entries(files)) await project.write(path, text)
  return project
}

export interface Finished {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

// Neither the caller's terminal settings nor keys of its environment reach the program.
export function environment(extra: Record<string, string>): Record<string, string> {
  const { PATH = '', HOME = '', TMPDIR } = process.env
  return { PATH, HOME, ...(TMPDIR === undefined ? {} : { TMPDIR }), ...extra }
}

export interface Running {
  child: ChildProcess
  stdout(): string
  stderr(): string
  finished: Promise<Finished>
}

/** Starts `agentserve` with these arguments. */
export function launch(project: Project, args: string[], env: Record<string, string> = {}): Running {
  const child = spawn(process.execPath, [project.bin ?? bin, ...args], {
    cwd: project.folder,
    env: environment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  return follow(child)
}

/** Keeps what it prints, in texts. */
export function follow(child: ChildProcess): Running {
  let stdout = ''
  let stderr = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const finished = new Promise<Finished>((done, fail) => {
    child.once('error', fail)
    child.once('close', (code, signal) => done({ code, signal, stdout, stderr }))
  })
  return { child, stdout: () => stdout, stderr: () => stderr, finished }
}

/** Runs a command to its end. */
export async function command(
  project: Project,
  args: string[],
  input = '',
  env: Record<string, string> = {},
): Promise<Finished> {
  const running = launch(project, args, env)
  running.child.stdin?.on('error', () => {})
  running.child.stdin?.end(input)
  return running.finished
}

export interface RunningServer extends Running {
  url: string
  /** SIGTERM, and its end. */
  stop(): Promise<Finished>
  /** SIGKILL, and its end. */
  kill(): Promise<Finished>
}

/** Starts `dev` or `start` on a free port and waits until it serves. */
export async function serve(
  project: Project,
  name: 'dev' | 'start' = 'dev',
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<RunningServer> {
  const running = launch(project, [name, '--port', '0', '--json', ...args], env)
  const url = await new Promise<string>((found, fail) => {
    running.finished.then((end) => fail(new Error(`it ended (${end.code}): ${end.stdout}${end.stderr}`)), fail)
    running.child.stdout?.on('data', () => {
      const line = running
        .stdout()
        .split('\n')
        .find((text) => text.includes('"url"'))
      if (line !== undefined) found((JSON.parse(line) as { url: string }).url)
    })
  })
  const end = (signal: NodeJS.Signals) => () => {
    running.child.kill(signal)
    return running.finished
  }
  return { ...running, url, stop: end('SIGTERM'), kill: end('SIGKILL') }
}
