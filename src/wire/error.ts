import { z } from 'zod'
import { component } from './document/component.ts'

export const ErrorBody = component(
  'Error',
  z.object({
    error: z.object({
      code: z.string().describe('An error code from a fixed list, such as `session_not_found`.'),
      message: z.string(),
      details: z
        .array(z.object({ path: z.string(), message: z.string() }))
        .optional()
        .describe('The problems, one per field.'),
      run_id: z.string().optional().describe('The run that the error is about.'),
      session_id: z.string().optional(),
    }),
    request_id: z.string(),
  }),
)
export type ErrorBody = z.infer<typeof ErrorBody>
