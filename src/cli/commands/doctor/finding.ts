import { asCalled } from '../../terminal/called-as.ts'

export type Finding =
  | { check: string; state: 'ok'; message: string }
  | { check: string; state: 'warning' | 'wrong'; message: string; fix: string }

export function ok(check: string, message: string): Finding {
  return { check, state: 'ok', message }
}

export function warning(check: string, message: string, fix: string): Finding {
  return { check, state: 'warning', message: asCalled(message), fix: asCalled(fix) }
}

export function wrong(check: string, message: string, fix: string): Finding {
  return { check, state: 'wrong', message: asCalled(message), fix: asCalled(fix) }
}
