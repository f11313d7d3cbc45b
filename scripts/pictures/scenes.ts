import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { command, createProject, type Project } from '../../test/support/program.ts'
import { openPty, type Pty } from '../../test/support/pty.ts'
import { openPlayedModel } from './played-model.ts'
import { mask, type Piece, readScreen, type Screen } from './screen.ts'
import { type Frame, toSvg } from './svg.ts'

const columns = 100
const question = 'What is the daily allowance abroad?'
/** The only thing that is played: what a model would say, in the pieces in which it would come. */
const words = [
  'Abroad the daily allowance is **60 euros** ',
  '[1]:\n\n| Where | A day |\n|---|---|\n| at home | 40 € |\n| abroad | 60 € |\n\n',
  'Hand in the receipts within thirty days.',
]

/** The pictures of the terminal by name, from the real program in a project of the template `knowledge`. */
export async function terminalPictures(): Promise<Record<string, string>> {
  const home = await createProject()
  const model = await openPlayedModel(words)
  // What no two runs have in common; times are set to some that a local model could take.
  const masks: [RegExp, string][] = [
    [new RegExp(model.url, 'g'), 'http://127.0.0.1:11434'],
    [/127\.0\.0\.1:(?!11434)\d+/g, '127.0.0.1:8080'],
    [/\b\d+(?:\.\d)? m?s\b/g, '1.4 s'],
    [/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] 1\.4 s(?= · )/, '⠋ 1 s'],
    [/(?<=first )1\.4 s/, '310 ms'],
    [/(?<=chunks, |Reloaded .*)1\.4 s/, '12 ms'],
    [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '2026-11-21 10:00:00'],
    [/\bses_\w{26}\b/g, 'ses_01m8y3c9ph8r1d3m5n7p9s2t4v'],
    [/…\w{6}(?= )/g, '…9s2t4v'],
  ]
  const opened: Pty[] = []
  const scene: Scene = {
    folder: `${home.folder}/my-agents`,
    open(args, rows = 40) {
      const pty = openPty(scene, args, { columns, rows })
      opened.push(pty)
      return pty
    },
    see: (pty) => mask(readScreen(pty.buffer()), masks),
  }
  try {
    await finish(home, 'init', 'my-agents', '--template', 'knowledge')
    const ask = await askScreen(scene)
    const edit = async (change: (config: string) => string) => {
      const path = 'my-agents/agent.config.ts'
      // In one step, as editors save: dev must not meet half a file.
      await home.write(`${path}.new`, change(await home.read(path)))
      await rename(join(home.folder, `${path}.new`), join(home.folder, path))
    }
    await edit((config) => config.replace(/\/\/ (model: .*'http:\/\/)[^/]*/, `$1${new URL(model.url).host}`))
    const dev = scene.open(['dev', '--port', '0'])
    await dev.until(/\d+ documents/)
    const chat = await chatFrames(scene, model.next)
    await dev.until('completed')
    const browser = await browserFrames(scene)
    await edit((config) => config.replace('Answer from the passages alone', 'Answer briefly, from the passages alone'))
    await dev.until('Reloaded')
    const served = [prompt('npx agentserve dev'), ...scene.see(dev)]
    return {
      'dev.svg': toSvg([{ screen: served, seconds: 1 }], 'npx agentserve dev', columns),
      'chat.svg': toSvg(chat, 'npx agentserve chat handbook', columns),
      'sessions.svg': toSvg(browser, 'npx agentserve sessions', columns),
      'ask.svg': toSvg([{ screen: ask, seconds: 1 }], 'npx agentserve ask', columns),
    }
  } finally {
    for (const pty of opened) await pty.close()
    await model.close()
    await home.remove()
  }
}

interface Scene {
  folder: string
  /** `agentserve` with these arguments in a terminal, which is closed at the end. */
  open(args: readonly string[], rows?: number): Pty
  see(pty: Pty): Screen
}

async function askScreen({ open, see }: Scene): Promise<Screen> {
  const pty = open(['ask', question, 'docs'])
  await pty.exited
  return [prompt(`npx agentserve ask "${question}" docs`), ...see(pty)]
}

async function chatFrames({ open, see }: Scene, next: () => Promise<void>): Promise<Frame[]> {
  const pty = open(['chat', 'handbook'])
  const frames: Frame[] = []
  const take = (seconds: number) => frames.push({ screen: see(pty), seconds })
  // The terminal echoes what comes before the program takes its keys, pastes among them.
  await pty.until((now) => now.text().includes('Enter sends') && now.raw().includes('\x1b[?2004h'))
  take(1)
  let typed = ''
  for (const word of question.split(/(?= )/)) {
    pty.send(word)
    typed += word
    await pty.until(`> ${typed}`)
    take(0.3)
  }
  pty.send('\r')
  for (const shown of [/handbook\n[\s\S]*Ctrl-C cancels/, /60 euros[\s\S]*≈ \d+/, '40 €', 'thirty days']) {
    await pty.until(shown)
    take(0.8)
    await next()
  }
  // What the answer took comes after its end.
  await pty.until((now) => /tokens in, [\s\S]*\nEnter sends/.test(now.screen().join('\n')))
  take(6)
  return frames
}

async function browserFrames({ open, see }: Scene): Promise<Frame[]> {
  const pty = open(['sessions'], 21)
  // What each is about comes after the list.
  await pty.until(/(?:1 run {2}\S[\s\S]*){2}Enter opens/)
  const list = { screen: see(pty), seconds: 3 }
  pty.send('\r')
  // The last line of the run; the sources above it come one after the other.
  await pty.until(/thirty days[\s\S]*completed[^\n]*tokens in[\s\S]*q quit/)
  return [list, { screen: see(pty), seconds: 6 }]
}

/** The line that calls for what a screen shows. */
function prompt(line: string): Piece[] {
  return [
    { column: 0, text: '$ ', width: 2, style: { colour: 2 } },
    { column: 2, text: line, width: line.length, style: { bold: true } },
  ]
}

async function finish(project: Project, ...args: string[]): Promise<void> {
  const { code, stderr } = await command(project, args)
  if (code !== 0) throw new Error(`agentserve ${args.join(' ')}: ${stderr}`)
}
