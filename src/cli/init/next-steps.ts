import { relative } from 'node:path'
import { callThrough, packageManager } from '../terminal/called-as.ts'
import { type TemplateName, templates } from './template.ts'

/** What to type after `init`, with the package manager that called it. */
export function nextSteps(target: string, template: TemplateName): string {
  const folder = relative(process.cwd(), target)
  const manager = packageManager() ?? 'npm'
  const run = manager === 'npm' || manager === 'bun' ? `${manager} run` : manager
  const chosen = templates[template]
  const first = 'script' in chosen ? `${run} ${chosen.script}` : `${callThrough[manager]} ${chosen.first}`
  const steps = [
    `${manager} install`,
    `${run} test`.replace('npm run test', 'npm test'),
    `${run} dev`,
    `${first}   (in another terminal)`,
  ]
  return ['Next:', ...(folder === '' ? steps : [`cd ${folder}`, ...steps]).map((step) => `  ${step}`)].join('\n')
}
