/** Texts that people write into the 32 bytes of a memo. */
import { keccak256, stringToHex } from 'viem'
import type { Hex } from '#primitives.ts'
import type { Dice } from './Dice.ts'

/** Services that machines pay; their memos carry a fingerprint of the name. */
const services = ['api.weather.example', 'search.example', 'images.example']
const clients = ['wallet-7.example', 'crawler.example']

/** First four bytes of keccak256("mpp"): marks the memo of a machine payment. */
export const attributionTag: Hex = '0xef1ed712'

/** A memo in one of the ways found on chain. */
export function writeMemo(dice: Dice): Hex {
  const write = dice.pick([
    text,
    text,
    invoice,
    invoice,
    attribution,
    attribution,
    attribution,
    number,
    digest,
  ])
  return write(dice)
}

/**
 * The memo of a machine payment: tag, version 1, ten bytes of the service's fingerprint, ten of the
 * client's or zeros, seven of the challenge's.
 */
export function attribution(dice: Dice): Hex {
  const client = dice.chance(0.5) ? fingerprint(dice.pick(clients)) : '00'.repeat(10)
  return `${attributionTag}01${fingerprint(dice.pick(services))}${client}${dice.bytes(7).slice(2)}`
}

function fingerprint(name: string): string {
  return keccak256(stringToHex(name)).slice(2, 22)
}

function invoice(dice: Dice): Hex {
  return leftAligned(`INV-${dice.between(2024, 2026)}-${String(dice.between(1, 99_999)).padStart(5, '0')}`)
}

function text(dice: Dice): Hex {
  return leftAligned(
    dice.pick(['thanks!', 'rent, May', 'za kawę ☕', '{"order":42}', "'; --", ' ', 'a\u0000b']),
  )
}

/** A reference kept as a right-aligned number. */
function number(dice: Dice): Hex {
  return `0x${dice.between(1, 1_000_000_000).toString(16).padStart(64, '0')}`
}

function digest(dice: Dice): Hex {
  return dice.bytes(32)
}

function leftAligned(words: string): Hex {
  return `0x${stringToHex(words).slice(2).padEnd(64, '0')}`
}
