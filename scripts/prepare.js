// npm runs `prepare` after an install, and npx once more when it first runs this package's own command: that one needs
// no second build.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

if (process.env.npm_command !== 'exec' || !existsSync('dist/cli.js')) {
  const { status } = spawnSync('tsdown --logLevel error', { stdio: 'inherit', shell: true })
  process.exitCode = status ?? 1
}
