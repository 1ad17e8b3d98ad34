/** A credential as its row keeps it: whoever reads the database alone pays nothing with it. */
import { isRecord } from '#primitives.ts'
import type { Sealer } from '#rows/sealing.ts'

type Headers = Readonly<Record<string, string>>

export const sealHeaders = (sealer: Sealer, spendId: string, headers: Headers): Uint8Array =>
  sealer.seal(Buffer.from(JSON.stringify(headers)), contextOf(spendId))

/** @throws SealBrokenError */
export function openHeaders(sealer: Sealer, spendId: string, sealed: Uint8Array): Headers {
  const read: unknown = JSON.parse(Buffer.from(sealer.open(sealed, contextOf(spendId))).toString())
  return Object.fromEntries(
    Object.entries(isRecord(read) ? read : {}).map(([name, value]) => [name, String(value)]),
  )
}

const contextOf = (spendId: string): string => `spend:${spendId}:credential`
