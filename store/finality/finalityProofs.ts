/**
 * Certificates that were checked, in Postgres. One is stored before anything becomes final by it, so
 * that no final block ever lacks its proof.
 */
import { certificateBytes, readCertificate } from '#ingest/finality/certificate/certificate.ts'
import type { BoundaryBlock } from '#ingest/finality/keys/followKey.ts'
import type { StoredProof } from '#ingest/finality/rules/ProvedFinality.ts'
import { assertFence, hashOf, type Queryable } from '../ledger/lane.ts'
import { isUncontradicted } from '../ledger/proofs.ts'
import type { Postgres } from '../postgres.ts'
import { relationOf, schemaOf, toBytes, toHex } from '../sql.ts'

/** The place in which a writer keeps proofs. */
export interface ProofPlace {
  readonly postgres: Postgres
  readonly chainId: number
  /** Fencing number of the writer's lease. */
  readonly fence: bigint
}

/** Blocks that lie at most between two proofs that are kept, where there were as many. */
const PROOF_STEP_BLOCKS = 256
/** Newest proofs of which none is pruned: what a new one is compared with. */
const PROOFS_COMPARED = 512

interface ProofRow {
  height: number
  digest: Buffer
  parent_hash: Buffer
  bytes: Buffer
  endpoint: string
  checked_at: Date
}

const columns = 'height, digest, parent_hash, bytes, endpoint, checked_at'

/**
 * Stores a proof; one of the same block stays as it was. Old ones between two that are near enough
 * go, but neither the last block of an epoch nor evidence does.
 * @throws FencedOutError
 */
export async function keepProof(
  { postgres, chainId, fence }: ProofPlace,
  { block, certificate, endpoint, checkedAtMs }: StoredProof,
  epochBlocks: number,
): Promise<void> {
  const schema = schemaOf(chainId)
  const proofs = relationOf(schema, 'finality_proofs')
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await client.query(
      `INSERT INTO ${proofs} (${columns}, epoch, view)
       VALUES ($1, $2, $3, $4, $5, to_timestamp($6::numeric / 1000), $7, $8) ON CONFLICT (height, digest) DO NOTHING`,
      [
        block.number,
        toBytes(block.hash),
        toBytes(block.parentHash),
        Buffer.from(certificateBytes(certificate)),
        endpoint,
        checkedAtMs,
        certificate.epoch,
        certificate.view,
      ],
    )
    await prune(client, proofs, epochBlocks)
  })
}

/** One that is new pushes another out of those that are compared: only the neighbour below that can go. */
async function prune(client: Queryable, proofs: string, epochBlocks: number): Promise<void> {
  await client.query(
    `WITH old AS (
       SELECT height, digest, lag(height) OVER w AS below, lead(height) OVER w AS above
       FROM (SELECT height, digest FROM ${proofs} ORDER BY height DESC, digest OFFSET ${PROOFS_COMPARED} LIMIT 3) AS oldest
       WINDOW w AS (ORDER BY height, digest)
     )
     DELETE FROM ${proofs} AS p USING old
     WHERE p.height = old.height AND p.digest = old.digest
       AND old.above - old.below <= ${PROOF_STEP_BLOCKS} AND (old.height + 1) % $1 <> 0
       AND ${isUncontradicted(proofs)}`,
    [epochBlocks],
  )
}

/** Height of the newest proof, or -1. */
export async function provedHeight(client: Queryable, schema: string): Promise<number> {
  const { rows } = await client.query<{ height: number | null }>(
    `SELECT max(height) AS height FROM ${relationOf(schema, 'finality_proofs')}`,
  )
  return rows[0]?.height ?? -1
}

/** The newest proof; null where none was ever stored. */
export async function newestProof(client: Queryable, chainId: number): Promise<StoredProof | null> {
  const [proof] = await readProofs(client, chainId, 'ORDER BY height DESC LIMIT 1')
  return proof ?? null
}

/**
 * The lowest proof at or above a height that no other one contradicts: it covers the block there, if
 * that is of its branch. Null where there is none.
 */
export async function coveringProof(
  client: Queryable,
  chainId: number,
  height: number,
): Promise<StoredProof | null> {
  const wanted = `AS p WHERE height >= $1 AND ${isUncontradicted(relationOf(schemaOf(chainId), 'finality_proofs'))}
    ORDER BY height LIMIT 1`
  const [proof] = await readProofs(client, chainId, wanted, [height])
  return proof ?? null
}

/** The proof of the block of this height; null where none is stored, or several contradict each other. */
export async function proofAt(
  client: Queryable,
  chainId: number,
  height: number,
): Promise<StoredProof | null> {
  const [proof, other] = await readProofs(client, chainId, 'WHERE height = $1 LIMIT 2', [height])
  return other ? null : (proof ?? null)
}

/** The proofs that a new one is compared with, by ascending height, and with them all evidence. */
export async function comparedProofs(client: Queryable, chainId: number): Promise<StoredProof[]> {
  const proofs = relationOf(schemaOf(chainId), 'finality_proofs')
  return readProofs(
    client,
    chainId,
    `WHERE height >= coalesce((SELECT height FROM ${proofs} ORDER BY height DESC OFFSET ${PROOFS_COMPARED - 1} LIMIT 1), 0)
        OR height IN (SELECT height FROM ${proofs} GROUP BY height HAVING count(*) > 1)
        OR height IN (SELECT below.height + beside FROM ${proofs} AS below
          JOIN ${proofs} AS above ON above.height = below.height + 1 AND above.parent_hash <> below.digest,
          generate_series(0, 1) AS beside)
        OR (epoch, view) IN (SELECT epoch, view FROM ${proofs} GROUP BY epoch, view HAVING count(*) > 1)
     ORDER BY height, checked_at`,
  )
}

/** An epoch's last block's word on the next epoch, if the block is held. */
export async function readBoundary(
  client: Queryable,
  chainId: number,
  height: number,
): Promise<BoundaryBlock | null> {
  const { rows } = await client.query<{ extra_data: Buffer }>(
    `SELECT extra_data FROM ${relationOf(schemaOf(chainId), 'blocks')} WHERE num = $1`,
    [height],
  )
  const [row] = rows
  return row ? { number: height, extraData: toHex(row.extra_data) } : null
}

/**
 * As `comparedProofs`, of a schema in any version and where there is none: finality is decided from
 * the first answer of an endpoint on, before the schema is brought up to date.
 */
export async function earlierProofs({ pool }: Postgres, chainId: number): Promise<StoredProof[]> {
  const { rows } = await pool.query<{ exists: boolean }>('SELECT to_regclass($1) IS NOT NULL AS exists', [
    relationOf(schemaOf(chainId), 'finality_proofs'),
  ])
  return rows[0]?.exists ? comparedProofs(pool, chainId) : []
}

async function readProofs(
  client: Queryable,
  chainId: number,
  wanted: string,
  parameters: readonly number[] = [],
): Promise<StoredProof[]> {
  const { rows } = await client.query<ProofRow>(
    `SELECT ${columns} FROM ${relationOf(schemaOf(chainId), 'finality_proofs')} ${wanted}`,
    [...parameters],
  )
  return rows.map((row) => ({
    certificate: readCertificate(new Uint8Array(row.bytes)),
    block: { number: row.height, hash: hashOf(row.digest), parentHash: hashOf(row.parent_hash) },
    endpoint: row.endpoint,
    checkedAtMs: row.checked_at.getTime(),
  }))
}
