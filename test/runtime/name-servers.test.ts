import { pbkdf2 } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { nameServers } from '../../src/runtime/name-servers.ts'

/* A real name server, which answers what the tests need and is silent about the rest. */

let socket: Socket
let asked = 0
const A = 1
const AAAA = 28

beforeEach(async () => {
  asked = 0
  socket = createSocket('udp4').on('message', (query, from) => {
    asked++
    const answer = answerTo(query)
    if (answer !== undefined) socket.send(answer, from.port, from.address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
})
afterEach(() => new Promise<void>((resolve) => socket.close(() => resolve())))

function answerTo(query: Buffer): Buffer | undefined {
  const labels: string[] = []
  let at = 12
  while (query[at] !== 0) {
    const length = query[at] ?? 0
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  const type = query.readUInt16BE(at + 1)
  const question = query.subarray(12, at + 5)
  const [name] = labels
  if (name === 'silent') return undefined
  const isKnown = name === 'both' || (name === 'four' && type === A)
  const data = type === A ? Buffer.from([93, 184, 216, 34]) : Buffer.from('20010db8000000000000000000000001', 'hex')
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(name === 'none' ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(isKnown ? 1 : 0, 6)
  header.fill(0, 8)
  if (!isKnown) return Buffer.concat([header, question])
  const record = Buffer.from([0xc0, 12, 0, type === AAAA ? AAAA : A, 0, 1, 0, 0, 0, 0, 0, data.length])
  return Buffer.concat([header, question, record, data])
}

const look = (name: string) => nameServers([`127.0.0.1:${socket.address().port}`]).lookup(name, { all: true })

it('finds the addresses of both families, and of one when there is no other', async () => {
  const four = { address: '93.184.216.34', family: 4 }
  expect(await look('both.test')).toEqual([four, { address: '2001:db8::1', family: 6 }])
  expect(await look('four.test')).toEqual([four])
})

it('fails for a name that is not there', async () => {
  await expect(look('none.test')).rejects.toMatchObject({ code: 'ENOTFOUND' })
})

it('holds up nothing else while name servers are silent', async () => {
  const waiting = Array.from({ length: 40 }, (_, n) => look(`silent.${n}.test`).catch(() => 'failed'))
  await expect.poll(() => asked).toBeGreaterThanOrEqual(40)
  const first = await Promise.race([...waiting, promisify(pbkdf2)('a', 'b', 1, 8, 'sha256').then(() => 'worked')])
  expect(first).toBe('worked')
})
