import { defineConfig } from 'drizzle-kit'

export default defineConfig({
  dialect: 'sqlite',
  schema: ['./src/store/sessions/sqlite/schema/schema.ts', './src/store/sessions/sqlite/schema/jobs.ts'],
  out: './src/store/sessions/sqlite/schema/migrations',
})
