/** Numbers as people write them: `1 block`, `12,345 blocks`, `no keys`, `3.8 MB`. */

/** Digits in groups of three. */
export const grouped = (value: number): string => value.toLocaleString('en-US')

/** How many of what; `plural` where it is not the word with an s. Zero is `no`. */
export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${value === 0 ? 'no' : grouped(value)} ${value === 1 ? noun : plural}`

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB'] as const
const UNIT_BYTES = 1_000

/** Decimal units, as disks are sold: `0 B`, `812 B`, `3.8 MB`, `41 GB`. */
export function byteSize(bytes: number): string {
  let amount = bytes
  let unit = 0
  // From here on the rounded amount would be written with a fourth digit.
  while (amount >= UNIT_BYTES - 0.5 && unit < byteUnits.length - 1) {
    amount /= UNIT_BYTES
    unit += 1
  }
  const digits = unit > 0 && amount < 9.95 ? 1 : 0
  return `${amount.toFixed(digits)} ${byteUnits[unit]}`
}
