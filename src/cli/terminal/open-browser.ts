import { spawn } from 'node:child_process'

/** Opens a page in the user's browser, or in the program that `BROWSER` names; calls `failed` when it can't. */
export function openBrowser(url: string, failed: () => void): void {
  const named = process.env.BROWSER
  const [command, ...args] =
    named !== undefined && named !== ''
      ? [named, url]
      : process.platform === 'darwin'
        ? ['open', url]
        : process.platform === 'win32'
          ? ['cmd', '/c', 'start', '""', url]
          : ['xdg-open', url]
  const child = spawn(command, args, { stdio: 'ignore', detached: true })
  child.on('error', failed).on('exit', (code) => {
    if (code !== 0 && code !== null) failed()
  })
  child.unref()
}
