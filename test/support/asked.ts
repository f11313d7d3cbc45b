import type { Asked } from '../../src/api/runs/text/request.ts'
import type { Part } from '../../src/core/message.ts'

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

/** A run that was asked this, and where. */
export const asked = (parts: readonly Part[], more: Partial<Asked> = {}): Asked => ({
  run: {
    entity_id: "d'ocs $(x)",
    session_id: 'ses_1',
    parent_run_id: null,
    messages: [{ message_id: 'msg_1', run_id: 'run_1', role: 'user', parts: [...parts], content: '', created_at: '' }],
  },
  address: 'http://127.0.0.1:8080',
  prefix: '/api/v1',
  needsKey: false,
  isLater: false,
  ...more,
})
