import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ChatScreen } from '../../../src/cli/chat/screen.ts'
import { showEvent } from '../../../src/cli/runs/activity.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A screen that takes so long to draw, and how often it was drawn. */
function screenThatDraws(milliseconds: () => number) {
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const screen = new ChatScreen()
  const draw = vi.fn(() => {
    now += milliseconds()
  })
  screen.subscribe(draw)
  return { screen, draw }
}

test.each([
  ['50 ms apart where drawing is quick', 2, 50],
  ['so far apart that drawing takes a quarter of the time where it is slow', 60, 240],
  ['half a second apart at most', 9000, 500],
])('takes up text %s', async (_, drawMs, apart) => {
  const { screen, draw } = screenThatDraws(() => drawMs)
  void screen.text('one ')
  await vi.advanceTimersByTimeAsync(0)
  expect(draw, 'the first at once').toHaveBeenCalledTimes(1)
  void screen.text('two ')
  void screen.text('three')
  await vi.advanceTimersByTimeAsync(apart - 1)
  expect(draw).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(1)
  expect(draw).toHaveBeenCalledTimes(2)
  expect(screen.get().open).toBe('one two three')
  screen.close()
})

test('shows what is not text at once, behind the text before it', async () => {
  const { screen, draw } = screenThatDraws(() => 1000)
  void screen.text('answer')
  screen.say('note', 'done')
  expect(draw).toHaveBeenCalled()
  expect(screen.get().entries.map(({ kind, text }) => [kind, text])).toEqual([
    ['markdown', 'answer'],
    ['note', 'done'],
  ])
  screen.close()
})

test('shows the newest progress of a tool beside its call, cleaned, until the call ends', () => {
  const screen = new ChatScreen()
  screen.startWork('c', 'report {}')
  for (const output of ['half', 'most\u001b[31m']) {
    const event = { type: 'tool_progress', call_id: 'c', name: 'report', output, run_id: 'r', seq: 2, at: '' } as const
    const shown = showEvent(event)
    if (shown?.type === 'tool_progress') screen.tellProgress(shown.callId, shown.output)
  }
  const [line = ''] = screen.get().activity
  expect(line).toMatch(/^report \{\} {2}"most/)
  expect(line).not.toContain('\u001b')
  expect(screen.endWork('c')).toBe('report {}')
  screen.tellProgress('c', 'too late')
  expect(screen.get().activity).toEqual([])
})
