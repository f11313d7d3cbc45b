/** Whether escape codes may be printed: not with `--plain` or TERM=dumb. */
export function isDumb(environment = process.env): boolean {
  return environment.TERM === 'dumb'
}

/** Whether the program can draw on the terminal and read keys from it. */
export function hasTerminal(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isDumb()
}
