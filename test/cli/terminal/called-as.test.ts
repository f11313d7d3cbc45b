import { expect, it } from 'vitest'
import { calledAs } from '../../../src/cli/terminal/called-as.ts'

const local = '/home/ann/project/node_modules/.bin/agentserve'
const shim = '/home/ann/project/node_modules/agentserve/bin/agentserve.js'
const npm = 'npm/11.0.0 node/v24.0.0 linux x64'
const pnpm = 'pnpm/10.0.0 npm/? node/v24.0.0'

it.each<[what: string, script: string, agent: string | undefined, files: string[], called: string]>([
  ['npx', local, npm, [], 'npx agentserve'],
  ['npx, with a global one on the path', local, npm, ['/usr/bin/agentserve'], 'npx agentserve'],
  ['npx, from its cache', '/home/ann/.npm/_npx/1/node_modules/.bin/agentserve', npm, [], 'npx agentserve'],
  ['pnpm exec', shim, pnpm, [], 'pnpm exec agentserve'],
  ['yarn', local, 'yarn/4.0.0 npm/?', [], 'yarn agentserve'],
  ['bunx', local, 'bun/1.2.0 npm/?', [], 'bunx agentserve'],
  ['its file in the project', local, undefined, [], 'npx agentserve'],
  ['its file in a project of pnpm', shim, undefined, ['/home/ann/project/pnpm-lock.yaml'], 'pnpm exec agentserve'],
  ['its name, from the path', '/usr/bin/agentserve', undefined, ['/usr/bin/agentserve'], 'agentserve'],
  ['its name, in a script of npm', '/usr/bin/agentserve', npm, ['/usr/bin/agentserve'], 'agentserve'],
  ['npx, in the repository itself', '/src/agentserve/bin/agentserve.js', npm, [], 'npx agentserve'],
  ['its file elsewhere', '/src/agentserve/bin/agentserve.js', undefined, [], 'agentserve'],
  ['another program', '/home/ann/project/node_modules/vitest/vitest.mjs', npm, [], 'agentserve'],
])('hints name the way it was called: %s', (_, script, agent, files, called) => {
  const environment = { PATH: '/home/ann/project/node_modules/.bin:/usr/bin', npm_config_user_agent: agent }
  const folder = '/home/ann/project/packages/app'
  const exists = (path: string) => path === local || files.includes(path)
  expect(calledAs({ script, folder, environment, exists })).toBe(called)
})
