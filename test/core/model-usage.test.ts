import { describe, expect, it } from 'vitest'
import { addModelUsage, type ModelUsage } from '../../src/core/run.ts'

const usage = (input_tokens: number, output_tokens: number) => ({
  input_tokens,
  output_tokens,
  total_tokens: input_tokens + output_tokens,
})

describe('addModelUsage', () => {
  it('sums by model and keeps the input of the largest call', () => {
    let sums: ModelUsage[] = []
    for (const [model, input] of [
      ['a', 5],
      ['b', 1],
      ['a', 9],
      ['a', 2],
    ] as const) {
      sums = addModelUsage(sums, model, usage(input, 1))
    }
    expect(sums).toEqual([
      { model: 'a', ...usage(16, 3), largest_input_tokens: 9 },
      { model: 'b', ...usage(1, 1), largest_input_tokens: 1 },
    ])
  })

  it('adds the sum of a child run with the largest of its calls', () => {
    const child = addModelUsage(addModelUsage([], 'a', usage(7, 1)), 'a', usage(6, 1))
    const sums = child.reduce(
      (all: ModelUsage[], sum) => addModelUsage(all, sum.model, sum),
      addModelUsage([], 'a', usage(3, 1)),
    )
    expect(sums).toEqual([{ model: 'a', ...usage(16, 3), largest_input_tokens: 7 }])
  })
})
