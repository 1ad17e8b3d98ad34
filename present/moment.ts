import { isoSeconds } from '#http/schema.ts'

/** 9999-12-31T23:59:59Z: what lies beyond has no four-digit year. */
const SECONDS_MAX = 253_402_300_799

/**
 * A moment a transaction's sender chose freely; null when it is beyond what a date can say
 * ("never").
 */
export function momentOrNull(seconds: number | bigint): string | null {
  return seconds > SECONDS_MAX ? null : isoSeconds(Number(seconds))
}
