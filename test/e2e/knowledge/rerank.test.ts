import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { crossEncoder, type RerankerOptions } from '../../../src/knowledge/rerankers/cross-encoder.ts'
import { knowledgeFolder } from '../../support/knowledge/folder.ts'
import { tinyCrossEncoderName, writeTinyCrossEncoder } from '../../support/knowledge/tiny-cross-encoder.ts'
import { command, createProject, type Project, serve } from '../../support/program.ts'

async function childrenOf(pid: number): Promise<number[]> {
  const pids = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return pids.split(' ').filter(Boolean).map(Number)
}

describe('a cross-encoder', () => {
  let cacheFolder: string
  const closers: (() => Promise<unknown>)[] = []
  beforeEach(async () => {
    cacheFolder = await mkdtemp(join(tmpdir(), 'models-'))
  })
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
    await rm(cacheFolder, { recursive: true, force: true })
  })
  const open = (more: Partial<RerankerOptions> = {}) => {
    const options = { model: tinyCrossEncoderName, candidates: 20, timeoutMs: 60_000, cacheFolder, ...more }
    const reranker = crossEncoder(options)
    closers.push(() => reranker.close())
    return reranker
  }
  const never = new AbortController().signal
  const share = (logit: number) => 1 / (1 + Math.exp(-logit))

  it('scores each text by the query, in batches, with scores from 0 to 1', async () => {
    await writeTinyCrossEncoder(cacheFolder)
    const reranker = open()
    expect(await reranker.problem()).toBeUndefined()
    const texts = ['a gull', 'The tide in the harbour', 'storm', 'tide tide', ...Array<string>(9).fill('harbour')]
    const scores = await reranker.score('harbour tide', texts, never)
    const expected = [0, 2, 0, 1, ...Array<number>(9).fill(1)].map(share)
    for (const [at, score] of expected.entries()) expect(scores[at]).toBeCloseTo(score, 5)
    expect(await reranker.score('gull', ['gull', 'x'.repeat(50_000)], never)).toEqual([share(1), share(0)])
    expect(await reranker.score('gull', [], never)).toEqual([])
  })

  it('takes a folder, and the second of two labels', async () => {
    await writeTinyCrossEncoder(cacheFolder, 2)
    const reranker = open({ model: `./${tinyCrossEncoderName}`, root: cacheFolder, cacheFolder: '/nowhere' })
    expect(await reranker.score('gull', ['gull', 'tide'], never)).toEqual([0.5, 0.5])
  })

  it('says what is missing, or what is wrong with its model', async () => {
    expect(await open().problem()).toBe(`the model ${tinyCrossEncoderName} is not in ${cacheFolder}`)
    expect(await open({ model: 'a/b/c' }).problem()).toBe("'a/b/c' is neither a model name (owner/name) nor a folder")
    await expect(open().score('gull', ['gull'], never)).rejects.toMatchObject({
      code: 'unavailable',
      message: `The reranker can't be used: the model ${tinyCrossEncoderName} is not in ${cacheFolder}.`,
    })
    await writeTinyCrossEncoder(cacheFolder, 3)
    expect(await open({ dtype: 'q8' }).problem()).toBe(
      `the model ${tinyCrossEncoderName} (q8) is not in ${cacheFolder}`,
    )
    await expect(open().score('gull', ['gull'], never)).rejects.toThrow('is no cross-encoder: it gave 3 numbers')
    await writeFile(join(cacheFolder, tinyCrossEncoderName, 'onnx/model.onnx'), 'half a file')
    expect(await open().problem()).toBeUndefined()
    await expect(open().score('gull', ['gull'], never)).rejects.toThrow('The reranking model could not be run: ')
  })

  it('is not tried again at once after a failure, and then works when its model is there', async () => {
    const patient = open()
    const eager = open({ pauseMs: 0 })
    for (const one of [patient, eager]) await expect(one.score('gull', ['gull'], never)).rejects.toThrow('is not in')
    await writeTinyCrossEncoder(cacheFolder)
    await expect(patient.score('gull', ['gull'], never)).rejects.toThrow('is not in')
    expect(await eager.score('gull', ['gull'], never)).toEqual([share(1)])
  })

  it.runIf(process.platform === 'linux')(
    'goes on in a new process when its own is killed, with nothing left behind',
    async () => {
      await writeTinyCrossEncoder(cacheFolder)
      const reranker = open({ pauseMs: 0 })
      expect(await reranker.score('gull', ['gull'], never)).toEqual([share(1)])
      const [first, ...others] = await childrenOf(process.pid)
      expect(others).toEqual([])
      process.kill(first ?? 0, 'SIGKILL')
      await expect.poll(() => childrenOf(process.pid)).toEqual([])
      expect(await reranker.score('gull', ['tide', 'gull'], never)).toEqual([share(0), share(1)])
      const [second] = await childrenOf(process.pid)
      const interrupted = reranker.score('gull', Array<string>(400).fill('gull tide'), never)
      interrupted.catch(() => {})
      process.kill(second ?? 0, 'SIGKILL')
      await expect(interrupted).rejects.toMatchObject({ code: 'unavailable' })
      expect(await reranker.score('gull', ['gull'], never)).toEqual([share(1)])
      await reranker.close()
      await expect.poll(() => childrenOf(process.pid)).toEqual([])
    },
  )

  it('leaves out what nobody waits for any more, and nothing runs after it is closed', async () => {
    await writeTinyCrossEncoder(cacheFolder)
    const reranker = open()
    const stop = new AbortController()
    const first = reranker.score('gull', ['gull'], never)
    const left = reranker.score('gull', ['gull'], stop.signal)
    stop.abort(new Error('gone'))
    await expect(left).rejects.toThrow('gone')
    expect(await first).toEqual([share(1)])
    await reranker.close()
    await expect(reranker.score('gull', ['gull'], never)).rejects.toThrow('The knowledge base is closing.')
  })

  it('orders the results of a hybrid search, which shows the places before and after', async () => {
    await writeTinyCrossEncoder(cacheFolder)
    const place = await knowledgeFolder()
    closers.push(() => place.remove())
    const rerank = { model: join(cacheFolder, tinyCrossEncoderName), candidates: 20, timeoutMs: 60_000 }
    const knowledge = await place.open({ rerank, vectorDb: { type: 'memory' } })
    await knowledge.ingest({ content: 'storm '.repeat(20), source: 'much.txt' })
    await knowledge.ingest({
      content: 'One storm, seen from an anchor by a gull, years ago and far away.',
      source: 'all.txt',
    })
    const query = { query: 'storm gull anchor', explain: true, trace: true }
    const { results, trace } = await knowledge.search(query)
    expect(results.map(({ source }) => source)).toEqual(['all.txt', 'much.txt'])
    expect(results[0]?.score).toBeCloseTo(share(3), 5)
    expect(results[0]?.explain?.lists).toMatchObject({ fused: { rank: expect.any(Number) }, rerank: { rank: 1 } })
    expect(trace?.rerank).toEqual({ model: rerank.model, candidates: 2, duration_ms: expect.any(Number) })
    const byWords = await knowledge.search({ ...query, mode: 'keyword' })
    expect(byWords.trace).not.toHaveProperty('rerank')
  })
})

