import { spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { follow, type Running } from '../program.ts'

/** Why no process can have a system of its own here, or undefined. */
export function whyNotIsolated(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can make namespaces'
  const { status, stderr } = spawnSync('unshare', [...flags, 'setpriv', '--no-new-privs', 'true'])
  return status === 0 ? undefined : `no namespaces can be made: ${stderr}`
}

const flags = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child']

// Everything can be read only, but for these folders, and what is mounted elsewhere than at the root.
const script = `
mount --make-rprivate /
for folder in "$DATA" "$TMPDIR"; do mount --bind "$folder" "$folder"; done
mount --bind "$PWD" "$PWD.below" && mount -o remount,bind,ro "$PWD.below"
mount -o remount,bind,ro /
cd "$PWD.below"
exec setpriv --reuid="$RUN_UID" --regid="$RUN_GID" --clear-groups --no-new-privs --bounding-set=-all -- "$@"`

export interface IsolatedOptions {
  /** The working folder. Beside it, an empty one with the same name and `.below` is where it is seen. */
  folder: string
  data: string
  temporary: string
  user: { uid: number; gid: number }
  env: Record<string, string>
}

/**
 * Runs a command as a container does: as the first process of its own, of this user, without capabilities, and on a file
 * system that can only be read. `signal` reaches the command itself.
 */
export function runIsolated(
  command: readonly string[],
  { folder, data, temporary, user, env }: IsolatedOptions,
): Running & { signal(name: NodeJS.Signals): void } {
  const child = spawn('unshare', [...flags, 'sh', '-euc', script, 'sh', ...command], {
    cwd: folder,
    env: { ...env, DATA: data, TMPDIR: temporary, RUN_UID: String(user.uid), RUN_GID: String(user.gid) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  return {
    ...follow(child),
    signal(name) {
      const inside = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').trim()
      process.kill(Number(inside), name)
    },
  }
}
