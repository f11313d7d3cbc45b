import type { A2AMethod } from '../../wire/protocols/a2a.ts'

/** `''`, or a path with a leading slash and no trailing one. */
export function normalisePrefix(prefix: string): string {
  const path = prefix.split('/').filter(Boolean).join('/')
  return path === '' ? '' : `/${path}`
}

export function a2aPath(prefix: string, method: A2AMethod): string {
  return `${normalisePrefix(prefix)}/${method}`
}
