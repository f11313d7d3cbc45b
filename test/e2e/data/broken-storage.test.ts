import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createProject, launch, type Project, root, serve } from '../../support/program.ts'

const inOwnFolder = ({ folder }: Project) => [
  '--config',
  join(root, 'bench/agent.config.ts'),
  '--data',
  join(folder, 'data'),
]

test('ends with a failure and one clear line when its disk fails a write, and acknowledges nothing after', async () => {
  const project = await createProject()
  const config = inOwnFolder(project)
  // A file that may not grow is what a process can get instead of a broken disk: EFBIG, an I/O error to SQLite.
  const program = [process.execPath, join(root, 'bin/agentserve.js'), 'start', '--port', '0', '--json', ...config]
  const child = spawn('sh', ['-c', 'ulimit -f 1200; exec "$@"', 'sh', ...program], { cwd: project.folder })
  try {
    const finished = new Promise<number | null>((resolve) => child.once('close', resolve))
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const line = await new Promise<string>((resolve) => child.stdout.setEncoding('utf8').once('data', resolve))
    const { url } = JSON.parse(line) as { url: string }
    const statuses: (number | string)[] = []
    const create = () => fetch(`${url}/api/v1/sessions`, { method: 'POST' })
    while (statuses.at(-1) !== 'gone') {
      statuses.push(
        await create().then(
          (answer) => answer.status,
          () => 'gone',
        ),
      )
    }
    const failed = statuses.findIndex((status) => status !== 201)
    expect(failed).toBeGreaterThan(0)
    expect(statuses.slice(failed)).not.toContain(201)
    expect(await finished).toBe(1)
    expect(stderr.trim().split('\n').at(-1)).toMatch(/The session database .* failed/)
    expect(stderr).not.toMatch(/\n\s+at /)
    const again = await serve(project, 'start', config)
    const { count } = (await (await fetch(`${again.url}/api/v1/sessions?limit=100`)).json()) as { count: number }
    expect(count).toBe(Math.min(100, failed))
    await again.kill()
  } finally {
    child.kill('SIGKILL')
    await project.remove()
  }
})

test('can be stopped at any moment of its start', { timeout: 60_000 }, async () => {
  const project = await createProject()
  const args = ['start', '--port', '0', ...inOwnFolder(project)]
  try {
    for (const afterMs of [60, 120, 180, 240, 300, 360]) {
      const { child, finished } = launch(project, args)
      const timer = setTimeout(() => child.kill('SIGTERM'), afterMs)
      const { code, signal, stderr } = await finished
      clearTimeout(timer)
      // Before the program has begun to listen for signals, node ends by the signal itself.
      expect([afterMs, signal ?? code]).toEqual([afterMs, signal === null ? 0 : 'SIGTERM'])
      expect(stderr).not.toMatch(/\n\s+at /)
    }
    const again = await serve(project, 'start', args.slice(3))
    expect((await fetch(`${again.url}/health`)).status).toBe(200)
    await again.kill()
  } finally {
    await project.remove()
  }
})
