/** The first line of a function with a body, and its margin, as the formatter writes it. */
const opening = /^( *(?:[?:] )?)(?:.*=>|.*\)(?:: [^=]+)?) \{$/
/** Statements that end like one. */
const statement = /^ *(?:\} )?(?:if|else|for|while|switch|catch|do)\b/

/**
 * Lines at which functions of more lines begin, told by the formatter, which puts their ends under
 * each other.
 */
export function longFunctions(text: string, linesMax: number): number[] {
  return bodies(text).flatMap(([start, lines]) => (lines > linesMax ? [start + 1] : []))
}

/** The lines of each function; an arrow without a block has those of its expression, taken as one. */
export function functionLines(text: string): number[] {
  const lines = text.split('\n')
  const blocks = bodies(text).flatMap(([start, length]) =>
    statement.test(lines[start] ?? '') ? [] : [length],
  )
  return [...blocks, ...[...text.matchAll(/=>(?! \{$)/gm)].map(() => 1)]
}

/** Where each begins, and its lines. */
function bodies(text: string): (readonly [start: number, lines: number])[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const margin = line.match(opening)?.[1]
    if (margin === undefined) return []
    const indent = ' '.repeat(margin.length)
    const end = lines.findIndex((other, index) => index > start && other.startsWith(`${indent}}`))
    return [[start, end - start + 1] as const]
  })
}
