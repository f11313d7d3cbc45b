import { oneSession, type SessionsAction } from './action.ts'
import { saveTest } from './write-test.ts'

export const saveSessionTest: SessionsAction = async ({ withClient, args, options: { to, liveTools }, json }) => {
  const sessionId = oneSession('save-test', args)
  await withClient((client) => saveTest(client, sessionId, { to, liveTools, json }))
  return undefined
}
