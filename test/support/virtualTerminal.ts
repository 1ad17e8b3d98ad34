/**
 * A terminal's screen after some output: the few control sequences the program uses, wrapping, and
 * scrolling.
 */

/** Cursor up, erase below, the two ends of a line, and characters. */
const ESCAPE = String.fromCharCode(27)
const tokens = new RegExp(`${ESCAPE}\\[(\\d+)A|${ESCAPE}\\[J|\\r|\\n|([^${ESCAPE}\\r\\n])`, 'gu')

/** The lines on the screen and those scrolled off above it, without trailing empty ones. */
export function showOnTerminal(output: string, columns = 80, rows = 24): string[] {
  const lines: string[] = ['']
  let row = 0
  let column = 0
  const put = (text: string) => {
    const line = (lines[row] ?? '').padEnd(column)
    lines[row] = line.slice(0, column) + text + line.slice(column + text.length)
    column += text.length
  }
  const newLine = () => {
    row += 1
    column = 0
    lines[row] ??= ''
  }
  for (const [token, up, text] of output.matchAll(tokens)) {
    if (text !== undefined) {
      if (column >= columns) newLine()
      put(text)
    } else if (token === '\n') newLine()
    else if (token === '\r') column = 0
    // The cursor stops at the top of the screen: what scrolled away cannot be reached.
    else if (up !== undefined) row = Math.max(row - Number(up), Math.max(0, lines.length - rows))
    else {
      lines.length = row + 1
      lines[row] = (lines[row] ?? '').slice(0, column)
    }
  }
  while (lines.at(-1) === '') lines.pop()
  return lines
}
