// Measures the chat in a terminal: `npm run build && node bench/chat.ts`; with --write, into docs/benchmarks.md.
import { availableParallelism, cpus } from 'node:os'
import { measureChat, measureTakeover } from '../test/support/chat-speed.ts'
import { measuredOn, writeInto } from './write-into.ts'

const times = 7
const { firstTextMs, lastTextMs } = await measureChat(times)
const { servesMs, toldMs } = await measureTakeover(times)
const table = [
  `${measuredOn(availableParallelism(), cpus()[0]?.model.trim() ?? 'unknown')} Medians of ${times}.`,
  '',
  '| ms | median | budget |',
  '| --- | --- | --- |',
  `| From the agent's first text to its being on the screen | ${firstTextMs} | ≤ 50 |`,
  `| From the end of a run of 5,000 fragments to the last of them on the screen | ${lastTextMs} | ≤ 200 |`,
  `| From kill -9 of the chat that serves a folder, with two others in an answer, until another one serves | ${servesMs} | ≤ 2,000 |`,
  `| From that kill until both say that their run was interrupted | ${toldMs} | |`,
].join('\n')
console.log(table)
if (process.argv.includes('--write')) await writeInto('measured in a chat', table)
