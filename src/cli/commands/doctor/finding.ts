import { asCalled } from '../../terminal/called-as.ts'

/** One thing that was looked at. What is not `ok` says what to do about it. */
export type Finding =
  | { check: string; state: 'ok'; message: string }
  | { check: string; state: 'warning' | 'wrong'; message: string; fix: string }

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message }
}

/** It works, but not as well as it could. */
export function warning(check: string, message: string, fix: string): Finding {
  return { check, state: 'warning', message: asCalled(message), fix: asCalled(fix) }
}

export function wrong(check: string, message: string, fix: string): Finding {
  return { check, state: 'wrong', message: asCalled(message), fix: asCalled(fix) }
}
