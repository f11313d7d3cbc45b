import { spawn } from 'node:child_process'
import { join } from 'node:path'

/** A program with its arguments, or why there is none. */
export type BrowserCommand = readonly [program: string, ...args: string[]] | { reason: string }

/**
 * Opens a page in the user's browser, or in the program that `BROWSER` names. Calls `failed` with the reason when there is no
 * browser here or it does not start; it never throws.
 */
export function openBrowser(url: string, failed: (reason: string) => void): void {
  const command = browserCommand(url, process.platform, process.env)
  if ('reason' in command) {
    failed(command.reason)
    return
  }
  const [program, ...args] = command
  try {
    const child = spawn(program, args, { stdio: 'ignore', detached: true, windowsHide: true })
    child.on('error', (error) => failed(reasonOf(program, error)))
    child.on('exit', (code) => {
      if (code !== 0 && code !== null) failed(`${program} ended with code ${code}`)
    })
    child.unref()
  } catch (error) {
    failed(reasonOf(program, error as Error))
  }
}

/** No shell reads the address. Over SSH and in CI a browser would open where nobody looks, if at all. */
export function browserCommand(url: string, platform: NodeJS.Platform, env: NodeJS.ProcessEnv): BrowserCommand {
  if (env.BROWSER === 'none') return { reason: 'BROWSER is none' }
  if (env.BROWSER) return [env.BROWSER, url]
  if (env.CI) return { reason: 'this is CI' }
  if (env.SSH_CONNECTION || env.SSH_TTY) return { reason: 'this is a session over SSH' }
  if (platform === 'darwin') return ['open', url]
  if (platform === 'win32') {
    return [join(env.SYSTEMROOT ?? 'C:\\Windows', 'System32', 'rundll32.exe'), 'url.dll,FileProtocolHandler', url]
  }
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return { reason: 'there is no display' }
  return ['xdg-open', url]
}

function reasonOf(program: string, error: NodeJS.ErrnoException): string {
  return error.code === 'ENOENT' ? `there is no program ${program}` : `${program}: ${error.message}`
}
