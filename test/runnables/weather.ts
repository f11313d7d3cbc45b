import { z } from 'zod'
import { tool } from '../../src/runnables/tools/tool.ts'

export const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
})
