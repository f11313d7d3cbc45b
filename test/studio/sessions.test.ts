import { effect } from '@preact/signals'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { at, headOf, playSessions, settled } from '../support/studio/played-sessions.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

async function played(count: number, filter = {}) {
  const play = playSessions(count)
  play.list.show(filter)
  await settled()
  return play
}

/** As when somebody scrolls down to the end. */
async function readAll({ list, look }: Awaited<ReturnType<typeof played>>): Promise<void> {
  for (let first = 40; !list.isWhole; first += 50) await look(first)
}

describe('pages', () => {
  test('only those in view are asked for, and the next shortly before it is reached', async () => {
    const { list, asked, look, shown } = await played(200)
    expect([list.total.value, list.length, shown(48, 52)]).toEqual([200, 100, ['ses_151', 'ses_150', '–', '–']])
    await look(0)
    await look(15)
    expect(asked).toHaveLength(1)
    await look(20)
    expect([asked.length, list.length, shown(49, 52)]).toEqual([2, 150, ['ses_150', 'ses_149', 'ses_148']])
  })

  test('every session is reached, few are kept, and what was forgotten is read again by its cursor', async () => {
    const play = await played(3000)
    const { list, asked, look, shown } = play
    await readAll(play)
    expect([asked.length, list.length, list.isWhole]).toEqual([60, 3000, true])
    expect(list.rows.value.length).toBe(1000)
    expect([shown(2999, 3000), shown(0, 1)]).toEqual([['ses_0'], ['–']])
    await look(520)
    expect(shown(500, 510)).toEqual(Array.from({ length: 10 }, (_, place) => `ses_${2499 - place}`))
    expect(asked.slice(60).map(({ cursor }) => cursor)).toEqual([at(2500)])
    expect(list.rows.value.length).toBe(1000)
  })

  test('the page of the row that has the focus is kept', async () => {
    const play = await played(3000)
    for (let first = 40; !play.list.isWhole; first += 50) await play.look(first, 'ses_2999')
    expect(play.list.placeOf('ses_2999')).toBe(0)
    expect(play.list.rows.value.length).toBe(1000)
  })

  test('a page that is scrolled past is not read to its end', async () => {
    const play = await played(3000)
    await readAll(play)
    play.hold()
    for (const first of [0, 120, 220, 320]) await play.look(first)
    const before = play.shown(120, 130)
    await play.release()
    expect([before, play.shown(120, 130), play.shown(320, 322)]).toEqual([
      Array(10).fill('–'),
      Array(10).fill('–'),
      ['ses_2679', 'ses_2678'],
    ])
  })

  test('one that has more than before, since sessions were imported, becomes two', async () => {
    const play = await played(3000)
    await readAll(play)
    for (let n = 0; n < 30; n++)
      play.stored.set(`imported_${n}`, headOf(n, { session_id: `imported_${n}`, updated_at: at(2490 + n / 100) }))
    await play.look(505)
    await play.look(545)
    const rows = play.shown(500, 580)
    expect(new Set(rows).size).toBe(80)
    expect(rows.filter((id) => id.startsWith('imported_'))).toHaveLength(30)
  })

  test('a failure is told, leaves what is there, and is tried again when asked', async () => {
    const play = await played(200)
    play.fail(new Error('no way'))
    await play.look(45)
    await play.look(46)
    expect([play.list.state.value, play.list.error.value, play.asked.length]).toEqual(['failed', 'no way', 2])
    expect(play.shown(45, 46)).toEqual(['ses_154'])
    play.fail(undefined)
    play.list.again()
    await settled()
    expect([play.list.state.value, play.shown(60, 61)]).toEqual(['ready', ['ses_139']])
  })
})

