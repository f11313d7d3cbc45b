import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { toCurl } from '../../../src/api/runs/text/request.ts'
import type { Part } from '../../../src/core/message.ts'
import { asked, hostileTexts } from '../../support/asked.ts'

/** What `sh` gives `curl`, whose place a function takes. */
function argumentsOf(command: string): string[] {
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  const env = { AGENTSERVE_API_KEY: 'key of $HOME' }
  return execFileSync('/bin/sh', ['-c', script], { env }).toString().split('\0').slice(0, -1)
}

describe('a run as curl', () => {
  test.each(hostileTexts)('is what the shell gives curl, whatever was asked: %j', (text) => {
    expect(argumentsOf(toCurl(asked([{ type: 'text', text }])))).toEqual([
      "http://127.0.0.1:8080/api/v1/agents/d'ocs%20%24(x)/run",
      '-H',
      'Content-Type: application/json',
      '-d',
      JSON.stringify({ input: text }),
    ])
  })

  test('has the name of the key, and the session of a later turn', () => {
    const command = toCurl(asked([{ type: 'data', data: { "it's": 1 } }], { needsKey: true, isLater: true }))
    expect(argumentsOf(command).slice(3)).toEqual([
      '-H',
      'Authorization: Bearer key of $HOME',
      '-d',
      `{"input":{"it's":1},"session_id":"ses_1"}`,
    ])
  })

  test('has parts as they were, and a place for files that the server keeps', () => {
    const parts: Part[] = [
      { type: 'text', text: 'look' },
      { type: 'file', media_type: 'image/png', name: 'a.png', file_id: 'file_1', size: 3 },
      { type: 'file', media_type: 'image/png', url: 'https://example.org/a.png' },
    ]
    expect(JSON.parse(argumentsOf(toCurl(asked(parts))).at(-1) ?? '')).toEqual({
      input: {
        parts: [
          { type: 'text', text: 'look' },
          { type: 'file', media_type: 'image/png', name: 'a.png', data: 'THE-FILE-AS-BASE64' },
          { type: 'file', media_type: 'image/png', url: 'https://example.org/a.png' },
        ],
      },
    })
    const ambiguous: Part = { type: 'data', data: { parts: [] } }
    expect(JSON.parse(argumentsOf(toCurl(asked([ambiguous]))).at(-1) ?? '').input).toEqual({ parts: [ambiguous] })
  })
})
