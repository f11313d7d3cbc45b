import { describe, expect, it } from 'vitest'
import { chooseWords } from '../../../src/service/knowledge/fuzzy.ts'

const choose = (counts: Record<string, number>, total = 100_000) =>
  chooseWords(Object.keys(counts), (word) => counts[word] ?? 0, total)

describe('the words to search for', () => {
  it('are the telling ones, rarest first, as long as the index has little to read', () => {
    expect(choose({ the: 90_000, pool: 3_000, lease: 40, undici: 1_500 }).find).toEqual(['lease', 'undici', 'pool'])
    expect(choose({ pool: 3_000, lease: 40, undici: 1_500, size: 4_000 }).find).toEqual(['lease', 'undici', 'pool'])
  })

  it('are only the rarest if it alone finds enough and the next one is in very many chunks', () => {
    expect(choose({ pool: 15_000, undici: 1_500 }).find).toEqual(['undici'])
    expect(choose({ the: 90_000, undici: 1_500 }).find).toEqual(['undici'])
  })

  it('are two if the rarest one finds little, unless the next one tells nothing', () => {
    expect(choose({ pool: 15_000, lease: 40, size: 12_000 }).find).toEqual(['lease', 'size'])
    expect(choose({ lease: 40, and: 80_000 }).find).toEqual(['lease'])
    expect(choose({ lease: 4, and: 2_000 }, 5_000).find).toEqual(['lease', 'and'])
  })

  it('are common ones if there are no others', () => {
    expect(choose({ the: 90_000, and: 80_000 }).find).toEqual(['and'])
    expect(choose({ the: 9, and: 8 }, 10).find).toEqual(['and', 'the'])
  })

  it('are looked for under other spellings if no chunk has them', () => {
    expect(choose({ retenton: 0, abc: 0, rope: 3 })).toEqual({ find: ['rope'], fuzzy: ['retenton'] })
  })
})
