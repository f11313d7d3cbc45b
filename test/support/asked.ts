import type { Part } from '../../src/core/message.ts'
import type { Asked } from '../../src/studio/run/copy/copy-request.ts'

/** Texts that mean something to a shell, a program or a terminal. */
export const hostileTexts = [
  `it's "quoted" '\\'' $HOME \${HOME} $(echo run) \`echo run\` \\ \\\\ !! *`,
  "'; echo run; '",
  'line one\nline two\r\n\ttab \u0000 \u2028 \u{1f600} \ud800',
  '-d @/etc/passwd',
  '@/etc/passwd',
  "'",
  '\\',
  '',
]

/** What is copied of a run that was asked this. */
export const asked = (parts: readonly Part[], more: Partial<Asked> = {}): Asked => ({
  run: {
    entity_id: "d'ocs $(x)",
    session_id: 'ses_1',
    parent_run_id: null,
    messages: [{ message_id: 'msg_1', run_id: 'run_1', role: 'user', parts: [...parts], content: '', created_at: '' }],
  },
  origin: 'http://127.0.0.1:8080',
  prefix: '/api/v1',
  needsKey: false,
  isLater: false,
  ...more,
})
