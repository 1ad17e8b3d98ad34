/** Texts that people write into the 32 bytes of a memo. */
import { keccak256, stringToHex, toHex } from 'viem'
import { attributionTag } from '#local/devchain/traffic/memo.ts'
import type { Hex } from '#primitives.ts'
import { type Random, sha256 } from '../random.ts'

/** Services that machines pay; their memos carry a fingerprint of the name. */
const services = ['api.example.com', 'search.example.org', 'images.example.net']
const texts = ['☃ naïve', 'a\u0000b', '{"ref":1}', "'; --", ' ']

export function writeMemo(random: Random): Hex {
  const style = random.below(8)
  if (style < 3) return text(`INV-${random.between(1000, 9999)}-${random.between(1, 99)}`)
  if (style === 3) return toHex(random.between(1, 1e9), { size: 32 })
  if (style === 4) return `0x${sha256(random.next())}`
  if (style === 5) return text(random.pick(texts))
  if (style === 6) return `0x${'ff'.repeat(random.between(0, 2) * 16).padEnd(64, '0')}`
  return attribution(random)
}

/** The memo of a machine payment: tag, version 1, service, client or zeros, nonce. */
function attribution(random: Random): Hex {
  const client = random.chance(0.5) ? fingerprint('client.example.com') : '00'.repeat(10)
  const service = fingerprint(random.pick(services))
  return `${attributionTag}01${service}${client}${sha256(random.next()).slice(0, 14)}`
}

const text = (words: string) => stringToHex(words, { size: 32 })
const fingerprint = (name: string) => keccak256(stringToHex(name)).slice(2, 22)
