/**
 * Lines at which functions of more lines begin, told by the formatter, which puts their ends under
 * each other.
 */
export function longFunctions(text: string, linesMax: number): number[] {
  const lines = text.split('\n')
  return lines.flatMap((line, start) => {
    const margin = line.match(/^( *(?:[?:] )?)(?:.*=>|.*\)(?:: [^=]+)?) \{$/)?.[1]
    if (margin === undefined) return []
    const indent = ' '.repeat(margin.length)
    const end = lines.findIndex((other, index) => index > start && other.startsWith(`${indent}}`))
    return end - start + 1 > linesMax ? [start + 1] : []
  })
}
