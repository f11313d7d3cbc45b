import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'

const folder = import.meta.dirname
const sources = new Map(
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !relative(folder, path).includes('node_modules'))
    .map((path) => [relative(folder, path), readFileSync(path, 'utf8')] as const),
)

/** Files that let time pass, and why nothing else will do. */
const sleepers: Record<string, string> = {
  'e2e/runs/crash.test.ts': 'the server is killed at random moments',
  'e2e/sessions/commands.test.ts': 'the server is killed at several moments of an import',
  'judges/agents.config.ts': 'a program of its own, which looks whether a file is there',
  'fixtures/mcp-server.ts': 'a program of its own, which looks whether a file is there',
  'support/takeover.ts': 'bench/chat.ts polls with it, outside of vitest',
  'support/mixed-load.ts': 'background runs are only accepted, so they would pile up without a pace',
}

// Agents that are written in a test to be run by a program are text: their lines are not looked at.
const withoutText = (source: string) => source.replace(/`[^`]*`|"[^"\n]*"/g, '')
const sleep =
  /import \{[^}]*\bsetTimeout\b[^}]*\} from 'node:timers\/promises'|new Promise(?:<\w+>)?\(\(?(\w+)\)? => (?:void )?setTimeout\(\1\b/
const sleeps = (source: string) => sleep.test(withoutText(source))

describe('tests', () => {
  test('wait for what happens and do not sleep: poll, or move a clock', () => {
    const found = [...sources].flatMap(([path, source]) => (sleeps(source) ? [path] : []))
    expect(found.sort()).toEqual(Object.keys(sleepers).sort())
  })

  test('own what they read from a program while it may end: await it, or use owned', () => {
    const read = /^ *const \w+ = (?:fetch|ask|collect|readFrames|client\.agents\.run)\((?!.*\.(?:catch|then)\().*$/gm
    const found = [...sources].flatMap(([path, source]) =>
      path.startsWith('e2e') ? [...source.matchAll(read)].map(([line]) => `${path}: ${line.trim()}`) : [],
    )
    expect(found).toEqual([])
  })

  test('say the seed of their random numbers: use seededRandom or testSeed', () => {
    const found = [...sources].flatMap(([path, source]) =>
      /Math\.random\(|Date\.now\(\) %/.test(source) ? [path] : [],
    )
    expect(found).toEqual(['support/seeded-random.ts'])
  })

  test('of random moments are not run twice in CI, which would hide what goes wrong rarely: retry is 0', () => {
    const found = [...sources].flatMap(([path, source]) =>
      /^(?:e2e|browser)\b/.test(path) && /support\/seeded-random/.test(source) && !/\bretry: 0\b/.test(source)
        ? [path]
        : [],
    )
    expect(found).toEqual([])
  })

  test('have names of at most 100 characters', () => {
    const name = /^\s*(?:test|it)(?:\.\w+)*\((['"])(.{101,}?)\1,/gm
    expect([...sources.values()].flatMap((source) => [...source.matchAll(name)].map(([, , text]) => text))).toEqual([])
  })

  test('that start programs are in e2e or browser, where three run at once', () => {
    const starts =
      /from '(?:node:child_process|@lydell\/node-pty)'|\{[^}]*\b(?:command|launch|serve)\b[^}]*\} from '[./]*support\/program/
    const found = [...sources].flatMap(([path, source]) => (starts.test(source) ? [path] : []))
    expect(found.filter((path) => path.endsWith('.test.ts') && !/^(?:e2e|browser)\//.test(path))).toEqual([])
  })
})
