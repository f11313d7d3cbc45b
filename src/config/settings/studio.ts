import { z } from 'zod'
import { choose, flag, settings } from '../../schema/field.ts'
import { path } from './path.ts'

const studioFields = settings({
  path: path().prefault('/studio'),
  /** Whether runs may be repeated with edits outside `dev`: `POST /runs/{id}/again`. */
  again: flag().default(false),
})

type Studio = z.ZodType<false | z.output<typeof studioFields>, boolean | z.input<typeof studioFields>>

/** The page that shows sessions and runs, or `false`. */
export const studioSettings = choose((value): Studio => {
  if (value === false) return z.literal(false)
  return value === true ? z.literal(true).transform(() => studioFields.parse({})) : studioFields
})
