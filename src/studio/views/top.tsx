import type { JSX } from 'preact'
import { Icon } from '../parts/icon.tsx'
import type { Address } from '../state/address/address.ts'
import { type Theme, themes } from '../state/kept/theme.ts'
import type { Studio } from '../state/studio.ts'
import { lazyPart } from './lazy-part.ts'
import { pages } from './pages.ts'

const WatchNote = lazyPart((later) => later.WatchNote)

interface TopProps {
  studio: Studio
  onHelp: () => void
}

/** The bar over every page, and what has to be known whatever is looked at. */
export function Top({ studio, onHelp }: TopProps): JSX.Element {
  const { theme } = studio
  const lost = studio.lost.value
  const project = studio.me.value?.root?.split(/[\\/]/).at(-1)
  return (
    <header class="top">
      <h1>
        <a href={studio.urlOf({ page: 'chats', filter: {} })}>agentserve</a>
        {project === undefined ? null : <span class="more wide-only"> / {project}</span>}
      </h1>
      <Tabs studio={studio} />
      {studio.may('sessions') ? (
        <a class="find" href={studio.urlOf({ page: 'search', text: '' })} title="Search everything (/)">
          <Icon name="search" /> <span class="words">Search everything…</span>
        </a>
      ) : null}
      <Waits studio={studio} />
      {studio.canWatch && studio.pins.ids.value.length > 0 ? <WatchNote studio={studio} /> : null}
      {studio.may('sessions') ? (
        <p role="status" class={lost !== undefined ? 'lost' : studio.isLive.value ? 'live' : 'more'}>
          {aboutLive(studio)}
        </p>
      ) : null}
      <a class="wide-only" href="/docs">
        API
      </a>
      <label>
        <span class="hidden">Colours</span>
        <select value={theme.value.value} onChange={({ currentTarget }) => theme.choose(currentTarget.value as Theme)}>
          {themes.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <button type="button" class="quiet wide-only" aria-label="Keys (?)" onClick={onHelp}>
        ?
      </button>
      <Banners studio={studio} />
    </header>
  )
}

function aboutLive({ lost: { value: lost }, isLive }: Studio): string {
  if (lost === undefined) return isLive.value ? 'live' : 'connecting…'
  const since = `reconnecting… what you see is of ${lost.at.toLocaleTimeString()}`
  return lost.why === '' ? since : `${since}. The server says: ${lost.why}`
}

function Tabs({ studio }: { studio: Studio }): JSX.Element {
  const shown = studio.address.value.page
  const tabs = Object.entries(pages).filter(
    ([, { isTab, scope, can }]) => isTab && !(scope && !studio.may(scope)) && !(can && !studio.can(can)),
  )
  const to = (page: string): Address =>
    page === 'knowledge'
      ? { page, query: {} }
      : page === 'agents' || page === 'tests'
        ? { page }
        : { page: 'chats', filter: {} }
  return (
    <nav class="pages" aria-label="Pages">
      {tabs.map(([page, { title }]) => (
        <a key={page} href={studio.urlOf(to(page))} aria-current={page === shown ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  )
}

/** It is told when the number changes. */
function Waits({ studio }: { studio: Studio }): JSX.Element {
  const count = studio.chats.waits.value
  return (
    <span role="status">
      {count === 0 ? null : (
        <a class="waits" href={studio.urlOf({ page: 'chats', filter: { status: 'input_required' } })}>
          <Icon name="waiting" /> {count} <span class="words">waiting</span>
        </a>
      )}
    </span>
  )
}

function Banners({ studio }: { studio: Studio }): JSX.Element {
  const trouble = studio.trouble.value
  const served = studio.served.value
  const { version } = studio.places
  return (
    <>
      {served === version ? null : (
        <div role="status" class="banner">
          <p>
            The server has version {served}, this page is of {version}.
          </p>
          <button type="button" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
      {trouble === undefined ? null : (
        <div role="alert" class="banner trouble">
          <p>
            <strong>The agents could not be loaded.</strong> {trouble.message}
          </p>
          {trouble.excerpt === undefined ? null : <pre>{trouble.excerpt}</pre>}
          <p>The last good config keeps serving.</p>
        </div>
      )}
    </>
  )
}
