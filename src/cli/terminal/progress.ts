import { isDumb } from './has-terminal.ts'
import { terminalLine } from './text.ts'

export interface Progress {
  update(done: number, total: number, label: string): void
  end(): void
}

const barWidth = 24
const drawEveryMs = 50

/** A progress bar on stderr when it is a terminal, else nothing. */
export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  if (!stream.isTTY || isDumb()) return { update() {}, end() {} }
  let drawnMs = 0
  return {
    update(done, total, label) {
      const nowMs = performance.now()
      if (nowMs - drawnMs < drawEveryMs && done < total) return
      drawnMs = nowMs
      const filled = total === 0 ? barWidth : Math.round((done / total) * barWidth)
      const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled)
      const line = `${bar} ${done}/${total} ${terminalLine(label)}`
      stream.write(`\r\x1b[K${line.slice(0, Math.max(10, stream.columns - 1))}`)
    },
    end: () => void stream.write('\r\x1b[K'),
  }
}
