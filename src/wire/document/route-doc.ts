import { z } from 'zod'
import type { Access } from '../../core/access/scope.ts'
import type { ErrorCode } from '../../core/error.ts'
import { jsonObject } from '../../schema/request-field.ts'

/** A text body with its own media type: HTML, YAML, a script. */
export const PlainText = z.string()

/** A JSON object that is described elsewhere. */
export const AnyObject = jsonObject()

/** Media type → schema of the body. */
export type DocContent = Readonly<Record<string, z.ZodType>>

export interface DocResponse {
  description: string
  content?: DocContent
  /** Header name → description. */
  headers?: Readonly<Record<string, string>>
}

export function jsonAnswer(description: string, schema: z.ZodType, headers?: DocResponse['headers']): DocResponse {
  return { description, content: { 'application/json': schema }, ...(headers && { headers }) }
}

/** The description of a route in the OpenAPI document. */
export interface RouteDoc {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The full path with prefix, and parameters as `:name`. */
  path: string
  operationId: string
  tag: string
  summary: string
  description?: string
  /** Who may call it when keys are configured. */
  scope: Access
  /** Path parameter → description. */
  params?: Readonly<Record<string, string>>
  /** Example values by path parameter. */
  examples?: Readonly<Record<string, readonly string[]>>
  query?: z.ZodObject
  /** Request header → description. All are optional. */
  headers?: Readonly<Record<string, string>>
  body?: { required: boolean; content: DocContent }
  responses: Readonly<Record<number, DocResponse>>
  /** Error codes besides those of every route; absent for routes with their own error bodies. */
  errors?: readonly ErrorCode[]
}
