/**
 * Opens a chain's ledger: its schema, its lanes, and the proof that node, Postgres and ClickHouse
 * belong together. Nothing is written for a chain before this has passed.
 */

import { failure } from '#errors.ts'
import type { BlockRange } from '#ingest/range.ts'
import type { LoosePart } from '#ingest/read/looseParts.ts'
import type { HeaderRule } from '#ingest/verify/parts/header.ts'
import type { BlockRef, Hash } from '#primitives.ts'
import type { Postgres } from '../postgres.ts'
import { quoteIdentifier, schemaOf, toBytes } from '../sql.ts'
import { claimChain } from './claim.ts'
import { assertFence, hashOf, type Queryable, readLane } from './lane.ts'
import { assertProjectionsCurrent, insertCoverages } from './projectionVersions.ts'

export interface ChainIdentity {
  readonly chainId: number
  readonly genesisHash: Hash
  readonly headerRule: HeaderRule
  /** The parts that blocks of this chain do not prove; absent, none. */
  readonly loose?: readonly LoosePart[]
  /**
   * The parts of this that one endpoint of several told alone, until a second one tells them too; `header`
   * stands for the rule of headers.
   */
  readonly alone?: readonly LoosePart[]
  /** The parts that one told alone and others contradicted: blocks stored before may not prove them. */
  readonly dropped?: readonly LoosePart[]
  /** First block of the history we want. */
  readonly startBlock: number
}

/** Postgres' knowledge of a chain, or null if it was never opened here. */
export async function readChainIdentity(postgres: Postgres, chainId: number): Promise<ChainIdentity | null> {
  const result = await postgres.pool.query<{
    genesis_hash: Buffer
    header_rule: HeaderRule
    loose_parts: readonly LoosePart[]
    alone_parts: readonly LoosePart[]
    dropped_parts: readonly LoosePart[]
    start_block: number
  }>(
    `SELECT genesis_hash, header_rule, loose_parts, alone_parts, dropped_parts, start_block
     FROM ${quoteIdentifier(schemaOf(chainId))}.chain`,
  )
  const row = result.rows[0]
  return row
    ? {
        chainId,
        genesisHash: hashOf(row.genesis_hash),
        headerRule: row.header_rule,
        loose: row.loose_parts,
        alone: row.alone_parts,
        dropped: row.dropped_parts,
        startBlock: row.start_block,
      }
    : null
}

/** The genesis hash of a chain that is held; of a schema in any version, and null without one. */
export async function readGenesis({ pool }: Postgres, chainId: number): Promise<Hash | null> {
  const schema = quoteIdentifier(schemaOf(chainId))
  if (!(await haveTables(pool, [`${schema}.chain`]))) return null
  const held = await pool.query<{ genesis_hash: Buffer }>(`SELECT genesis_hash FROM ${schema}.chain`)
  return held.rows[0] ? hashOf(held.rows[0].genesis_hash) : null
}

/** The newest block held that was final; of a schema in any version, and null without one. */
export async function readNewestFinal(
  { pool }: Postgres,
  chainId: number,
): Promise<Pick<BlockRef, 'number' | 'hash'> | null> {
  const schema = quoteIdentifier(schemaOf(chainId))
  if (!(await haveTables(pool, [`${schema}.blocks`, `${schema}.lanes`]))) return null
  const { rows } = await pool.query<{ num: number; hash: Buffer }>(
    `SELECT num, hash FROM ${schema}.blocks
     WHERE num <= (SELECT max(finalized) FROM ${schema}.lanes) ORDER BY num DESC LIMIT 1`,
  )
  const [row] = rows
  return row ? { number: row.num, hash: hashOf(row.hash) } : null
}

async function haveTables(pool: Postgres['pool'], tables: readonly string[]): Promise<boolean> {
  const { rows } = await pool.query<{ exist: boolean }>(
    'SELECT bool_and(to_regclass(name) IS NOT NULL) AS exist FROM unnest($1::text[]) AS name',
    [tables],
  )
  return rows[0]?.exist ?? false
}

