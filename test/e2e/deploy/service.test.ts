import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { drainMs } from '../../../src/cli/dev/serve.ts'
import { resolveConfig } from '../../../src/config/resolve.ts'
import { configParts } from '../../../src/server.ts'
import {
  findProgram,
  knownVariables,
  milliseconds,
  parseUnit,
  readDeployed,
  variablesIn,
} from '../../support/deploy/files.ts'
import { findPort } from '../../support/postgres/port.ts'
import { createProject, launch } from '../../support/program.ts'

const text = readDeployed('agentserve.service')
const unit = parseUnit(text)
const service = (name: string) => unit.get('Service')?.get(name) ?? ''
const { server } = resolveConfig({ user: { agents: {} }, root: '/', purpose: 'program', parts: configParts })

test('the unit keeps its data where it may write, gives runs the time to end, and locks the rest', () => {
  expect([...unit.keys()]).toEqual(['Unit', 'Service', 'Install'])
  expect(service('Environment')).toContain(`AGENTSERVE_DATA=/var/lib/${service('StateDirectory')}`)
  expect(variablesIn(text).filter((name) => !knownVariables.has(name))).toEqual([])
  expect(milliseconds(service('TimeoutStopSec'))).toBeGreaterThan(drainMs + server.stopWithinMs + 5_000)
  expect(service('KillMode')).toBe('mixed')
  expect(Number(service('LimitNOFILE'))).toBeGreaterThan(server.limits.connections)
  for (const name of ['NoNewPrivileges', 'ProtectHome', 'PrivateTmp', 'PrivateDevices', 'RestrictNamespaces'])
    expect(service(name), name).toBe('true')
  expect(service('ProtectSystem')).toBe('strict')
  // V8 could not compile.
  expect(unit.get('Service')?.has('MemoryDenyWriteExecute')).toBe(false)
})

test('its command starts a server that wants a key, and ends well at SIGTERM', async () => {
  const [program = '', ...args] = service('ExecStart').split(' ')
  expect(program).toBe(`${service('WorkingDirectory')}/node_modules/.bin/agentserve`)
  const port = await findPort()
  const place = args.indexOf('--port') + 1
  expect(args[place]).toBe(String(server.address.port))
  args[place] = String(port)
  const project = await createProject()
  const running = launch(project, args, {
    AGENTSERVE_API_KEYS: 'a-key-of-the-test',
    AGENTSERVE_DATA: `${project.folder}/data`,
  })
  onTestFinished(async () => {
    running.child.kill('SIGKILL')
    await running.finished
    await project.remove()
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
})

const analyze = findProgram('systemd-analyze')
test.skipIf(analyze === undefined)('systemd finds nothing wrong with it, and little that it leaves open', async () => {
  const project = await createProject({
    'agentserve.service': text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`),
  })
  onTestFinished(() => project.remove())
  const file = `${project.folder}/agentserve.service`
  const run = (...args: string[]) => promisify(execFile)(String(analyze), args)
  expect(await run('verify', '--man=no', file)).toEqual({ stdout: '', stderr: '' })
  const { stdout } = await run('security', '--offline=yes', '--no-pager', file)
  expect(Number(/exposure level for \S+ ([\d.]+)/.exec(stdout)?.[1])).toBeLessThan(2)
})
