import { registerHooks } from 'node:module'
import { newestOf } from '../../../src/store/sessions/postgres/schema/applied.ts'
import { steps } from '../../../src/store/sessions/postgres/schema/steps.ts'

/*
 * Preloaded into an instance with `--import`, it makes the program a version that has more steps of the tables: `expand`
 * adds one that older versions go on beside, `contract` another one after that, beside which they can't.
 */

const newestStep = newestOf(steps)
const more = [
  `{ step: ${newestStep + 1}, kind: 'expand', sql: 'ALTER TABLE run ADD COLUMN later text; CREATE TABLE later (name text)' }`,
  `{ step: ${newestStep + 2}, kind: 'contract', sql: 'ALTER TABLE run DROP COLUMN later; DROP TABLE later' }`,
]
const wanted = process.env.NEWER_VERSION === 'contract' ? more : more.slice(0, 1)
const beginning = 'const steps = [\n'
const end = '\n];'

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!/\/dist\/[^/]+\.js$/.test(url) || loaded.source == null) return loaded
    const text = typeof loaded.source === 'string' ? loaded.source : Buffer.from(loaded.source as Uint8Array).toString()
    const from = text.indexOf(beginning)
    if (from === -1 || !text.includes('CREATE TABLE instance (')) return loaded
    const to = text.indexOf(end, from)
    return { ...loaded, source: `${text.slice(0, to)},\n${wanted.join(',\n')}${text.slice(to)}` }
  },
})