describe('knowledge.rerank', () => {
  const config = (model: string) => `
import { agent, defineConfig } from 'agentserve'
export default defineConfig({
  knowledge: { rerank: { model: '${model}', timeout: '60s' } },
  agents: { docs: agent({ knowledge: true }) },
})
`
  const docs = {
    'docs/much.md': 'storm '.repeat(20),
    'docs/all.md': 'One storm, seen from an anchor by a gull, years ago and far away.\n',
  }
  const explain = ['knowledge', 'explain', 'storm gull anchor']

  const closers: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close()
  })
  const ingested = async (model: string) => {
    const project = await createProject({ 'agent.config.ts': config(model), ...docs })
    closers.push(() => project.remove())
    await writeTinyCrossEncoder(join(project.folder, 'models'))
    expect((await command(project, ['ingest', 'docs'])).code).toBe(0)
    return project
  }
  const started = async (project: Project) => {
    const server = await serve(project)
    closers.push(() => server.stop())
    return server
  }

  it('orders what explain, search and agents find, and the run shows it', async () => {
    const project = await ingested(`./models/${tinyCrossEncoderName}`)
    const { stdout } = await command(project, explain)
    expect(stdout).toMatch(/^ {2}reranked {2}2 passages by \.\/models\/tiny\/shared-words in \d/m)
    expect(stdout).toMatch(/^ +# +RANK +SCORE +KEYWORD .*FUSED +RERANK +WHERE$/m)
    expect(stdout).toMatch(/^ +\[1\] +1 +0\.953 .* 1 \(0\.95\) +docs\/all\.md/m)
    const config = await command(project, ['knowledge', 'config'])
    expect(config.stdout).toMatch(/reranker +\.\/models\/tiny\/shared-words \(the best \d+ results, 60 s at most\)/)
    const doctor = await command(project, ['doctor'])
    expect(doctor.stdout).toMatch(/reranker +\.\/models\/tiny\/shared-words orders the best \d+ results/)
    const { url } = await started(project)
    const body = JSON.stringify({ input: 'storm gull anchor' })
    const headers = { 'content-type': 'application/json' }
    const asked = await fetch(`${url}/api/v1/agents/docs/run`, { method: 'POST', headers, body })
    const { run_id } = (await asked.json()) as { run_id: string }
    const trace = await (await fetch(`${url}/api/v1/runs/${run_id}/trace`)).json()
    expect(trace).toMatchObject({
      calls: [{ retrievals: [{ rerank: { candidates: 2 }, passages: [{ lists: { rerank: { rank: 1 } } }, {}] }] }],
    })
  })

  it('is done without while the model is missing, and the start and each search say so', async () => {
    const project = await ingested('tiny/none')
    const { stdout, code } = await command(project, explain)
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^ {2}reranked {2}no: The reranker can't be used: the model tiny\/none is not in .*models\.$/m,
    )
    expect(stdout).toContain('2 of 2 passages')
    const config = await command(project, ['knowledge', 'config', '--json'])
    expect(JSON.parse(config.stdout).rerank).toMatchObject({
      model: 'tiny/none',
      problem: expect.stringContaining('is not in'),
    })
    const doctor = await command(project, ['doctor'])
    expect(doctor.stdout).toContain('searches go on without a reranker: the model tiny/none is not in')
    const server = await started(project)
    expect(server.stdout() + server.stderr()).toContain(
      'search results are not reranked: the model tiny/none is not in',
    )
  })
})
