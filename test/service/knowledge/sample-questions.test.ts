import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleQuestions } from '../../../src/core/knowledge/sample-questions.ts'
import { findQuotes } from '../../../src/models/quote.ts'
import { around } from '../../../src/runnables/agent/around.ts'
import type { OpenableKnowledge } from '../../../src/service/knowledge/knowledge.ts'
import { type KnowledgeFolder, knowledgeFolder } from '../../support/knowledge/folder.ts'

const root = join(import.meta.dirname, '..', '..', '..')
const templates = (await readdir(join(root, 'templates'))).filter((name) => name !== 'shared')

interface Asked {
  question: string
  source: string
  /** Lines of the section, from 1, both ends included. */
  from: number
  to: number
}

async function read(folder: string): Promise<{ source: string; content: string }[]> {
  const sources = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.md')).sort()
  return Promise.all(sources.map(async (source) => ({ source, content: await readFile(join(folder, source), 'utf8') })))
}

/** Every heading that has text below it, as the studio and the terminal turn it into a question. */
function askedOf({ source, content }: { source: string; content: string }): Asked[] {
  const lines = content.split('\n')
  let isCode = false
  const headings = lines.flatMap((line, at) => {
    if (/^\s*(?:```|~~~)/.test(line)) isCode = !isCode
    const [, marks = '', title = ''] = (!isCode && /^(#+) (.*)$/.exec(line)) || []
    return marks === '' ? [] : [{ level: marks.length, title, at }]
  })
  return headings.flatMap(({ level, title, at }, place) => {
    const next = headings.slice(place + 1).find((other) => other.level <= level)
    const to = next?.at ?? lines.length
    const text = lines.slice(at + 1, to).filter((line) => line.trim() !== '' && !line.startsWith('#'))
    const [question] = sampleQuestions([{ source, title: undefined, headings: [title] }])
    return question === undefined || text.length === 0 ? [] : [{ question, source, from: at + 1, to }]
  })
}

let place: KnowledgeFolder
let knowledge: OpenableKnowledge
beforeAll(async () => {
  place = await knowledgeFolder()
  knowledge = await place.open()
})
afterAll(() => place.remove())

/** The questions that are not answered with a quote from their section. */
async function unanswered(asked: readonly Asked[], collection: string): Promise<string[]> {
  const missed: string[] = []
  for (const { question, source, from, to } of asked) {
    const { results, trace } = await knowledge.search({ query: question, collection, limit: 6, trace: true })
    const { quotes } = await findQuotes(question, results, { fit: trace?.fit, widen: around(knowledge) })
    const isThere = quotes.some(({ hit, line = 0 }) => hit.source === source && line >= from && line <= to)
    if (!isThere) missed.push(question)
  }
  return missed
}

describe('the first questions of a new user, made of the headings of documents', () => {
  it.each(templates)('are answered with their section in a new project of %s', async (template) => {
    const files = await read(join(root, 'templates', template, 'docs'))
    await knowledge.ingestMany(files.map((file) => ({ ...file, name: file.source, collection: template })))
    const asked = files.flatMap(askedOf)
    expect(asked.length).toBeGreaterThan(0)
    expect(await unanswered(asked, template)).toEqual([])
  })

  it('are answered with their section in the documentation of agentserve', async () => {
    const files = await read(join(root, 'docs'))
    await knowledge.ingestMany(files.map((file) => ({ ...file, name: file.source, collection: 'own' })))
    const all = files.flatMap(askedOf)
    const isSingle = ({ question }: Asked) => all.filter((other) => other.question === question).length === 1
    const asked = all.filter(isSingle).filter((_, at, { length }) => at % Math.floor(length / 40) === 0)
    expect(asked.length).toBeGreaterThanOrEqual(40)
    const missed = await unanswered(asked, 'own')
    // Of headings such as `Session`, more than six sections have the words.
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(asked.length / 10)
  })
})
