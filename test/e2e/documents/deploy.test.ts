import { once } from 'node:events'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { blocks } from '../../support/guides.ts'
import { createProject, launch, type Project, type Running } from '../../support/program.ts'

const ours = blocks.filter(({ place }) => place.startsWith('docs/deploy.md:'))
const recipe = ours.find(({ language }) => language === 'dockerfile')?.text ?? ''
const unit = ours.find(({ language }) => language === 'ini')?.text ?? ''
const program = /\/?(?:[\w/.]*\/)?node_modules\/\.bin\/agentserve$/

let project: Project
let running: Running | undefined
afterEach(async () => {
  running?.child.kill('SIGKILL')
  await running?.finished
  running = undefined
  await project.remove()
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

const words: [string, string[]][] = [
  ['container', JSON.parse(/^CMD (\[.*\])$/m.exec(recipe)?.[1] ?? '[]')],
  ['systemd service', (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? '').split(' ')],
]

test.each(words)(
  'the command of the %s starts a server that wants a key, and ends well at SIGTERM',
  async (_, command) => {
    const [bin = '', ...args] = command
    expect(bin).toMatch(program)
    const port = await freePort()
    const place = args.indexOf('--port') + 1
    expect(args[place]).toBe('8080')
    args[place] = String(port)
    project = await createProject()
    running = launch(project, args, {
      AGENTSERVE_API_KEYS: 'a-key-of-the-test',
      AGENTSERVE_DATA: `${project.folder}/data`,
    })
    const get = (path: string, headers = {}) =>
      fetch(`http://127.0.0.1:${port}${path}`, { headers }).then(
        ({ status }) => status,
        () => 0,
      )
    await expect.poll(() => get('/health/ready'), { timeout: 20_000 }).toBe(200)
    expect(await get('/api/v1/agents')).toBe(401)
    expect(await get('/api/v1/agents', { authorization: 'Bearer a-key-of-the-test' })).toBe(200)
    running.child.kill('SIGTERM')
    expect((await running.finished).code).toBe(0)
  },
)

test('the unit keeps its data where it may write, and gives runs the time to end', () => {
  const settings = new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]))
  expect(settings.get('Environment')).toBe(`AGENTSERVE_DATA=/var/lib/${settings.get('StateDirectory')}`)
  // Shutdown takes at most 20 s.
  expect(Number(settings.get('TimeoutStopSec'))).toBeGreaterThan(20)
  expect([...unit.matchAll(/^\[(\w+)\]$/gm)].map(([, name]) => name)).toEqual(['Unit', 'Service', 'Install'])
})
