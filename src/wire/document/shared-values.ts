/* What several examples have in common. */

export const at = '2026-01-05T09:30:00.000Z'
export const later = '2026-01-05T09:30:02.410Z'
export const sessionId = 'ses_01kcz6t8d0m0x4zq'
export const runId = 'run_01kcz6t8d1m0x4zr'
export const usage = { input_tokens: 412, output_tokens: 38, total_tokens: 450 }
export const answer = 'At most 10 MB [1].'
