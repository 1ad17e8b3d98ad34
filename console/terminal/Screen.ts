/** The lowest lines of a terminal, redrawn in place, with logs scrolling above them. */
import { renderLogLine } from './logLine.ts'

/** The part of `process.stdout` that it needs. */
export interface ScreenStream {
  readonly isTTY?: boolean
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  write(text: string): unknown
}

/** A terminal that tells no size, as in some containers and CI. */
const COLUMNS_DEFAULT = 80
const ROWS_DEFAULT = 24

/** Carriage return, then erase from the cursor to the end of the screen. */
const ERASE_BELOW = '\r\x1b[J'
const cursorUp = (rows: number) => (rows > 0 ? `\x1b[${rows}A` : '')

export class Screen {
  readonly #stream: ScreenStream
  /** The lines on the screen now that the next drawing replaces. */
  #drawn: readonly string[] = []

  constructor(stream: ScreenStream) {
    this.#stream = stream
  }

  /** False for a pipe or a file: nothing can be redrawn there. */
  get isTerminal(): boolean {
    return this.#stream.isTTY === true
  }

  /** A destination for JSON log lines; a person reads them here, so they are shown as text. */
  get logs(): { write(line: string): void } {
    return { write: (line) => this.print(renderLogLine(line)) }
  }

  /**
   * Replaces what was drawn before. Lines are cut to the width and to the height: what scrolls away
   * cannot be redrawn.
   */
  draw(lines: readonly string[]): void {
    const width = this.#stream.columns || COLUMNS_DEFAULT
    const height = this.#stream.rows || ROWS_DEFAULT
    const fitting = lines.slice(0, height - 1).map((line) => cut(line, width))
    this.#stream.write(`${this.#erase()}${fitting.map((line) => `${line}\n`).join('')}`)
    this.#drawn = fitting
  }

  /** Writes text that stays, above what is drawn. */
  print(text: string): void {
    const view = this.#drawn.map((line) => `${line}\n`).join('')
    this.#stream.write(`${this.#erase()}${text.trimEnd()}\n${view}`)
  }

  #erase(): string {
    if (this.#drawn.length === 0) return ''
    // A window made narrower since has wrapped them.
    const width = this.#stream.columns || COLUMNS_DEFAULT
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / width)), 0)
    return `${cursorUp(rows)}${ERASE_BELOW}`
  }
}

const cut = (line: string, width: number): string =>
  line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`
