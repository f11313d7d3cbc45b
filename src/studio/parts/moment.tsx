import type { JSX } from 'preact'

const today = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const earlier = new Intl.DateTimeFormat('en', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})
const full = new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' })

/** A time of day, or with the day when that is not today; the full moment in its title. */
export function Moment({ at }: { at: string }): JSX.Element {
  const date = new Date(at)
  const isToday = date.toDateString() === new Date().toDateString()
  return (
    <time dateTime={at} title={full.format(date)}>
      {(isToday ? today : earlier).format(date)}
    </time>
  )
}
