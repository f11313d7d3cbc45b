/**
 * The program of the parsing process, as text, so that no bundler has to find the file. A watchdog thread limits time
 * and memory, because a runaway parser blocks the main thread: SIGTERM stands for elapsed time, SIGVTALRM for processor
 * time (SIGTERM where that signal is missing), SIGKILL for memory. No other thread can be started: it could ask for
 * permissions that the process lacks.
 */
export const childProgram = `
import { syncBuiltinESMExports } from 'node:module'
import threads, { Worker } from 'node:worker_threads'
const [memoryBytes, timeoutMs] = process.argv.slice(1).map(Number)
const deadline = new Float64Array(new SharedArrayBuffer(16))
const now = 'Number(process.hrtime.bigint() / 1000000n)'
new Worker(\`
  import { workerData } from 'node:worker_threads'
  const { deadline, memoryBytes, parent } = workerData
  setInterval(() => {
    if (process.memoryUsage.rss() > memoryBytes || process.ppid !== parent) process.kill(process.pid, 'SIGKILL')
    if (deadline[0] === 0) return
    if (\${now} > deadline[0]) process.kill(process.pid, 'SIGTERM')
    const { user, system } = process.cpuUsage()
    if ((user + system) / 1000 > deadline[1]) process.kill(process.pid, process.platform === 'win32' ? 'SIGTERM' : 'SIGVTALRM')
  }, 50)
\`, { eval: true, workerData: { deadline, memoryBytes, parent: process.ppid } }).unref()
threads.Worker = undefined
syncBuiltinESMExports()
process.on('disconnect', () => process.exit(0))
process.on('message', async ({ url, work, cpuMs }) => {
  const { user, system } = process.cpuUsage()
  deadline[1] = (user + system) / 1000 + cpuMs
  deadline[0] = Number(process.hrtime.bigint() / 1000000n) + timeoutMs
  let reply
  try {
    const { parser } = await import(url)
    reply = { found: await parser.parse(work) }
  } catch (error) {
    const message = String(error?.message ?? error)
    reply = error?.name === 'Unreadable' ? { reason: message } : { reason: 'it is damaged (' + message.slice(0, 200) + ')' }
  }
  deadline[0] = 0
  process.send({ ...reply, worn: process.memoryUsage.rss() > memoryBytes / 2 })
})
`
