import { isModelObject, type ModelObject } from '../core/model.ts'
import { mayFallBack, NoFragment } from './failure.ts'

type Model = Extract<ModelObject, { specificationVersion: 'v4' }>
type Params = Parameters<Model['doStream']>[0]
type Streamed = Awaited<ReturnType<Model['doStream']>>
type StreamPart = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never
type SupportedUrls = Awaited<Model['supportedUrls']>

export interface Candidate {
  name: string
  open(): Promise<ModelObject>
}

/** Why a model was given up for the next one. */
export interface Fallback {
  from: string
  to: string
  error: unknown
}

export interface FallbackOptions {
  /** How long a model may take to its first fragment. Default: 60 s but at most its share of `withinMs`; for the last one no limit. */
  firstFragmentMs?: number | undefined
  /** The time limit in which all of them have to answer. */
  withinMs?: number | undefined
  /** Awaited before the next model is called. */
  onFallback(fallback: Fallback): void | Promise<void>
}

const defaultFirstFragmentMs = 60_000

/** What a stream may begin with before the model has said anything. */
const beforeFragments: ReadonlySet<string> = new Set([
  'stream-start',
  'response-metadata',
  'text-start',
  'reasoning-start',
])

/**
 * One model made of several: each call goes to the first; when that refuses for its load (429), fails (5xx), can't be
 * reached, or says nothing in time, it goes to the next. Once a fragment of an answer has been passed on, nothing
 * falls back. An aborted call falls back to nothing.
 */
export async function fallbackModel(
  candidates: readonly [Candidate, ...Candidate[]],
  options: FallbackOptions,
): Promise<ModelObject> {
  const { provider, modelId } = (await candidates[0].open()) as Model
  const { withinMs = Infinity } = options
  const shareMs = Math.min(defaultFirstFragmentMs, Math.floor(withinMs / candidates.length))
  async function attempt<RESULT>(
    params: Params,
    call: (model: Model, params: Params, limitMs?: number) => Promise<RESULT>,
  ) {
    for (const [place, { name, open }] of candidates.entries()) {
      const next = candidates[place + 1]
      const leaving = new AbortController()
      const abortSignal = AbortSignal.any([leaving.signal, ...(params.abortSignal ? [params.abortSignal] : [])])
      const limitMs = options.firstFragmentMs ?? (next === undefined ? undefined : shareMs)
      try {
        return await call((await open()) as Model, { ...params, abortSignal }, limitMs)
      } catch (error) {
        leaving.abort()
        if (next === undefined || params.abortSignal?.aborted === true || !mayFallBack(error)) throw error
        await options.onFallback({ from: name, to: next.name, error })
      }
    }
    throw new Error('a fallback needs a model')
  }
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    supportedUrls: sharedUrls(candidates),
    doGenerate: (params) => attempt(params, async (model, given) => model.doGenerate(given)),
    doStream: (params) => attempt(params, begun),
  } satisfies Model
}

/** Resolves once the model has said something. Rejects with what a fallback may be for. */
async function begun(model: Model, params: Params, limitMs: number | undefined): Promise<Streamed> {
  const tooLong = Promise.withResolvers<never>()
  tooLong.promise.catch(() => {})
  const timer =
    limitMs === undefined
      ? undefined
      : setTimeout(() => tooLong.reject(new NoFragment(`it said nothing for ${limitMs / 1_000} s`)), limitMs)
  const streaming = model.doStream(params)
  let reader: ReadableStreamDefaultReader<StreamPart> | undefined
  try {
    const result = await Promise.race([streaming, tooLong.promise])
    reader = result.stream.getReader()
    const held: StreamPart[] = []
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), tooLong.promise])
      if (done) throw new NoFragment('it ended before it said anything')
      if (value.type === 'error') throw new NoFragment('it failed before it said anything', value.error)
      if (value.type === 'finish' && value.finishReason.unified === 'error')
        throw new NoFragment('it ended with an error before it said anything')
      held.push(value)
      if (isFragment(value)) return { ...result, stream: resumed(held, reader) }
    }
  } catch (error) {
    // Nobody reads on: a stream that comes too late, too, is let go.
    const leave = async () => (reader === undefined ? (await streaming).stream.cancel(error) : reader.cancel(error))
    leave().catch(() => {})
    throw error
  } finally {
    clearTimeout(timer)
  }
}

function isFragment(part: StreamPart): boolean {
  if (part.type === 'text-delta' || part.type === 'reasoning-delta') return part.delta !== ''
  return !beforeFragments.has(part.type)
}

function resumed(held: StreamPart[], reader: ReadableStreamDefaultReader<StreamPart>): ReadableStream<StreamPart> {
  return new ReadableStream<StreamPart>(
    {
      async pull(controller) {
        const first = held.shift()
        if (first !== undefined) return controller.enqueue(first)
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The addresses of files that every model fetches itself. One that can't be opened has no say. */
async function sharedUrls(candidates: readonly Candidate[]): Promise<SupportedUrls> {
  const opened = await Promise.allSettled(
    candidates.map(async ({ open }) => {
      const model = await open()
      return isModelObject(model) && 'supportedUrls' in model ? await model.supportedUrls : {}
    }),
  )
  const [first = {}, ...others] = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  return Object.fromEntries(
    Object.entries(first).map(([mediaType, patterns]) => [
      mediaType,
      patterns.filter(({ source }) => others.every((one) => one[mediaType]?.some((other) => other.source === source))),
    ]),
  )
}
