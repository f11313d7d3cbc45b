import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser, type TestBrowser } from '../../support/browser/browser.ts'
import { lookAt, treeOf } from '../../support/browser/look.ts'
import { nothingWrong, visit } from '../../support/browser/visit.ts'
import { startWholeStudio, type WholeStudio } from '../../support/browser/whole-studio.ts'
import { startServer } from '../../support/server.ts'

let chromium: TestBrowser
let studio: WholeStudio
beforeAll(async () => {
  chromium = await openBrowser()
  studio = await startWholeStudio()
})
afterAll(async () => {
  await Promise.all([chromium?.close(), studio?.server.close()])
})

const phone = { viewport: { width: 390, height: 844 } }
const open = (path: string, options = {}) => visit(chromium, studio.server.url, path, options)

/** Scores are for the tests of the search. */
const wholeTree = async (page: Page, place = 'body') =>
  (await treeOf(page.locator(place))).replaceAll(/\b\d\.\d+/g, '0.…')

/** What is wrong with the ways around a page: headings that skip a level, landmarks that have the same name, or none. */
const outlineTroubles = (page: Page) =>
  page.evaluate(`(() => {
    const seen = (selector) => [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility())
    const levels = seen('h1, h2, h3, h4, h5, h6').map(({ localName }) => Number(localName[1]))
    const skips = levels.filter((level, place) => level > (levels[place - 1] ?? 0) + 1)
    const marks = seen('header, nav, main, aside, form[role=search], section[aria-label], [role=feed]').map((one) =>
      (one.role ?? one.localName) + ' ' + (one.ariaLabel ?? ''))
    const banners = marks.filter((mark) => mark === 'main ' || mark === 'nav ')
    return {
      firsts: levels.filter((level) => level === 1).length,
      skips,
      twice: marks.filter((mark, place) => !/^(header|search) $/.test(mark) && marks.indexOf(mark) !== place),
      mains: banners.join(),
    }
  })()`)
const wellOrdered = { firsts: 1, skips: [], twice: [], mains: 'main ' }

