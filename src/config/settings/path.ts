import { match } from '../../schema/field.ts'

/** Without the trailing slash; `/` becomes empty. */
export const path = () =>
  match("a path that begins with '/'", /^\/[^\s?#]*$/).transform((given) =>
    given.replace(/\/{2,}/g, '/').replace(/\/$/, ''),
  )
