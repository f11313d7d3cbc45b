import { Box, Text, useInput, usePaste, useWindowSize } from 'ink'
import { type ReactNode, useEffect, useSyncExternalStore } from 'react'
import { Input } from '../chat/line/input.tsx'
import type { Paint } from '../terminal/paint.ts'
import { type BrowserScreen, frameRows, type SessionBrowser } from './browser.ts'
import { markWords } from './found-words.ts'
import { keyHelp } from './keys.ts'
import type { Row } from './row-list.ts'
import { sinceWhen } from './since-when.ts'

export interface SessionBrowserProps {
  browser: SessionBrowser
  paint: Paint
}

export function SessionBrowserScreen({ browser, paint }: SessionBrowserProps): ReactNode {
  const { columns, rows } = useWindowSize()
  const screen = useSyncExternalStore(browser.subscribe, browser.get)
  useEffect(() => browser.resize(columns, rows), [browser, columns, rows])
  useInput((input, key) => {
    if (key.eventType !== 'release') browser.key(input, key)
  })
  usePaste((text) => browser.paste(text))
  const height = Math.max(1, rows - frameRows)
  return (
    <Box flexDirection="column" height={rows} width={columns} overflow="hidden">
      <Head screen={screen} paint={paint} />
      <Box flexDirection="column" height={height} marginY={1} flexShrink={0} overflow="hidden">
        <Body screen={screen} paint={paint} columns={columns} height={height} />
      </Box>
      <Foot screen={screen} paint={paint} columns={columns} />
    </Box>
  )
}

function Head({ screen, paint }: { screen: BrowserScreen; paint: Paint }): ReactNode {
  const { session, searched, lost } = screen
  const what = session === undefined ? (searched === '' ? 'Sessions' : `Found: ${searched}`) : session.row.title
  const about = lost ? paint.red('Connection lost, retrying') : paint.dim(headOf(screen))
  return (
    <Box flexShrink={0} height={1} justifyContent="space-between" columnGap={2}>
      <Text wrap="truncate">{paint.bold(what)}</Text>
      <Box flexShrink={lost ? 0 : 1}>
        <Text wrap="truncate">{about}</Text>
      </Box>
    </Box>
  )
}

function headOf({ session, place }: BrowserScreen): string {
  if (session === undefined) return place
  const { row, live, atEnd } = session
  return [...(live ? ['live'] : []), ...(atEnd ? [] : ['more below']), row.sessionId].join(' · ')
}

type BodyProps = { screen: BrowserScreen; paint: Paint; columns: number; height: number }

function Body({ screen, paint, columns, height }: BodyProps): ReactNode {
  const { dialog, session, rows, searched, loading } = screen
  if (dialog === 'help') return <Help paint={paint} />
  if (session === undefined) {
    if (rows.length > 0)
      return rows.map((row) => <Line key={row.key} {...{ row, paint, columns }} found={screen.words} />)
    if (loading) return <Text>{paint.dim('Reading…')}</Text>
    return <Text>{paint.dim(searched === '' ? 'No sessions yet.' : 'Nothing found. Esc shows all sessions.')}</Text>
  }
  if (session.empty) return <Text>{paint.dim('This session has no messages yet.')}</Text>
  return session.lines.slice(0, height).map((line, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: lines of the window, which stay where they are.
    <Text key={place} wrap="truncate">
      {line === '' ? ' ' : line}
    </Text>
  ))
}

function Help({ paint }: { paint: Paint }): ReactNode {
  return keyHelp.map(([keys, about]) => (
    <Box key={keys}>
      <Box width={19} flexShrink={0}>
        <Text>{paint.cyan(keys)}</Text>
      </Box>
      <Text wrap="truncate">{about}</Text>
    </Box>
  ))
}

const marks: Partial<Record<NonNullable<Row['last']>, string>> = {
  running: 'running',
  queued: 'queued',
  input_required: 'needs your answer',
  failed: 'failed',
  cancelled: 'cancelled',
  interrupted: 'interrupted',
}

function Line({
  row,
  found,
  paint,
  columns,
}: {
  row: BrowserScreen['rows'][number]
  found: BrowserScreen['words']
  paint: Paint
  columns: number
}): ReactNode {
  const { owner, runs, last, at, isSelected } = row
  const marked = (text: string) => markWords(text, found, paint.inverse)
  const title = marked(row.title)
  const words = row.hit === undefined ? row.words : marked(row.words ?? '')
  const mark = last && marks[last]
  const colour = last === 'failed' ? paint.red : paint.yellow
  const about = [
    ...(owner === undefined ? [] : [owner.id]),
    ...(runs === undefined ? [] : [`${runs} ${runs === 1 ? 'run' : 'runs'}`]),
  ].join(' · ')
  return (
    <Box flexDirection="column" height={2} flexShrink={0}>
      <Box height={1} columnGap={2}>
        <Box flexGrow={1} width={Math.max(1, columns - 10)}>
          <Text wrap="truncate">{isSelected ? paint.bold(paint.cyan(`› ${title}`)) : `  ${title}`}</Text>
        </Box>
        <Box flexShrink={0}>
          <Text>{paint.dim(sinceWhen(at, Date.now()))}</Text>
        </Box>
      </Box>
      <Box height={1}>
        <Text wrap="truncate">
          {`    ${paint.dim(about)}${mark === undefined ? '' : `${about === '' ? '' : ' · '}${colour(mark)}`}${paint.dim(`  ${words ?? ''}`)}`}
        </Text>
      </Box>
    </Box>
  )
}

function Foot({ screen, paint, columns }: { screen: BrowserScreen; paint: Paint; columns: number }): ReactNode {
  const { dialog, typed, message, session, searched } = screen
  if (dialog === 'search') {
    return <Input line={typed} prompt={paint.cyan('Filter: ')} columns={Math.max(1, columns - 10)} rows={1} />
  }
  const title = session?.row.title ?? screen.rows.find(({ isSelected }) => isSelected)?.title ?? ''
  const text =
    dialog === 'delete'
      ? paint.yellow(`Delete permanently? y or n  ${title}`)
      : (message ?? paint.dim(keysOf(session !== undefined, searched !== '', dialog)))
  return (
    <Box height={1} flexShrink={0}>
      <Text wrap="truncate">{text}</Text>
    </Box>
  )
}

function keysOf(isOpen: boolean, isSearched: boolean, dialog: BrowserScreen['dialog']): string {
  if (dialog === 'help') return 'Any key goes back'
  if (isOpen) return '? help · Esc back · c chat · d delete · q quit'
  return `? help · Enter opens · / filter · ${isSearched ? 'Esc all · ' : ''}q quit`
}