/** Every text that a live region has said since, in the order in which a screen reader says it. */
async function listenTo(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    window.said = []
    const live = '[role=status], [role=alert], [role=log], [aria-live]'
    new MutationObserver((changes) => {
      for (const region of new Set(changes.map(({ target }) => (target.closest ?? target.parentElement?.closest)?.call(
        target.closest ? target : target.parentElement, live)).filter(Boolean))) {
        const text = region.textContent.trim()
        if (text !== '' && window.said.at(-1) !== text) window.said.push(text)
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  })()`)
  return () => page.evaluate('window.said') as Promise<string[]>
}

test('a session with a run that is open', async () => {
  const { session_id, run_id } = await studio.ask('desk', 'When does it open in summer?')
  const { page, end } = await open(`/studio/s/${session_id}/r/${run_id}/e/6?view=gave`)
  await page.getByRole('tab', { name: 'Tools 0' }).waitFor()
  await page.getByText('live', { exact: true }).waitFor()
  expect(await outlineTroubles(page)).toEqual(wellOrdered)
  expect(await wholeTree(page)).toMatchInlineSnapshot(`
    "- link "Skip to the conversation":
      - /url: "#conversation"
    - banner:
      - heading "agentserve" [level=1]:
        - link "agentserve":
          - /url: /studio
      - navigation "Pages":
        - link "Chats":
          - /url: /studio
        - link "Knowledge":
          - /url: /studio/knowledge
        - link "Agents":
          - /url: /studio/agents
      - link "Search everything…":
        - /url: /studio/search
      - status
      - status: live
      - link "API":
        - /url: /docs
      - text: Colours
      - combobox "Colours":
        - option "system" [selected]
        - option "light"
        - option "dark"
      - button "Keys (?)": "?"
    - navigation "Sessions":
      - button "New chat"
      - text: Agent
      - combobox "Agent":
        - option "all agents" [selected]
        - option "echo"
        - option "docs"
        - option "desk"
        - option "refunds"
        - option "both"
        - option "slow"
      - group "Status of the last turn":
        - text: Status of the last turn
        - button "All" [pressed]
        - button "Running"
        - button "Waiting"
        - button "Failed"
        - text: Another status
        - combobox "Another status":
          - option "other…" [selected]
          - option "queued"
          - option "completed"
          - option "cancelled"
          - option "interrupted"
      - text: 1 session
      - button "jump to date…"
      - status: 1 session
      - listbox "Sessions":
        - option "When does it open in summer? desk · 1 run completed · … –" [selected]:
          - text: When does it open in summer? desk · 1 run completed ·
          - time: …
          - text: –
    - main:
      - heading "When does it open in summer?" [level=2]
      - paragraph: desk
      - button "Session…"
      - region "Conversation":
        - feed "Turns":
          - article "When does it open in summer?":
            - heading "You" [level=3]
            - time: …
            - paragraph: When does it open in summer?
            - heading "desk" [level=3]
            - time: …
            - paragraph:
              - text: It opens at
              - strong: nine
              - text: in winter [
              - link "1":
                - /url: /studio/s/ses_…/r/run_…/e/2?view=passages
              - text: "]."
            - list "Sources":
              - listitem:
                - link "[1] docs/hours.md:7–9":
                  - /url: /studio/s/ses_…/r/run_…/e/2?view=passages
              - listitem:
                - link "[2] docs/hours.md:1–6":
                  - /url: /studio/s/ses_…/r/run_…/e/2?view=passages
            - button "completed … s · 20 tokens · –" [expanded]
      - text: Message to desk
      - textbox "Message to desk":
        - /placeholder: Message desk
      - button "Send" [disabled]
      - button "Attach…"
      - text: Who is asked
      - combobox "Who is asked":
        - option "echo"
        - option "docs"
        - option "desk" [selected]
        - option "refunds"
        - option "both"
        - option "slow"
      - status
      - log "The answer as it is written"
    - separator "Width of the run"
    - region "Run run_…":
      - heading "desk" [level=2]
      - text: completed … s 20 tokens (10 tokens in, 10 out) – The cost is not known.
      - code: …
      - button "Fork"
      - alert
      - button "Copy"
      - status
      - button "Close the run"
      - tablist "How to show the run":
        - tab "Timeline" [selected]
        - tab "Compact"
        - tab "Events 14"
        - tab "Graph"
      - group "Replay":
        - button "Replay"
      - treegrid "Steps of the run, … s":
        - row "run desk Fold … s" [expanded] [level=1]:
          - gridcell "run desk Fold":
            - text: run desk
            - button "Fold"
          - gridcell "… s"
        - row "search When does it open in summer? 2 … s" [level=2]:
          - gridcell "search When does it open in summer? 2"
          - gridcell "… s"
        - row "model call scripted/scripted 10 tokens in, 10 out – … s" [level=2] [selected]:
          - gridcell "model call scripted/scripted 10 tokens in, 10 out –"
          - gridcell "… s"
        - row "end completed" [level=2]:
          - gridcell "end completed"
          - gridcell
      - 'region "model: scripted/scripted"':
        - paragraph: call 1 of 1 · seq 5 · stop · 10 in 10 out · – · first text … s · … s
        - tablist "What to show of the step":
          - tab "Prompt"
          - tab "Passages 2"
          - tab "Tools 0"
          - tab "Gave" [selected]
          - tab "Settings"
          - tab "Raw"
        - tabpanel "Gave":
          - paragraph:
            - text: It opens at
            - strong: nine
            - text: in winter [1].
    - status"
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('the knowledge base with a passage that is open', async () => {
  const { page, end } = await open('/studio/knowledge?q=office&mode=keyword')
  await page
    .getByRole('button', { name: /hours\.md:/ })
    .first()
    .click()
  await page.getByRole('article', { name: /^Passage/ }).waitFor()
  expect(await outlineTroubles(page)).toEqual(wellOrdered)
  expect(await wholeTree(page, 'main')).toMatchInlineSnapshot(`
    "- main:
      - heading "Knowledge" [level=2]
      - text: 1 document · 2 passages · embedder static docs-en-1
      - status
      - button "Reindex…"
      - alert
      - navigation "Documents":
        - listbox "Documents":
          - option "docs/hours.md 2 passages" [selected]
      - region "Search the documents":
        - search:
          - text: Search the documents
          - searchbox "Search the documents": office
          - text: Mode
          - combobox "Mode":
            - option "hybrid"
            - option "vector"
            - option "keyword" [selected]
          - text: Limit
          - spinbutton "Limit": "10"
          - text: Filters
          - textbox "Filters":
            - /placeholder: an object in JSON
          - text: Collection
          - textbox "Collection":
            - /placeholder: all
          - button "Search"
        - status: "1 passage · keyword · words looked for: office"
        - group "Passages":
          - table:
            - rowgroup:
              - row "Rank Where Score keyword Words found":
                - columnheader "Rank"
                - columnheader "Where"
                - columnheader "Score"
                - columnheader "keyword"
                - columnheader "Words found"
            - rowgroup:
              - row "1 docs/hours.md:1–6 From November to March the office opens at nine. 0.… 1 (0.…) office":
                - cell "1"
                - cell "docs/hours.md:1–6 From November to March the office opens at nine.":
                  - button "docs/hours.md:1–6"
                  - paragraph: From November to March the office opens at nine.
                - cell "0.…"
                - cell "1 (0.…)"
                - cell "office"
      - region "Document":
        - heading "docs/hours.md" [level=3]
        - button "Delete…"
        - alert
        - article "Passage 1":
          - strong: docs/hours.md:1–6
          - button "Copy the passage": copy
          - text: Around it
          - spinbutton "Around it": "1"
          - paragraph: Hours › Winter
          - text: "# Hours ## Winter From November to March the office opens at nine."
          - link "Passage 2, lines 7–9":
            - /url: /studio/knowledge/d/doc_…/c/chk_…?q=office&mode=keyword
          - text: "## Summer In summer it opens at eight."
          - group: "metadata: {1}"
        - group:
          - text: About the document
          - term: Source
          - definition: docs/hours.md
          - term: Collection
          - definition: default
          - term: Chunks
          - definition: markdown, 80 characters, 8 overlap
          - term: Id
          - definition:
            - text: doc_…
            - button "Copy the document's id": copy
          - term: Changed
          - definition:
            - time: …
          - group: "metadata: {0}"
          - group: "of the reader: {6}"
        - heading "2 passages" [level=4]
        - list:
          - listitem:
            - 'link "# Hours ## Winter From November to March the office opens at nine., lines 1–6"':
              - /url: /studio/knowledge/d/doc_…/c/chk_…?q=office&mode=keyword
          - listitem:
            - link "## Summer In summer it opens at eight., lines 7–9":
              - /url: /studio/knowledge/d/doc_…/c/chk_…?q=office&mode=keyword"
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('the agents with one that is open', async () => {
  const { page, end } = await open('/studio/agents/refunds')
  await page.getByRole('region', { name: 'agent refunds' }).waitFor()
  expect(await outlineTroubles(page)).toEqual(wellOrdered)
  expect(await wholeTree(page, 'main')).toMatchInlineSnapshot(`
    "- main:
      - heading "Agents" [level=2]
      - navigation "Agents":
        - region "agents":
          - heading "agents" [level=3]
          - list:
            - listitem:
              - link "echo":
                - /url: /studio/agents/echo
                - strong: echo
            - listitem:
              - link "docs":
                - /url: /studio/agents/docs
                - strong: docs
            - listitem:
              - link "desk Knows when the office opens.":
                - /url: /studio/agents/desk
                - strong: desk
                - text: Knows when the office opens.
            - listitem:
              - link "refunds Gives money back.":
                - /url: /studio/agents/refunds
                - strong: refunds
                - text: Gives money back.
            - listitem:
              - link "slow":
                - /url: /studio/agents/slow
                - strong: slow
        - region "teams":
          - heading "teams" [level=3]
          - list:
            - listitem:
              - link "both":
                - /url: /studio/agents/both
                - strong: both
      - region "Graph":
        - figure "Graph of refunds":
          - list:
            - listitem: agent refunds , leads to refund
            - listitem: tool refund
      - region "agent refunds":
        - heading "refunds" [level=3]
        - text: agent
        - link "New chat":
          - /url: /studio?agent=refunds
        - paragraph: Gives money back.
        - term: Id
        - definition:
          - text: refunds
          - button "Copy the id": copy
        - term: Model
        - definition: scripted/scripted
        - term: Memory
        - definition: 20 earlier runs, a summary
        - heading "1 tool" [level=4]
        - list:
          - listitem:
            - strong: refund
            - text: "approval: always"
            - paragraph: Pays.
            - group: "input: {5}"
        - heading "Newest sessions" [level=4]
        - paragraph: None yet."
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('a search, and the list on a phone', async () => {
  await studio.ask('echo', 'about heliotrope')
  const { page, end } = await open('/studio/search?q=heliotrope', phone)
  await page.getByText('2 messages, newest first').waitFor()
  expect(await outlineTroubles(page)).toEqual(wellOrdered)
  await page.goto(`${studio.server.url}/studio?agent=echo`)
  await page.getByRole('option', { name: /heliotrope/ }).waitFor()
  expect(await outlineTroubles(page)).toEqual({ ...wellOrdered, mains: '' })
  expect(await wholeTree(page)).toMatchInlineSnapshot(`
    "- banner:
      - heading "agentserve" [level=1]:
        - link "agentserve":
          - /url: /studio
      - navigation "Pages":
        - link "Chats":
          - /url: /studio
        - link "Knowledge":
          - /url: /studio/knowledge
        - link "Agents":
          - /url: /studio/agents
      - link "Search everything…":
        - /url: /studio/search
      - status
      - status: live
      - text: Colours
      - combobox "Colours":
        - option "system" [selected]
        - option "light"
        - option "dark"
    - navigation "Sessions":
      - button "New chat"
      - text: Agent
      - combobox "Agent":
        - option "all agents"
        - option "echo" [selected]
        - option "docs"
        - option "desk"
        - option "refunds"
        - option "both"
        - option "slow"
      - group "Status of the last turn":
        - text: Status of the last turn
        - button "All" [pressed]
        - button "Running"
        - button "Waiting"
        - button "Failed"
        - text: Another status
        - combobox "Another status":
          - option "other…" [selected]
          - option "queued"
          - option "completed"
          - option "cancelled"
          - option "interrupted"
      - text: 1 session
      - button "jump to date…"
      - status: 1 session
      - listbox "Sessions":
        - option "about heliotrope echo · 1 run completed · …":
          - text: about heliotrope echo · 1 run completed ·
          - time: …
    - status"
  `)
  expect(await lookAt(page)).toEqual([])
  expect(await end()).toEqual(nothingWrong)
})

test('an answer is told in sentences, not word by word, and that it is finished', async () => {
  const { session_id } = await studio.begin('slow')
  const { page, end } = await open(`/studio/s/${session_id}`)
  await page.locator('.caret').waitFor()
  const said = await listenTo(page)
  for (let sentence = 0; sentence < 8; sentence++) {
    for (const word of ['This ', 'is ', 'sentence ', `${sentence}. `]) {
      studio.say(word)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    }
    await expect.poll(() => page.locator('.answered').textContent()).toContain(`sentence ${sentence}.`)
  }
  await expect.poll(async () => (await said()).join(' ')).toContain('sentence 7.')
  studio.finish()
  await expect.poll(async () => (await said()).at(-1)).toMatch(/slow has answered$/)
  const all = (await said()).join(' ')
  for (let sentence = 0; sentence < 8; sentence++) expect(all.split(`sentence ${sentence}.`)).toHaveLength(2)
  expect((await said()).length).toBeLessThan(8)
  expect((await said()).slice(0, -1).every((text) => /\.$/.test(text))).toBe(true)
  expect(await end()).toEqual(nothingWrong)
})

test('that a run waits is told, and that its answer came', async () => {
  const { page, end } = await open('/studio/new')
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByRole('radio', { name: /^refunds/ }).check()
  const said = await listenTo(page)
  await page.getByLabel('Message to refunds').fill('refund order 4711')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByRole('button', { name: 'Allow' }).waitFor()
  await expect.poll(said).toContain('refunds waits for you: refund')
  await expect.poll(said).toContain('1 waiting')
  await page.getByRole('button', { name: 'Allow' }).click()
  await expect.poll(async () => (await said()).join('\n')).toMatch(/refunds has answered$/m)
  expect((await said()).length).toBeLessThan(10)
  expect(await end()).toEqual(nothingWrong)
})

test('that the connection is lost is told once', async () => {
  const server = await startServer()
  const { page, end } = await visit(chromium, server.url, '/studio')
  await page.getByText('live', { exact: true }).waitFor()
  const said = await listenTo(page)
  await server.close()
  await page.getByText(/^reconnecting/).waitFor()
  await page.waitForResponse(() => true, { timeout: 1500 }).catch(() => undefined)
  expect((await said()).filter((text) => text.startsWith('reconnecting'))).toHaveLength(1)
  await end()
})
