import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import type { AgainRequest } from '../../wire/again.ts'
import { SaveTest } from '../conversation/save-test.tsx'
import { useNarrow } from '../parts/layout/narrow.ts'
import { TabBar } from '../parts/tabs.tsx'
import { isEnded } from '../state/conversation.ts'
import { useAttempt } from '../state/reading/attempt.ts'
import type { Studio } from '../state/studio.ts'
import { heed, useAsides } from './asides.ts'
import { Comparison } from './comparison.tsx'
import { EditForm } from './edit-form.tsx'
import { Lane } from './lane.tsx'
import { Spread } from './spread.tsx'

/** A run and what becomes of it with a change, side by side. */
export function AgainPage({ studio }: { studio: Studio }): JSX.Element | null {
  const address = studio.address.value
  const { runId, tries, from } = address.page === 'again' ? address : { runId: '', tries: [], from: undefined }
  const [a, ...others] = useAsides(studio, runId === '' ? [] : [runId, ...tries])
  const [chosen, setChosen] = useState(0)
  const { problem, isBusy, attempt } = useAttempt()
  const isNarrow = useNarrow()
  const [tab, setTab] = useState<'Diff' | 'A' | 'B'>('Diff')
  if (a === undefined) return null
  if (!studio.can('again')) {
    return (
      <div class="middle">
        <h2>This key can’t repeat runs here</h2>
        <p role="alert">
          Operators can, in <code>agentserve dev</code> or with <code>server.studio.again</code>.
        </p>
      </div>
    )
  }
  heed(a)
  const b = others[chosen] ?? others[0]
  const isShown = (name: typeof tab) => !isNarrow || b === undefined || tab === name
  const place = { page: 'again', runId, from } as const
  const { client } = studio
  const start = (requestOf: () => AgainRequest) =>
    attempt(async () => {
      const { runs } = await client.runs.again(runId, requestOf())
      setChosen(0)
      studio.go({ ...place, tries: runs.map(({ run_id }) => run_id) }, true)
    })
  const keep = (how: 'fork' | 'replace') =>
    b &&
    attempt(async () => {
      const { session_id: sessionId, run_id } = await client.runs.keep(b.runId, how)
      studio.go({ page: 'chats', sessionId, runId: run_id, filter: {} })
    })
  const hasEnded = isEnded(b?.run.value)
  return (
    <div class="two">
      <h2>Again, side by side</h2>
      {a.events.seq === 0 ? (
        <p class="about appears">Reading…</p>
      ) : (
        <EditForm
          key={runId}
          studio={studio}
          opened={a}
          from={from}
          isSending={isBusy}
          onFrom={(seq) => studio.go({ page: 'again', runId, tries: [], from: seq || undefined }, true)}
          onStart={start}
        />
      )}
      <p role="alert" class="wrong">
        {problem || a.error.value}
      </p>
      {others.length < 2 ? null : <Spread a={a} tries={others} chosen={chosen} onChoose={setChosen} />}
      {isNarrow && b !== undefined ? (
        <TabBar
          label="What is shown"
          tabs={['Diff', 'A', 'B']}
          wordsOf={(one) => (one === 'B' && b.run.value?.status === 'input_required' ? 'B waits for you' : one)}
          chosen={tab}
          onChoose={setTab}
        />
      ) : null}
      <div class="lanes">
        {isShown('A') ? <Lane studio={studio} name="A · as it was" opened={a} /> : null}
        {b === undefined || !isShown('B') ? null : (
          <Lane key={b.runId} studio={studio} name="B · again" opened={b}>
            <div class="bar">
              {hasEnded ? (
                <>
                  <button type="button" disabled={isBusy} onClick={() => keep('fork')}>
                    Keep as session
                  </button>
                  <button type="button" disabled={isBusy} onClick={() => keep('replace')}>
                    Replace the turn
                  </button>
                  {studio.canWatch ? (
                    <button type="button" onClick={() => studio.watch(b.runId)}>
                      Watch file saves
                    </button>
                  ) : null}
                  {studio.can('tests') ? (
                    <SaveTest
                      studio={studio}
                      sessionId={async () => (await client.runs.keep(b.runId, 'fork')).session_id}
                    />
                  ) : null}
                </>
              ) : null}
              <button
                type="button"
                onClick={() => {
                  if (!hasEnded) void studio.stop(b.runId)
                  studio.go({ ...place, tries: tries.filter((id) => id !== b.runId) }, true)
                }}
              >
                Drop
              </button>
            </div>
            <p class="about">It is kept as it is: nothing runs again. A try is deleted after 7 days.</p>
          </Lane>
        )}
      </div>
      {b === undefined || !isShown('Diff') ? null : <Comparison key={b.runId} studio={studio} a={a} b={b} />}
    </div>
  )
}
