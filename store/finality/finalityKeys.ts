/** Decisions about a chain's keys of finality, so that they hold at the next start and elsewhere. */

import { hexOf } from '#ingest/finality/certificate/certificate.ts'
import { isKeyRefusal, type KeyRefusal } from '#ingest/finality/keys/KeyRefusedError.ts'
import type { KeyDecision } from '#ingest/finality/keys/keyDecision.ts'
import { assertFence, hashOf, type Queryable } from '../ledger/lane.ts'
import { relationOf, schemaOf, toBytes } from '../sql.ts'
import type { ProofPlace } from './finalityProofs.ts'

/** In place of an earlier decision about the same epoch. @throws FencedOutError */
export async function keepKey(
  { postgres, chainId, fence }: ProofPlace,
  { fromEpoch, key, boundaryHash, refusal }: KeyDecision,
): Promise<void> {
  const schema = schemaOf(chainId)
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await client.query(
      `INSERT INTO ${relationOf(schema, 'finality_keys')} AS held (from_epoch, key, boundary_hash, refusal, decided_at)
       VALUES ($1, $2, $3, $4, now())
       ON CONFLICT (from_epoch) DO UPDATE SET key = excluded.key, boundary_hash = excluded.boundary_hash,
         refusal = excluded.refusal, decided_at = excluded.decided_at
       WHERE (held.key, held.boundary_hash, held.refusal)
         IS DISTINCT FROM (excluded.key, excluded.boundary_hash, excluded.refusal)`,
      [fromEpoch, key && toBytes(key), boundaryHash && toBytes(boundaryHash), refusal],
    )
  })
}

/** An epoch that was refused has the key of the one before after all. @throws FencedOutError */
export async function forgetRefusal(
  { postgres, chainId, fence }: ProofPlace,
  fromEpoch: number,
): Promise<void> {
  const schema = schemaOf(chainId)
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await client.query(
      `DELETE FROM ${relationOf(schema, 'finality_keys')} WHERE from_epoch = $1 AND refusal IS NOT NULL`,
      [fromEpoch],
    )
  })
}

/** By ascending epoch. */
export async function readKeys(client: Queryable, chainId: number): Promise<KeyDecision[]> {
  const { rows } = await client.query<{
    from_epoch: number
    key: Buffer | null
    boundary_hash: Buffer | null
    refusal: string | null
  }>(
    `SELECT from_epoch, key, boundary_hash, refusal FROM ${relationOf(schemaOf(chainId), 'finality_keys')}
     ORDER BY from_epoch`,
  )
  return rows.map(({ from_epoch: fromEpoch, key, boundary_hash: boundary, refusal }) => {
    const boundaryHash = boundary && hashOf(boundary)
    return key
      ? { fromEpoch, key: hexOf(key), boundaryHash, refusal: null }
      : { fromEpoch, key: null, boundaryHash, refusal: readRefusal(refusal) }
  })
}

function readRefusal(text: string | null): KeyRefusal {
  if (text !== null && isKeyRefusal(text)) return text
  throw new TypeError(`finality_keys holds a refusal that this version does not know: ${text}`)
}
