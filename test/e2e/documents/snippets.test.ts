import { execFile } from 'node:child_process'
import { readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { copilotKitTypes } from '../../support/copilotkit.ts'
import { blocks } from '../../support/guides.ts'
import { linkJudges, linkOwn, pagePackages } from '../../support/judge-packages.ts'
import { createProject, root } from '../../support/program.ts'

const run = promisify(execFile)
const snippets = blocks.filter(({ language }) => language === 'ts')

test('every TypeScript of the documents type-checks as strictly as a new project', async () => {
  const project = await createProject()
  await project.copy(join(root, 'templates/shared/tsconfig.json'), 'project.json')
  await project.write('tsconfig.json', '{ "extends": "./project.json", "include": ["README", "docs"] }')
  for (const name of ['@types', 'undici-types', '@ai-sdk'])
    await symlink(join(root, 'node_modules', name), join(project.folder, 'node_modules', name), 'dir')
  await linkJudges(project.folder, ['openai', '@modelcontextprotocol/client', '@ag-ui/client'])
  await project.write('docs/copilotkit.d.ts', copilotKitTypes.ts)
  const homes = new Set<string>()
  for (const [index, { place, text }] of snippets.entries()) {
    const home = place.replace(/\.md:.*/, '')
    // A test is beside the folder of the configuration that it tests: the first of its page.
    const name = homes.has(home) ? `test/${index}.ts` : 'agent.config.ts'
    if (text.includes('export default defineConfig')) homes.add(home)
    await project.write(`${home}/${name}`, `// ${place}\n${text}`)
  }
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const checked = run(process.execPath, [tsc, '--noEmit'], { cwd: project.folder }).catch((error) => error)
  expect((await checked).stdout).toBe('')
  await project.remove()
}, 120_000)

test('every page of the documents type-checks as strictly as in a new project with a page', async () => {
  const project = await createProject()
  await project.copy(join(root, 'templates/chat-ui/tsconfig.json'), 'project.json')
  await project.write('tsconfig.json', '{ "extends": "./project.json", "include": ["docs"] }')
  await linkJudges(project.folder, pagePackages)
  await linkOwn(project.folder, ['@types/node', 'undici-types'])
  await project.write('docs/copilotkit.d.ts', copilotKitTypes.tsx)
  for (const [index, { place, text }] of blocks.filter(({ language }) => language === 'tsx').entries())
    await project.write(`docs/${index}.tsx`, `// ${place}\n${text}`)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const checked = run(process.execPath, [tsc, '--noEmit'], { cwd: project.folder }).catch((error) => error)
  expect((await checked).stdout).toBe('')
  await project.remove()
}, 120_000)

test('no block is of a language that nothing tests', () => {
  expect([...new Set(blocks.map(({ language }) => language))].sort()).toEqual([
    'dockerfile',
    'json',
    'sh',
    'text',
    'ts',
    'tsx',
    'yaml',
  ])
  const texts = blocks.filter(({ language }) => language === 'text')
  const follows = (place: string) => blocks[blocks.findIndex((block) => block.place === place) - 1]
  // They show the stream of the command before them, or what a command of this guide prints: understand-a-run.test.ts compares it.
  const isCompared = ({ place }: { place: string }) =>
    follows(place)?.text.startsWith('curl -N ') === true ||
    (place.startsWith('docs/understand-a-run.md:') && follows(place)?.language === 'sh')
  expect(texts.filter((text) => !isCompared(text))).toEqual([])
})

test('recipes of containers have the settings of memory that the program gives itself', async () => {
  const program = await readFile(join(root, 'bin/agentserve.js'), 'utf8')
  const own = [...program.matchAll(/(MALLOC_\w+): '(\d+)'/g)].map(([, name, value]) => `${name}=${value}`)
  const recipes = blocks.filter(({ language }) => language === 'dockerfile')
  expect(recipes).toHaveLength(1)
  for (const { text } of recipes) expect(text.match(/MALLOC_\w+=\d+/g)?.sort()).toEqual(own.sort())
})
