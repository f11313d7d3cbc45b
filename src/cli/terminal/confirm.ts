import { createInterface } from 'node:readline/promises'

export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY
}

/** Asks on stderr; an empty line gives ''. Throws when the signal aborts. */
async function ask(question: string, signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return (await terminal.question(question, { signal })).trim()
  } finally {
    terminal.close()
  }
}

/** Asks until it gets an option, by name or number; an empty line chooses the first. */
export async function choose<T extends string>(
  question: string,
  choices: readonly { name: T; about: string }[],
  signal: AbortSignal,
): Promise<T> {
  const width = Math.max(...choices.map(({ name }) => name.length))
  const list = choices.map(({ name, about }, place) => `  ${place + 1}  ${name.padEnd(width)}  ${about}`).join('\n')
  for (;;) {
    const answer = await ask(`${question}\n${list}\nNumber or name [${choices[0]?.name}]: `, signal)
    const chosen =
      answer === '' ? choices[0] : (choices.find(({ name }) => name === answer) ?? choices[Number(answer) - 1])
    if (chosen !== undefined) return chosen.name
  }
}

/** No unless the user says yes. */
export async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(`${question} [y/N]: `, signal))
}
