import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'

/*
 * What `npm test` does before its tests. None of it needs another: the judges wait for a registry, the build keeps one processor
 * busy. Each prints when it has ended, as a whole; when one has failed, so has this.
 */

const steps = ['judges', 'build', 'lint', 'types']

async function run(step: string): Promise<boolean> {
  const begun = performance.now()
  // One stream for both outputs, so that the lines keep their order.
  const child = spawn(`npm run --silent ${step} 2>&1`, { shell: true, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [code, said] = await Promise.all([ended, text(child.stdout)])
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  console.log(`${code === 0 ? '✓' : '✗'} ${step}, ${seconds} s\n${said}`)
  return code === 0
}

const done = await Promise.all(steps.map(run))
if (done.includes(false)) process.exitCode = 1
