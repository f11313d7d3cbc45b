import { empty, stream } from '../../http/reply.ts'
import type { UserPiece } from '../../service/services.ts'
import { CopyWriter, copyMediaType } from '../../wire/session-copy.ts'
import { UserCopyLine, userLine } from '../../wire/user-copy.ts'
import { type DocumentedRoute, documented } from '../route/documented.ts'
import { maySeePrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toCopyEvents, toCopyLines, toLine } from './copies.ts'

const tag = 'Users'
const params = { user_id: 'The user, whose sessions and runs have it as `user_id`.' }

/** Everything of one user, out or gone. */
export function userRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/users/:user_id`
  return [
    documented(
      {
        method: 'GET',
        path: `${path}/export`,
        operationId: 'exportUser',
        scope: 'admin',
        tag,
        summary: 'Read everything of a user as JSON lines',
        description:
          'Each session of the user as it is exported by itself, the runs of the user in sessions of others with their ' +
          'events, and a last line of type `user_end`. It is what erasing the user would take. Exact prompts are in it for ' +
          'keys with the scope `prompts`.',
        params,
        responses: { 200: { description: 'One JSON object a line.', content: { [copyMediaType]: UserCopyLine } } },
      },
      (request, { users }) =>
        stream(toLines(users.export(pathId(request, 'user_id')), maySeePrompts(request)), copyMediaType),
    ),
    documented(
      {
        method: 'DELETE',
        path,
        operationId: 'eraseUser',
        scope: 'admin',
        tag,
        summary: 'Erase everything of a user',
        description:
          'The sessions whose present user it is go, with their runs and summaries. The runs of the user in sessions of ' +
          'others lose input, output and events and keep their row. Cached answers and idempotency answers go, and the ' +
          'name leaves `shared_with`. A user of whom nothing is kept is no error.',
        params,
        responses: { 204: { description: 'Nothing is left.' } },
      },
      async (request, { users }) => {
        await users.erase(pathId(request, 'user_id'))
        return empty()
      },
    ),
  ]
}

async function* toLines(pieces: AsyncIterable<UserPiece>, prompts: boolean): AsyncGenerator<string | Uint8Array> {
  const writer = new CopyWriter()
  for await (const piece of pieces) {
    if ('session' in piece) yield* toCopyLines(piece.session, prompts)
    else if ('shared' in piece) yield userLine({ type: 'shared', session_id: piece.shared })
    else if ('run' in piece) yield* toLine(writer.run(piece.run))
    else if ('events' in piece) yield* toLine(writer.events(piece.run_id, toCopyEvents(piece.events, prompts)))
    else if ('user_id' in piece) yield userLine({ type: 'user', ...piece })
    else yield userLine({ type: 'user_end', ...piece })
  }
}
