import { spawn } from 'node:child_process'
import { environment } from './run-program.ts'

const script = `
read -r _
lock="$1/data/postmaster.pid"
pid=$(head -n 1 "$lock") && kill -QUIT "$pid"
for turn in 1 2 3 4 5 6 7 8 9 10; do [ -e "$lock" ] && sleep 0.5; done
rm -rf "$2"`

/**
 * Kills the server in this folder and removes the other folder when this process ends without having called the function
 * that is returned. A shell waits for the end of a pipe, which even SIGKILL closes.
 */
export function watchOver(folder: string, remove: string): () => Promise<void> {
  const dog = spawn('/bin/sh', ['-c', script, 'watchdog', folder, remove], {
    cwd: '/',
    // Ctrl-C in a terminal goes to all processes of the group.
    detached: true,
    env: environment,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  dog.stdin.on('error', () => undefined)
  dog.unref()
  if ('unref' in dog.stdin && typeof dog.stdin.unref === 'function') dog.stdin.unref()
  const ended = new Promise((resolve) => dog.once('exit', resolve).once('error', resolve))
  return async () => {
    dog.ref()
    dog.kill('SIGKILL')
    await ended
  }
}
