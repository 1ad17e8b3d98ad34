/** JSON made readable without reading it: each number keeps all of its digits. */

/** Cut to `charactersMax` of the text, and indented. */
export function indented(json: string, charactersMax: number): string {
  const tokens = json.slice(0, charactersMax).match(/"(?:[^"\\]|\\.)*"?|[[\]{},:]|[^\s"[\]{},:]+/gs) ?? []
  let depth = 0
  let text = ''
  for (const [at, token] of tokens.entries()) {
    const next = tokens[at + 1]
    if (token === '}' || token === ']') depth = Math.max(0, depth - 1)
    const isEmpty = (token === '{' && next === '}') || (token === '[' && next === ']')
    const closes = (token === '}' && tokens[at - 1] !== '{') || (token === ']' && tokens[at - 1] !== '[')
    text += closes ? `\n${'  '.repeat(depth)}${token}` : token
    if (token === '{' || token === '[') depth += 1
    if (((token === '{' || token === '[') && !isEmpty) || token === ',') text += `\n${'  '.repeat(depth)}`
    if (token === ':') text += ' '
  }
  return text
}
