import { empty, stream } from '../../http/reply.ts'
import type { UserPiece } from '../../service/services.ts'
import { CopyWriter, copyMediaType } from '../../wire/copies/session-copy.ts'
import { UserCopyLine, userLine } from '../../wire/copies/user-copy.ts'
import { type DocumentedRoute, routesAbout } from '../route/documented.ts'
import { maySeePrompts } from '../route/included-prompts.ts'
import { pathId } from '../route/path-id.ts'
import type { ApiSettings } from '../route/settings.ts'
import { toCopyEvents, toCopyLines, toCopyRun, toLine } from './copies.ts'

const route = routesAbout('Users', 'admin')

const params = { user_id: 'The `user_id` of the sessions and runs.' }

/** Export or erase everything of one user. */
export function userRoutes({ prefix }: ApiSettings): DocumentedRoute[] {
  const path = `${prefix}/users/:user_id`
  return [
    route('GET', `${path}/export`, 'exportUser', {
      summary: 'Export all data of a user as JSON lines',
      description:
        'Every session of the user in the format of a session export, then the runs of the user in sessions of other users with their ' +
        'events, then the facts about the user, then a last line of type `user_end`. This is the data that erasing the user deletes. Exact prompts are included for ' +
        'keys with the scope `prompts`.',
      params,
      responses: { 200: { description: 'One JSON object per line.', content: { [copyMediaType]: UserCopyLine } } },
      handle: (request, { users }) =>
        stream(toLines(users.export(pathId(request, 'user_id')), maySeePrompts(request)), copyMediaType),
    }),
    route('DELETE', path, 'eraseUser', {
      summary: 'Erase all data of a user',
      description:
        'Deletes the sessions that currently belong to the user, with their runs and summaries. The runs of the user in sessions of ' +
        'other users lose their input, output, events and files but stay listed. Cached answers, idempotency answers and the facts about the user are ' +
        'deleted, and the user is removed from `shared_with`. It is not an error if the user has no data.',
      params,
      responses: { 204: { description: 'All data of the user is deleted.' } },
      handle: async (request, { users }) => {
        await users.erase(pathId(request, 'user_id'))
        return empty()
      },
    }),
  ]
}

async function* toLines(pieces: AsyncIterable<UserPiece>, prompts: boolean): AsyncGenerator<string | Uint8Array> {
  const writer = new CopyWriter()
  for await (const piece of pieces) {
    if ('session' in piece) yield* toCopyLines(piece.session, prompts)
    else if ('shared' in piece) yield userLine({ type: 'shared', session_id: piece.shared })
    else if ('run' in piece) yield* toLine(writer.run(toCopyRun(piece.run, prompts)))
    else if ('events' in piece) yield* toLine(writer.events(piece.run_id, toCopyEvents(piece.events, prompts)))
    else if ('file' in piece) yield* toLine(writer.file(piece.run_id, piece.file))
    else if (!('sessions' in piece) && 'facts' in piece)
      for (const fact of piece.facts) yield userLine({ type: 'fact', fact })
    else if ('user_id' in piece) yield userLine({ type: 'user', ...piece })
    else yield userLine({ type: 'user_end', ...piece })
  }
}
