import { z } from 'zod'
import { choose, duration, settings } from '../../schema/field.ts'

const day = 24 * 60 * 60 * 1_000

const auditFields = settings({
  /** How long entries are kept. */
  keep: duration(day, "a time of at least '1d', such as '90d'").prefault('365d'),
}).transform(({ keep: keepMs }) => ({ isOn: true, keepMs }))

type AuditSettings = z.ZodType<z.output<typeof auditFields>, false | z.input<typeof auditFields>>

const off = z.literal(false).transform(() => ({ ...auditFields.parse({}), isOn: false }))

/** The log of what callers did; `false`: none is written, and the earlier one is kept as long as by default. */
export const auditSettings = choose((value): AuditSettings => (value === false ? off : auditFields))
