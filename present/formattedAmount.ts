/** Amounts in a token's own unit. */
import * as s from '#http/schema.ts'

export const formattedSchema = s.nullable(
  s.text({
    pattern: '^-?[0-9]+(\\.[0-9]+)?$',
    description: "The amount in the token's own unit; null where its decimals are not known.",
    examples: ['1.5'],
  }),
)

/**
 * The amount with a point so many digits before its end, without zeros that say nothing; null where
 * nobody knows how many. Each digit is looked at once, however many there are.
 */
export function formattedAmount(amount: bigint, decimals: number | null): string | null {
  if (decimals === null) return null
  const digits = `${amount < 0n ? -amount : amount}`.padStart(decimals + 1, '0')
  const point = digits.length - decimals
  let end = digits.length
  while (end > point && digits[end - 1] === '0') end -= 1
  const fraction = end > point ? `.${digits.slice(point, end)}` : ''
  return `${amount < 0n ? '-' : ''}${digits.slice(0, point)}${fraction}`
}
