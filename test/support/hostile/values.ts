import fc from 'fast-check'

const circle: Record<string, unknown> = {}
circle.self = circle
const list: unknown[] = []
list.push(list)
let deep: unknown = 'end'
for (let level = 0; level < 5_000; level++) deep = level % 2 === 0 ? [deep] : { deep }
const ownCause = new Error('its own cause')
ownCause.cause = ownCause
const large = 'x'.repeat(10 * 1024 * 1024)

/** Made anew each time, since whoever gets one may change it. */
const odd: (() => unknown)[] = [
  () => undefined,
  () => null,
  () => Number.NaN,
  () => Number.POSITIVE_INFINITY,
  () => -0,
  () => true,
  () => 7n,
  () => Symbol('odd'),
  () => () => 'a function',
  () => '',
  () => '\0',
  () => `before\0after`,
  () => '\ud800',
  () => 'a\udc00b',
  () => '\u2028</script>\u001b[31m',
  () => circle,
  () => list,
  () => deep,
  () => ownCause,
  () => new Date(Number.NaN),
  () => new Map([[1, 2n]]),
  () => new Uint8Array(3),
  () => Object.create(null),
  () => ({ toJSON: () => undefined }),
  () => ({ toJSON: () => 5n }),
  () => JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}'),
  () => ({
    get text(): string {
      throw new Error('not to be read')
    },
  }),
  () =>
    new Proxy(
      {},
      {
        has: () => {
          throw new Error('not to be asked')
        },
        get: () => {
          throw new Error('not to be read')
        },
        ownKeys: () => {
          throw new Error('not to be listed')
        },
      },
    ),
]

/** Makes one. The library that draws them would trip over the values themselves. */
export type Made = () => unknown

const made = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<Made> => arbitrary.map((value) => () => value)

/** What types keep out, and what nobody thinks of; seldom megabytes. */
export const hostileValue: fc.Arbitrary<Made> = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom(...odd) },
  { weight: 3, arbitrary: made(fc.jsonValue()) },
  { weight: 2, arbitrary: made(fc.string({ unit: 'binary' })) },
  { weight: 2, arbitrary: fc.constantFrom(...odd).map((make) => () => ({ inside: [make()] })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Made>(
      () => large,
      () => ({ large }),
    ),
  },
)

const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
const events: Record<string, unknown>[] = [
  { type: 'text_delta', text: 'text' },
  { type: 'reasoning_delta', text: 'text' },
  { type: 'data', data: {} },
  { type: 'data_delta', data: {} },
  { type: 'model_call_start', call_id: 'c', model: 'm', messages: [], tools: [], settings: {} },
  { type: 'model_call_end', call_id: 'c', usage, finish_reason: 'stop', duration_ms: 1 },
  { type: 'retrieval', query: 'q', results: [{ chunk_id: 'c', source: 's', score: 1 }] },
  { type: 'source', index: 1, source: 's', document_id: 'd', chunk_id: 'c' },
  { type: 'tool_call', call_id: 'c', name: 'n', input: {} },
  { type: 'tool_result', call_id: 'c', name: 'n', output: 'o', duration_ms: 1 },
  { type: 'input_required', call_id: 'c', prompt: 'p', data: {} },
  { type: 'step_start', step_id: 's', name: 'n' },
  { type: 'step_end', step_id: 's', status: 'completed', usage, duration_ms: 1 },
]

/** An event of a run with something wrong in it, or no event at all. */
export const hostileEmission: fc.Arbitrary<Made> = fc.oneof(
  { weight: 1, arbitrary: hostileValue },
  {
    weight: 5,
    arbitrary: fc.constantFrom(...events).chain((event) =>
      fc.tuple(fc.constantFrom(...Object.keys(event), 'seq', 'run_id'), hostileValue).map(([key, make]) => () => ({
        ...event,
        [key]: make(),
      })),
    ),
  },
)
