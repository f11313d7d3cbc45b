import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/program.ts'

const text = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8')
const source = join(root, 'src')

/** The folders that have sources of their own, below `src/`. */
const folders = [
  ...new Set(
    readdirSync(source, { recursive: true, withFileTypes: true })
      .filter((entry) => /\.tsx?$/.test(entry.name) && entry.parentPath !== source)
      .map((entry) => relative(source, entry.parentPath).split(sep).join('/')),
  ),
]

/** The table of rooms: the row of each, by its name. */
const rows = new Map(
  [...text.matchAll(/^\| `([\w-]+)(?:\.ts)?`(.*)$/gm)].map(([, room = '', row = '']) => [room, row] as const),
)

test('ARCHITECTURE.md names every folder of src in the row of its room', () => {
  const missing = folders.filter((folder) => {
    const [room = '', ...path] = folder.split('/')
    const row = rows.get(room)
    if (row === undefined) return true
    const names = new Set([...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name))
    if (path.length === 0 || names.has(path.join('/'))) return false
    // Or by its last name, in the brackets behind the folder that it is in.
    return !(names.has(path.slice(0, -1).join('/')) && names.has(path.at(-1)))
  })
  expect(missing).toEqual([])
})

test('ARCHITECTURE.md can be read in one go', () => {
  expect(text.trimEnd().split('\n').length).toBeLessThan(150)
})
