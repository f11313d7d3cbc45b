import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from '../program.ts'

/** A file that users copy, as it is. */
export const readDeployed = (name: string) => readFileSync(join(root, 'docs/deploy', name), 'utf8')

/** The path of a program of this machine, or undefined. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

export interface Instruction {
  name: string
  args: string
}

/** The instructions of a Dockerfile, each on one line, without comments. */
export function parseDockerfile(text: string): Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .replaceAll(/\\\n\s*/g, ' ')
    .split('\n')
    .filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, name, args] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === undefined || args === undefined) throw new Error(`This is no instruction: ${line}`)
    return { name, args }
  })
}

/** The settings of a unit by section. One that is there twice throws. */
export function parseUnit(text: string): Map<string, Map<string, string>> {
  const sections = new Map<string, Map<string, string>>()
  let section: Map<string, string> | undefined
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue
    const [, title] = /^\[(\w+)\]$/.exec(line) ?? []
    if (title !== undefined) {
      section = new Map()
      sections.set(title, section)
      continue
    }
    const [, name = '', value = ''] = /^(\w+)=(.*)$/.exec(line) ?? []
    if (section === undefined || name === '' || section.has(name)) throw new Error(`This is no setting: ${line}`)
    section.set(name, value)
  }
  return sections
}

/** The variables that the program reads, as docs/configuration.md lists them. */
export const knownVariables = new Set(
  [...readFileSync(join(root, 'docs/configuration.md'), 'utf8').matchAll(/^\| `(AGENTSERVE_\w+)` \|/gm)].map(
    ([, name]) => name,
  ),
)

/** Those of `AGENTSERVE_…` that a text names. */
export const variablesIn = (text: string) => [...new Set(text.match(/AGENTSERVE_[A-Z_]*[A-Z]/g) ?? [])]

/** A time as the configuration has it. */
export function milliseconds(time: string): number {
  const [, number, unit = 's'] = /^(\d+)(ms|s|m|min)?$/.exec(time) ?? []
  const of: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, min: 60_000 }
  return Number(number) * (of[unit] ?? Number.NaN)
}