describe('changes', () => {
  test('go to the top, each where its time belongs', async () => {
    const { change, shown, list } = await played(60)
    change(headOf(3, { updated_at: at(101) }), headOf(9, { updated_at: at(100) }))
    change(headOf(61, { updated_at: at(102) }))
    expect(shown(0, 4)).toEqual(['ses_61', 'ses_3', 'ses_9', 'ses_59'])
    expect(list.total.value).toBe(60)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(list.total.value).toBe(61)
  })

  test('a list that is whole counts a new one at once, once, and loses it when the filter does', async () => {
    const play = await played(0, { status: 'running' })
    expect([play.list.total.value, play.list.isWhole]).toEqual([0, true])
    const one = headOf(1, { status: 'running', updated_at: at(1) })
    play.change(one)
    expect([play.list.total.value, play.shown(0, 1)]).toEqual([1, ['ses_1']])
    play.change({ ...one, updated_at: at(2) }, headOf(2, { status: 'running', updated_at: at(3) }), headOf(3))
    expect(play.list.total.value).toBe(2)
    await vi.advanceTimersByTimeAsync(1_000)
    expect(play.list.total.value).toBe(2)
    play.change({ ...one, status: 'completed', updated_at: at(4) })
    expect(play.list.total.value).toBe(1)
  })

  test('wait above a list that is scrolled, whose rows stay; at its top they come', async () => {
    const play = await played(200)
    await play.look(30)
    const before = play.shown(0, 100)
    for (let turn = 0; turn < 3; turn++) play.change(headOf(150, { status: 'running', updated_at: at(300 + turn) }))
    play.change(headOf(400), headOf(401))
    expect([play.shown(0, 100), play.list.newer.value]).toEqual([before, 3])
    expect(play.list.rows.value.find(({ session_id }) => session_id === 'ses_150')?.status).toBe('running')
    await play.look(0)
    expect([play.shown(0, 4), play.list.newer.value]).toEqual([['ses_401', 'ses_400', 'ses_150', 'ses_199'], 0])
    expect(play.list.placeOf('ses_150')).toBe(2)
  })

  test('of 1,000 rows tell only the row that changed', async () => {
    const play = await played(1000)
    await readAll(play)
    await play.look(500)
    let orders = 0
    let draws = 0
    effect(() => {
      play.list.order.value
      orders++
    })
    for (let place = 0; place < play.list.length; place++) {
      effect(() => {
        play.list.at(place)?.head.value
        draws++
      })
    }
    const [ordersBefore, drawsBefore] = [orders, draws]
    for (let n = 0; n < 10; n++) play.change(headOf(n * 90, { updated_at: at(2000 + n), run_count: 2 }))
    expect([orders - ordersBefore, draws - drawsBefore]).toEqual([0, 10])
  })

  test('a session that goes elsewhere goes here, also one that is not listed yet', async () => {
    const play = await played(200)
    play.remove('ses_198', 'ses_3')
    expect([play.shown(0, 3), play.list.total.value]).toEqual([['ses_199', 'ses_197', 'ses_196'], 199])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(play.list.total.value).toBe(198)
    await readAll(play)
    expect([play.list.length, play.list.placeOf('ses_3')]).toEqual([198, -1])
  })

  test('an older answer brings nothing back, and no row twice', async () => {
    const play = await played(100)
    play.hold()
    play.list.looksAt({ first: 35, last: 45, isAtTop: true })
    await settled()
    play.change(headOf(20, { updated_at: at(500) }))
    play.remove('ses_21')
    await play.release()
    const all = play.shown(0, play.list.length)
    expect(all).toHaveLength(99)
    expect(new Set(all).size).toBe(99)
    expect([all[0], all.includes('ses_21')]).toEqual(['ses_20', false])
  })

  test('what changes while the first page is read is in it', async () => {
    const play = playSessions(60)
    play.hold()
    play.list.show({})
    await settled()
    play.change(headOf(5, { updated_at: at(100) }), headOf(70))
    play.remove('ses_59')
    await play.release()
    expect(play.shown(0, 4)).toEqual(['ses_5', 'ses_70', 'ses_58', 'ses_57'])
  })

  test('when some were missed, what is looked at is read again, and what is newer waits', async () => {
    const play = await played(300)
    await play.look(45)
    await play.look(90)
    play.stored.delete('ses_205')
    play.stored.set('ses_500', headOf(500))
    play.list.read()
    await settled()
    expect(play.shown(92, 96)).toEqual(['ses_207', 'ses_206', 'ses_204', 'ses_203'])
    expect([play.list.newer.value, play.list.total.value, play.list.at(10)]).toEqual([1, 300, undefined])
  })
})

describe('a filter', () => {
  test('takes only what matches, and lets go what no longer does', async () => {
    const play = playSessions(60)
    for (let n = 0; n < 5; n++) play.stored.set(`ses_${n}`, headOf(n, { status: 'failed' }))
    play.list.show({ status: 'failed' })
    await settled()
    expect(play.shown(0, 5)).toEqual(['ses_4', 'ses_3', 'ses_2', 'ses_1', 'ses_0'])
    play.change(headOf(3, { updated_at: at(100) }), headOf(30, { status: 'failed', updated_at: at(101) }), headOf(31))
    expect([play.shown(0, 5), play.list.length]).toEqual([['ses_30', 'ses_4', 'ses_2', 'ses_1', 'ses_0'], 5])
    await vi.advanceTimersByTimeAsync(1_000)
    expect(play.list.total.value).toBe(5)
  })

  test('of an agent has what the server says, since a head does not name all owners', async () => {
    const play = await played(60, { agent: 'docs' })
    play.change(headOf(70, { entity_id: 'other' }), headOf(71))
    expect(play.shown(0, 1)).toEqual(['ses_59'])
    await vi.advanceTimersByTimeAsync(1_000)
    expect([play.shown(0, 2), play.list.total.value]).toEqual([['ses_71', 'ses_59'], 61])
  })

  test('that changes leaves nothing of the one before, also of an answer that is late', async () => {
    const play = await played(200)
    play.hold()
    await play.look(45)
    play.list.show({ status: 'failed' })
    expect([play.list.state.value, play.list.length, play.list.total.value]).toEqual(['loading', 0, undefined])
    await play.release()
    expect([play.list.state.value, play.list.length, play.list.total.value]).toEqual(['ready', 0, 0])
  })

  test('of a day begins with its end; what changes now leaves the list', async () => {
    const play = await played(60)
    const day = 24 * 3600
    for (let n = 0; n < 5; n++) play.stored.set(`ses_${n}`, headOf(n, { updated_at: at((n + 1) * day + day / 2) }))
    play.list.show({ before: '2026-01-04' })
    await settled()
    expect([play.shown(0, 3), play.list.total.value]).toEqual([['ses_2', 'ses_1', 'ses_0'], 58])
    play.change(headOf(1, { updated_at: at(30 * day) }))
    expect([play.shown(0, 2), play.list.total.value, play.list.newer.value]).toEqual([['ses_2', 'ses_0'], 57, 0])
  })
})
