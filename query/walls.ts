/**
 * Probes of the walls behind the gate, sent as the restricted reader at start: what must be refused
 * by the engine itself, and what must be served. A surprise means the reader is not the one it
 * should be, and its engine then serves nobody.
 */

import type { QueryRequest } from './result.ts'
import { UserQueryError } from './UserQueryError.ts'

export interface Probe {
  readonly name: string
  readonly sql: string
}

/**
 * Postgres refuses these to a role that owns nothing in a read-only transaction on the extended
 * protocol.
 */
export const postgresProbes = (chainId: number): readonly Probe[] => [
  { name: 'physical tables', sql: `SELECT 1 FROM chain_${chainId}.logs LIMIT 1` },
  { name: 'ledger', sql: 'SELECT 1 FROM app.ledger LIMIT 1' },
  { name: 'passwords', sql: 'SELECT 1 FROM pg_catalog.pg_authid LIMIT 1' },
  { name: 'files', sql: "SELECT pg_catalog.pg_read_file('/etc/hostname')" },
  { name: 'directories', sql: "SELECT pg_catalog.pg_ls_dir('/')" },
  { name: 'programs', sql: "COPY (SELECT 1) TO PROGRAM 'true'" },
  { name: 'writes', sql: `DELETE FROM chain_${chainId}_sql.logs` },
  { name: 'tables', sql: 'CREATE TABLE public.probe (x int)' },
  { name: 'temporary tables', sql: 'CREATE TEMP TABLE probe (x int)' },
  { name: 'roles', sql: 'CREATE ROLE probe' },
  { name: 'stacked statements', sql: 'SELECT 1; SELECT 2' },
]

/** ClickHouse refuses these to a user with SELECT on the views only. */
export const clickhouseProbes = (chainId: number): readonly Probe[] => [
  { name: 'physical tables', sql: `SELECT 1 FROM chain_${chainId}.logs LIMIT 1` },
  { name: 'tables by pattern', sql: `SELECT 1 FROM merge('chain_${chainId}', 'logs') LIMIT 1` },
  { name: 'users', sql: 'SELECT 1 FROM system.users LIMIT 1' },
  { name: 'files', sql: "SELECT 1 FROM file('*', 'LineAsString') LIMIT 1" },
  { name: 'network', sql: "SELECT 1 FROM url('http://127.0.0.1:1/', 'LineAsString') LIMIT 1" },
  { name: 'other servers', sql: "SELECT 1 FROM remote('127.0.0.1:1', system.one)" },
  { name: 'writes', sql: `INSERT INTO chain_${chainId}_sql.logs SELECT * FROM chain_${chainId}_sql.logs` },
  { name: 'tables', sql: 'CREATE TABLE default.probe ENGINE = Memory AS SELECT 1' },
  { name: 'stacked statements', sql: 'SELECT 1; SELECT 2' },
]

/**
 * Names of the probes that were let through, and `reading` when the views themselves are out of
 * reach.
 * @throws UserQueryError when the engine cannot be reached, which says nothing about its walls
 */
export async function findOpenWalls(
  probes: readonly Probe[],
  chainId: number,
  send: (sql: string, request: QueryRequest) => Promise<unknown>,
): Promise<readonly string[]> {
  const reading = `SELECT 1 FROM chain_${chainId}_sql.logs LIMIT 1`
  const open: string[] = []
  if (!(await isServed(reading, chainId, send))) open.push('reading')
  for (const { name, sql } of probes) if (await isServed(sql, chainId, send)) open.push(name)
  return open
}

/** A probe ends at once or is refused; this is far beyond both. */
const PROBE_TIMEOUT_MS = 5_000

async function isServed(
  sql: string,
  chainId: number,
  send: (sql: string, request: QueryRequest) => Promise<unknown>,
): Promise<boolean> {
  try {
    await send(sql, { chainId, sql, limit: 1, timeoutMs: PROBE_TIMEOUT_MS })
    return true
  } catch (error) {
    if (!(error instanceof UserQueryError) || error.status !== 422) throw error
    return false
  }
}

/** @throws UserQueryError `sql_unavailable` naming what is open */
export function assertNoneOpen(open: readonly string[]): void {
  if (open.length === 0) return
  throw new UserQueryError('sql_unavailable', `the restricted reader is not restricted: ${open.join(', ')}`)
}
