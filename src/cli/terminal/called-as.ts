import { existsSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { commandNames } from './command-names.ts'

export interface Call {
  script: string
  folder: string
  environment: Record<string, string | undefined>
  exists: (path: string) => boolean
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun'

const name = 'agentserve'
/** How each package manager runs the program in a project. */
export const callThrough: Record<PackageManager, string> = {
  npm: `npx ${name}`,
  pnpm: `pnpm exec ${name}`,
  yarn: `yarn ${name}`,
  bun: `bunx ${name}`,
}
const lockFiles: [file: string, manager: PackageManager][] = [
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
]
const inPackages = /[\\/]node_modules[\\/]/

/** A command of this program, ready to paste in the user's shell. */
export function hint(command: string): string {
  return `${program()} ${command}`
}

/** Replaces commands in the text so that they can be pasted. */
export function asCalled(text: string): string {
  const called = program()
  if (called === name) return text
  mention ??= new RegExp(
    `(?<![\\w./@-]|npx |exec |yarn |bunx )${name} (?=(?:--help|${commandNames.join('|')})\\b)`,
    'g',
  )
  return text.replace(mention, `${called} `)
}

/** How to run the program again: directly when it is on the path, else through the project's package manager. */
export function calledAs({ script, folder, environment, exists }: Call): string {
  if (!/^agentserve(?:\.js|\.cmd)?$/i.test(basename(script))) return name
  const manager = packageManager(environment)
  const isInstalled = inPackages.test(script)
  if (isInstalled && (manager !== undefined || isBelow(script, folder))) {
    return callThrough[manager ?? managerOf(folder, exists) ?? 'npm']
  }
  return manager === undefined || isOnPath(environment, exists) ? name : callThrough[manager]
}

export function packageManager(environment = process.env): PackageManager | undefined {
  return /^(npm|pnpm|yarn|bun)\//.exec(environment.npm_config_user_agent ?? '')?.[1] as PackageManager | undefined
}

let known: string | undefined
let mention: RegExp | undefined

function program(): string {
  const { argv, env: environment } = process
  known ??= calledAs({ script: argv[1] ?? '', folder: process.cwd(), environment, exists: existsSync })
  return known
}

/** Whether it is installed in a project that contains the folder. */
function isBelow(script: string, folder: string): boolean {
  for (let at = resolve(folder); ; at = dirname(at)) {
    if (script.startsWith(join(at, 'node_modules'))) return true
    if (at === dirname(at)) return false
  }
}

function managerOf(folder: string, exists: Call['exists']): PackageManager | undefined {
  for (let at = resolve(folder); ; at = dirname(at)) {
    const found = lockFiles.find(([file]) => exists(join(at, file)))
    if (found !== undefined || exists(join(at, 'package-lock.json'))) return found?.[1]
    if (at === dirname(at)) return undefined
  }
}

/** Ignores the folders that package managers add to the path. */
function isOnPath({ PATH = '' }: Call['environment'], exists: Call['exists']): boolean {
  const folders = PATH.split(delimiter).filter((folder) => folder !== '' && !inPackages.test(`${folder}/`))
  return folders.some((folder) => exists(join(folder, name)) || exists(join(folder, `${name}.cmd`)))
}
