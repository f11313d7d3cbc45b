import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { command, createProject, type Project } from '../../support/program.ts'

const config = (answer: string) => `
import { agent, defineConfig } from 'agentserve'
import { scriptedModel } from 'agentserve/testing'

export default defineConfig({
  scorers: { short: ({ text }) => (text.length < 40 ? 1 : 0.25), says: { contains: ['nine', 'ten'] } },
  agents: { desk: agent({ model: scriptedModel(({ number }) => ${answer}) }) },
})
`
const file = 'test/hours.session.json'
const git = (...args: string[]) =>
  promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@localhost', ...args], { cwd: project.folder })
let project: Project

beforeAll(async () => {
  project = await createProject({ 'agent.config.ts': config(`'At nine.'`) })
  for (const args of [
    ['chat', 'desk', '--session', 'hours', '--message', 'When?'],
    ['sessions', 'save-test', 'hours'],
  ]) {
    const end = await command(project, args)
    expect(end, end.stderr).toMatchObject({ code: 0 })
  }
  await project.write('.gitignore', '.agentserve\n')
  await git('init', '--quiet')
  await git('add', '.')
  await git('commit', '--quiet', '--message', 'first')
})
afterAll(() => project?.remove())

const scores = (...args: string[]) => command(project, ['test', '--scores', ...args])

test('scores are of the answers of now, exit 1 unless all pass, and are kept', async () => {
  expect(await scores()).toMatchObject({
    code: 1,
    stdout: `FAILED  ${file} (1 turn)  score 0.75\n  turn 1: says 0.50: does not contain 'ten'\n`,
    stderr: '0 of 1 passed.\n',
  })
  await project.write('agent.config.ts', config(`'At nine, or at ten.'`))
  expect(await scores()).toMatchObject({ code: 0, stdout: `ok      ${file} (1 turn)  score 1.00 (+0.25)\n` })
})

test('a run is compared with that of a commit, as JSON too', async () => {
  const { stdout: head } = await git('rev-parse', 'HEAD')
  await git('commit', '--quiet', '--all', '--message', 'second')
  const end = await scores('--against', head.slice(0, 10), '--json')
  expect(end, end.stderr).toMatchObject({ code: 0 })
  expect(JSON.parse(end.stdout)).toMatchObject({
    file,
    passed: true,
    score: 1,
    score_by_scorer: { short: 1, says: 1 },
    before: { name: 'test/hours', passed: false, score: 0.75 },
  })
  expect(await scores('--against', 'f'.repeat(10))).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("No scores of commit 'ffffffffff' are kept here."),
  })
})

test('a test that passes some of the times is flaky', async () => {
  await project.write('agent.config.ts', config(`number === 2 ? 'No.' : 'At nine, or at ten.'`))
  const end = await scores('--times', '3')
  expect(end).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(`flaky   ${file} (1 turn, passed 2 of 3 times)`),
  })
})

test('recorded answers are scored without a model', async () => {
  await project.write('agent.config.ts', config(`{ throw new Error('asked') }`))
  expect(await scores('--recorded')).toMatchObject({ code: 1, stdout: expect.stringContaining('says 0.50') })
})

test.each([
  [['--scores', '--update'], '--update has nothing to update'],
  [['--recorded'], '--recorded needs --scores'],
  [['--against', 'abc'], '--against needs --scores'],
  [['--times', '11'], 'from 1 to 10'],
])('agentserve test %j is refused with the reason', async (args, problem) => {
  expect(await command(project, ['test', ...args])).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) })
})
