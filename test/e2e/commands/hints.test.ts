import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bin, command, createProject, launch, type Project } from '../../support/program.ts'

let project: Project

beforeAll(async () => {
  const config = `import { agent, defineConfig } from 'agentserve'
export default defineConfig({ agents: { say: agent({ sideEffects: false, run: () => ['hi'] }) } })`
  project = await createProject({ 'agent.config.ts': config })
  await mkdir(join(project.folder, 'node_modules/.bin'))
  await symlink(bin, join(project.folder, 'node_modules/.bin/agentserve'))
})
afterAll(() => project.remove())

test.each([
  ['npm/11.0.0 node/v24.0.0', 'npx agentserve'],
  ['pnpm/10.0.0 npm/? node/v24.0.0', 'pnpm exec agentserve'],
  ['', 'npx agentserve'],
])('every hint can be pasted where %j has installed it', async (agent, called) => {
  const installed = { ...project, bin: join(project.folder, 'node_modules/.bin/agentserve') }
  const run = async (...args: string[]) => {
    const { stdout, stderr } = await command(installed, args, '', { npm_config_user_agent: agent })
    return stdout + stderr
  }
  const said = [
    await run('chat', 'nobody', '-m', 'x'),
    await run('sessions', 'show', 'nobody'),
    await run('runs', 'show'),
    await run('agents', 'show'),
    await run('search', 'x'),
    await run('knowledge', 'list'),
    await run('doctor'),
    await run('chat', '--nonsense'),
    await run('help', 'chat'),
    await run('test'),
  ]
  const dev = launch(installed, ['dev', '--port', '0'], { npm_config_user_agent: agent })
  await expect.poll(() => dev.stderr(), { timeout: 20_000 }).toContain('Try it:')
  dev.child.kill('SIGTERM')
  said.push((await dev.finished).stderr)
  for (const text of said.slice(0, 6)) expect(text).toContain(`${called} `)
  expect(said[8]).toContain(`$ ${called} chat docs\n`)
  expect(said.at(-1)).toContain(`Try it: ${called} chat say`)
  const commands =
    /(?<!npx |exec |Usage: )agentserve (?:--help|agents|chat|runs|sessions|ingest|knowledge|test|doctor)\b/
  for (const text of said) expect(text).not.toMatch(commands)
})

test('hints are plain for a program on the path', async () => {
  const { stderr } = await command(project, ['chat', 'nobody', '-m', 'x'])
  expect(stderr).toContain('`agentserve agents` lists the agents.')
})

test('init says the commands of the package manager that started it', async () => {
  const steps = async (agent: string, folder: string) =>
    (await command(project, ['init', folder], '', { npm_config_user_agent: agent })).stderr
  expect(await steps('pnpm/10.0.0 npm/?', 'a')).toMatch(
    /pnpm install\n +pnpm test\n +pnpm dev\n +pnpm exec agentserve /,
  )
  expect(await steps('', 'b')).toMatch(/npm install\n +npm test\n +npm run dev\n +npx agentserve /)
})
