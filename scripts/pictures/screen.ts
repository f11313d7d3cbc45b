import type { IBuffer, IBufferCell } from '@xterm/headless'

/** What a terminal shows: rows of pieces, each in one style. */
export type Screen = Piece[][]

export interface Piece {
  /** Where it begins. */
  column: number
  text: string
  /** How many columns it takes. */
  width: number
  style: Style
}

export interface Style {
  /** `#rrggbb`, or a number of the terminal's 16 colours. */
  colour?: string | number
  bold?: boolean
  dim?: boolean
  italic?: boolean
  underline?: boolean
  inverse?: boolean
}

/** Everything that the terminal holds, without the empty rows at the end. */
export function readScreen(buffer: IBuffer): Screen {
  const rows = Array.from({ length: buffer.length }, (_, row) => readRow(buffer, row))
  return rows.slice(0, rows.findLastIndex((row) => row.length > 0) + 1)
}

function readRow(buffer: IBuffer, row: number): Piece[] {
  const line = buffer.getLine(row)
  const pieces: Piece[] = []
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column)
    if (cell === undefined || cell.getWidth() === 0) continue
    const style = readStyle(cell)
    const last = pieces.at(-1)
    if (last !== undefined && JSON.stringify(last.style) === JSON.stringify(style)) {
      last.text += cell.getChars() || ' '
      last.width += cell.getWidth()
    } else pieces.push({ column, text: cell.getChars() || ' ', width: cell.getWidth(), style })
  }
  const end = pieces.findLastIndex(({ text, style }) => text.trim() !== '' || style.inverse === true)
  return pieces.slice(0, end + 1)
}

function readStyle(cell: IBufferCell): Style {
  return {
    ...(cell.isFgDefault() ? {} : { colour: readColour(cell) }),
    ...(cell.isBold() ? { bold: true } : {}),
    ...(cell.isDim() ? { dim: true } : {}),
    ...(cell.isItalic() ? { italic: true } : {}),
    ...(cell.isUnderline() ? { underline: true } : {}),
    ...(cell.isInverse() ? { inverse: true } : {}),
  }
}

function readColour(cell: IBufferCell): string | number {
  const colour = cell.getFgColor()
  if (cell.isFgRGB()) return `#${colour.toString(16).padStart(6, '0')}`
  if (colour < 16) return colour
  // The 6 × 6 × 6 cube of a terminal with 256 colours, then its greys.
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step)
  const [red, green, blue] =
    colour < 232
      ? [Math.floor((colour - 16) / 36), Math.floor((colour - 16) / 6) % 6, (colour - 16) % 6].map(level)
      : [0, 0, 0].map(() => 8 + 10 * (colour - 232))
  return `#${[red, green, blue].map((value) => (value ?? 0).toString(16).padStart(2, '0')).join('')}`
}

/** The screen with what differs each time (as `masks` find it) replaced; what comes after it in its row moves along. */
export function mask(screen: Screen, masks: readonly (readonly [RegExp, string])[]): Screen {
  return screen.map((row) => {
    let moved = 0
    return row.map(({ column, text, width, style }) => {
      const masked = masks.reduce((before, [pattern, replacement]) => before.replace(pattern, replacement), text)
      const piece = { column: column + moved, text: masked, width: width + masked.length - text.length, style }
      moved += masked.length - text.length
      return piece
    })
  })
}
