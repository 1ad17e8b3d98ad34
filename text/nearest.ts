/** The name that was meant. */

/** Letters that may be wrong, by length of the name. */
const mistakesMax = (length: number): number => (length < 4 ? 1 : length < 8 ? 2 : 3)

/** The known name that is nearest to one that is not known; case and underscores do not matter. */
export function nearestOf(name: string, known: readonly string[]): string | undefined {
  const wanted = plain(name)
  let best: string | undefined
  let least = mistakesMax(wanted.length) + 1
  for (const candidate of known) {
    const other = plain(candidate)
    // A longer name may begin or end with the one that was written, as `block_number` with `block_num`.
    const isPart =
      wanted.length >= 4 && other.length >= 3 && (other.startsWith(wanted) || wanted.startsWith(other))
    const mistakes = isPart ? Math.min(1, mistakesBetween(wanted, other)) : mistakesBetween(wanted, other)
    if (mistakes >= least) continue
    least = mistakes
    best = candidate
  }
  return best
}

/** Whether a name is another one but for one letter, two that changed places, or underscores. */
export function isSlipOf(name: string, known: string): boolean {
  const [wanted, other] = [plain(name), plain(known)]
  if (Math.abs(wanted.length - other.length) > 1) return false
  const mistakes = mistakesBetween(wanted, other)
  const sorted = (text: string) => [...text].sort().join('')
  return mistakes <= 1 || (mistakes === 2 && sorted(wanted) === sorted(other))
}

const plain = (name: string): string => name.toLowerCase().replaceAll('_', '').slice(0, CHARACTERS_MAX)

const CHARACTERS_MAX = 64

/** Letters to change, leave out or put in. */
function mistakesBetween(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [at, letter] of [...left].entries()) {
    const next = [at + 1]
    for (const [index, other] of [...right].entries()) {
      const changed = (row[index] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(changed, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