/**
 * Records a new chain, or checks that a known one is the same. The head lane begins at `headFrom`
 * the first time.
 * @throws GenesisMismatchError when the node's genesis is not the one this data belongs to,
 * ProjectionOutdatedError
 */
export async function openChain(
  postgres: Postgres,
  identity: ChainIdentity,
  headFrom: number,
  fence: bigint,
): Promise<void> {
  const schema = schemaOf(identity.chainId)
  const known = await readChainIdentity(postgres, identity.chainId)
  assertSameGenesis(identity, known)
  await claimChain(postgres, schema, fence, async (client) => {
    if (known) {
      await recordRules(client, schema, identity)
      await lowerStart(client, schema, identity)
    } else await recordChain(client, schema, identity)
    await assertProjectionsCurrent(client, schema)
    await insertCoverages(client, schema)
    await client.query(
      `INSERT INTO ${quoteIdentifier(schema)}.lanes (name, from_block, tip, finalized) VALUES ('head', $1::bigint, $1::bigint - 1, $1::bigint - 1)
       ON CONFLICT DO NOTHING`,
      [headFrom],
    )
  })
}

async function recordChain(client: Queryable, schema: string, identity: ChainIdentity): Promise<void> {
  await client.query(
    `INSERT INTO ${quoteIdentifier(schema)}.chain (chain_id, genesis_hash, header_rule, loose_parts, alone_parts, start_block)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      identity.chainId,
      toBytes(identity.genesisHash),
      identity.headerRule,
      [...(identity.loose ?? [])],
      [...(identity.alone ?? [])],
      identity.startBlock,
    ],
  )
}

/**
 * Blocks stored so far keep their verdict; the audit proves those it reads again. What blocks do
 * not prove is only added to, and nothing comes back that was dropped: the writer before may have
 * learned more than this one knows.
 */
async function recordRules(client: Queryable, schema: string, identity: ChainIdentity): Promise<void> {
  const { headerRule, loose = [], alone = [] } = identity
  const table = `${quoteIdentifier(schema)}.chain`
  await client.query(
    `UPDATE ${table} SET header_rule = $1, alone_parts = ARRAY(SELECT DISTINCT unnest(alone_parts || $2::text[]))
     WHERE header_rule <> $1 AND $1 <> 'unknown' AND NOT 'header' = ANY(dropped_parts)`,
    [headerRule, alone.filter((part) => part === 'header')],
  )
  const { rows } = await client.query<{ dropped_parts: readonly LoosePart[] }>(
    `SELECT dropped_parts FROM ${table}`,
  )
  const dropped = rows[0]?.dropped_parts ?? []
  await addLooseParts(
    client,
    schema,
    loose.filter((part) => !dropped.includes(part)),
  )
}

/** History begins earlier from now on; a writer that knows of a later start only changes nothing. */
const lowerStart = (client: Queryable, schema: string, { startBlock }: ChainIdentity) =>
  client.query(`UPDATE ${quoteIdentifier(schema)}.chain SET start_block = $1 WHERE start_block > $1`, [
    startBlock,
  ])

async function addLooseParts(client: Queryable, schema: string, loose: readonly LoosePart[]): Promise<void> {
  await client.query(
    `UPDATE ${quoteIdentifier(schema)}.chain SET loose_parts = ARRAY(SELECT DISTINCT unnest(loose_parts || $1::text[]))
     WHERE NOT loose_parts @> $1::text[]`,
    [loose],
  )
}

/** Keeps what was learned while the chain is written. @throws FencedOutError */
export async function keepLooseParts(
  postgres: Postgres,
  chainId: number,
  loose: readonly LoosePart[],
  fence: bigint,
): Promise<void> {
  const schema = schemaOf(chainId)
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await addLooseParts(client, schema, loose)
  })
}

/** Keeps what came of asking again for what one endpoint told alone. @throws FencedOutError */
export async function keepRules(
  postgres: Postgres,
  chainId: number,
  {
    headerRule,
    loose,
    alone,
    dropped,
  }: Required<Omit<ChainIdentity, 'chainId' | 'genesisHash' | 'startBlock'>>,
  fence: bigint,
): Promise<void> {
  const schema = schemaOf(chainId)
  await postgres.transaction(async (client) => {
    await assertFence(client, schema, fence)
    await client.query(
      `UPDATE ${quoteIdentifier(schema)}.chain SET header_rule = $1, loose_parts = $2, alone_parts = $3,
       dropped_parts = ARRAY(SELECT DISTINCT unnest(dropped_parts || $4::text[]))`,
      [headerRule, loose, alone, dropped],
    )
  })
}

/** The next heights of a chain that is held: of the head lane and of each open chunk. */
export async function nextHeights(
  postgres: Postgres,
  chainId: number,
  max: number,
): Promise<readonly number[]> {
  const schema = quoteIdentifier(schemaOf(chainId))
  const { rows } = await postgres.pool.query<{ height: number }>(
    `SELECT tip + 1 AS height FROM ${schema}.lanes
     UNION SELECT tip + 1 FROM ${schema}.chunks WHERE tip < to_block LIMIT $1`,
    [max],
  )
  return rows.map(({ height }) => height)
}

/**
 * @throws GenesisMismatchError when the node's genesis is not the one the data held here belongs to
 */
export function assertSameGenesis(node: ChainIdentity, held: ChainIdentity | null): void {
  if (held && held.genesisHash !== node.genesisHash) throw new GenesisMismatchError(node, held)
}

/** History still belongs below the head lane; empty when the lane began at the start block. */
export async function historyTarget(
  postgres: Postgres,
  chainId: number,
  startBlock: number,
): Promise<BlockRange> {
  const lane = await readLane(postgres.pool, schemaOf(chainId))
  return { from: startBlock, to: (lane?.fromBlock ?? startBlock) - 1 }
}

/** The leader: the Postgres database and a chain's history of commits in it. */
export interface LedgerIdentity {
  readonly storeUuid: string
  readonly ledgerId: string
}

export async function readLedgerIdentity({ pool }: Postgres, schema: string): Promise<LedgerIdentity> {
  const result = await pool.query<{ store_uuid: string; ledger_id: string }>(
    `SELECT store_uuid, coalesce(c.ledger_id, i.ledger_id) AS ledger_id
     FROM app.identity i LEFT JOIN ${quoteIdentifier(schema)}.chain c ON true`,
  )
  const row = result.rows[0]
  if (!row) throw new Error('app.identity has one row from its migration on')
  return { storeUuid: row.store_uuid, ledgerId: row.ledger_id }
}

/** This database, for ever. */
export async function readStoreUuid({ pool }: Postgres): Promise<string> {
  const result = await pool.query<{ store_uuid: string }>('SELECT store_uuid FROM app.identity')
  const row = result.rows[0]
  if (!row) throw new Error('app.identity has one row from its migration on')
  return row.store_uuid
}

/** Begins another history of commits of one chain: the one its ClickHouse followed is not ours. */
export async function renewLedger({ pool }: Postgres, schema: string): Promise<void> {
  await pool.query(`UPDATE ${quoteIdentifier(schema)}.chain SET ledger_id = gen_random_uuid()`)
}

/** The node serves another chain than the data directory holds. */
export class GenesisMismatchError extends failure('GenesisMismatchError', 'genesis_mismatch', 'stop') {
  constructor(node: ChainIdentity, ours: ChainIdentity) {
    super(
      `RPC_URL: the node's chain ${node.chainId} has genesis ${node.genesisHash}, but the data held here has ${ours.genesisHash}; use another DATA_DIR or DATABASE_URL for it`,
    )
  }
}
