import type { Environment } from './settings.ts'

/** Whether the trace of a run is exported. `parent`: what the caller decided, where the request named its trace. */
export type Sampler = (traceId: string, parent: { isSampled: boolean } | undefined) => boolean

const roots: Readonly<Record<string, (ratio: number) => (traceId: string) => boolean>> = {
  always_on: () => () => true,
  always_off: () => () => false,
  // The end of an id is as good as random.
  traceidratio: (ratio) => (traceId) => Number.parseInt(traceId.slice(-12), 16) < ratio * 2 ** 48,
}

/** The sampler of the standard variables; undefined for a name that they don't have. */
export function samplerOf({
  OTEL_TRACES_SAMPLER: name = 'parentbased_always_on',
  OTEL_TRACES_SAMPLER_ARG: argument = '1',
}: Environment): Sampler | undefined {
  const [, isParentBased, root = ''] = /^(parentbased_)?(.*)$/.exec(name.trim()) ?? []
  const ratio = Number(argument)
  const decide = Object.hasOwn(roots, root) ? roots[root] : undefined
  if (decide === undefined) return undefined
  const decided = decide(Number.isFinite(ratio) && ratio >= 0 && ratio <= 1 ? ratio : 1)
  return (traceId, parent) =>
    parent !== undefined && isParentBased !== undefined ? parent.isSampled : decided(traceId)
}
